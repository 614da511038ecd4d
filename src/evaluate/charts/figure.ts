import {
	type AxisXOptions,
	axisX,
	axisY,
	type DotOptions,
	dot,
	gridX,
	gridY,
	initializer,
	type Markish,
	type PlotOptions,
	type TextOptions,
	text,
} from "@observablehq/plot";
import { avoidOverlap } from "./placement.js";
import { fitted, textWidth, widest } from "./text.js";
import { theme } from "./theme.js";

/** One plot of a figure: its titles, and its marks and scales for a given width. */
export interface Panel {
	readonly title: string;
	/** What is counted, and in which unit. */
	readonly subtitle?: string | undefined;
	/** Its share of the row's width, relative to panels of share 1. */
	readonly share?: number;
	/** Size, font and colour of text come from the theme. */
	readonly plot: (width: number) => PlotOptions & { readonly height: number };
}

/** A figure as a specification: panels that are not laid out yet. */
export interface Figure {
	readonly title: string;
	readonly subtitle?: string;
	/** Alternative text: one or two sentences with the main numbers. */
	readonly description: string;
	readonly width?: number;
	readonly rows: readonly (readonly Panel[])[];
	readonly notes?: readonly string[];
	/** Whether it shows a simulated population: the drawing and its alternative text then say so. */
	readonly simulated?: boolean;
}

export const inRows = <Item>(items: readonly Item[], across: number): Item[][] =>
	Array.from({ length: Math.ceil(items.length / across) }, (_, row) =>
		items.slice(row * across, (row + 1) * across),
	);

/** The size of a plot: the height of its frame, and its margins clockwise from the top. */
export const framed = (
	frameHeight: number,
	[marginTop, marginRight, marginBottom, marginLeft]: readonly [number, number, number, number],
) => ({
	height: marginTop + frameHeight + marginBottom,
	marginTop,
	marginRight,
	marginBottom,
	marginLeft,
});

/** A domain a little larger than its values; one value is in its middle. */
export function roomyDomain(values: readonly number[], share: number): [number, number] {
	const [low, high] = [Math.min(...values), Math.max(...values)];
	const room = (high - low || Math.abs(high) || 1) * share;
	return [low - room, high + room];
}

/** A number of ticks, or their places. */
type Ticks = number | readonly number[];
type TickFormat = (value: number) => string;

const quietAxis = {
	tickSize: 0,
	color: theme.quiet,
	labelArrow: "none",
	labelAnchor: "center",
} as const;
const gridStyle = { stroke: theme.grid, strokeOpacity: 1 } as const;

export const axisBelow = (
	ticks: Ticks,
	label: string | null,
	tickFormat?: TickFormat,
	more: AxisXOptions = {},
) => axisX({ ...quietAxis, ticks, label, ...(tickFormat && { tickFormat }), ...more });

export const gridAxisX = (...[ticks, ...axis]: Parameters<typeof axisBelow>): Markish[] => [
	gridX({ ticks, ...gridStyle }),
	axisBelow(ticks, ...axis),
];

/** An axis of amounts on the left, with grid lines. */
export const gridAxisY = (ticks: Ticks, tickFormat?: TickFormat): Markish[] => [
	gridY({ ticks, ...gridStyle }),
	axisY({ ...quietAxis, label: null, ticks, ...(tickFormat && { tickFormat }) }),
];

/** One text at a place of the plot. */
export const label = (words: string, x: number, y: number, options: TextOptions = {}): Markish =>
	text([words], { x: [x], y: [y], ...options });

interface EndName {
	readonly value: number;
	readonly words: string;
	readonly fill: string;
}

/** Names at the right ends of lines, as near to their values as they can be without touching each other. */
export const namesAtEnds = (
	ends: readonly EndName[],
	{ apart = 2, beyond = 0, dx = 7 }: { apart?: number; beyond?: number; dx?: number } = {},
): Markish =>
	text(
		ends,
		initializer(
			{
				y: "value",
				text: "words",
				fill: "fill",
				frameAnchor: "right",
				textAnchor: "start",
				dx,
			},
			(data, facets, _, scales, { height, marginTop = 0, marginBottom = 0 }) => {
				const heights = avoidOverlap(
					ends.map(({ value }) => scales.y!(value)),
					ends.map(() => theme.size.tick + apart),
					[marginTop - beyond, height - marginBottom + beyond],
				);
				return { data, facets, channels: { y: { value: heights } } };
			},
		),
	);

const type = { size: theme.size.tick };

/** Names left of the frame, one per row, and the width that they need. */
export function namesOfRows(
	rows: readonly { readonly name: string; readonly y: number }[],
	mostWidth: number,
	{ bold = false, dx = -8 } = {},
) {
	const names = rows.map(({ name }) => fitted(name, mostWidth, { ...type, bold }));
	return {
		width: widest(names, { ...type, bold }),
		mark: text(rows, {
			y: "y",
			text: (_, index) => names[index],
			frameAnchor: "left",
			facetAnchor: "left",
			textAnchor: "end",
			dx,
			...(bold && { fontWeight: "bold" }),
		}),
	};
}

/** Values right of the frame, one per row. */
export const valuesOfRows = (
	rows: readonly { readonly says: string; readonly y: number }[],
): Markish =>
	text(rows, {
		y: "y",
		text: "says",
		frameAnchor: "right",
		textAnchor: "start",
		dx: 14,
		fill: theme.quiet,
	});

interface LegendItem {
	readonly name: string;
	/** Grey text after the name. */
	readonly says?: string;
	/** Several styles are drawn on top of each other. */
	readonly style: DotOptions | readonly DotOptions[];
}

const rowHeight = 19;
const nameAt = 16;
const apart = 8;

/** Marks with their names, column by column. */
export function legendPanel(
	items: readonly LegendItem[],
	{ columns = 1, ...titles }: Omit<Panel, "plot"> & { readonly columns?: number },
): Panel {
	const down = Math.ceil(items.length / columns);
	return {
		...titles,
		plot: (width) => {
			const columnWidth = width / columns;
			const rows = items.map(({ name, says = "", style }, index) => {
				const room = columnWidth - 2 * nameAt - (says === "" ? 0 : textWidth(says, type) + apart);
				return {
					x: Math.floor(index / down) * columnWidth,
					y: (index % down) + 0.5,
					name: fitted(name, room, type),
					says,
					styles: [style].flat(),
				};
			});
			const position = { y: "y", textAnchor: "start" } as const;
			return {
				height: down * rowHeight + 2,
				margin: 0,
				x: { domain: [0, width], axis: null },
				y: { domain: [Math.max(1, down), 0], axis: null },
				marks: [
					rows.flatMap(({ x, y, styles }) =>
						styles.map((style) => dot([0], { x: [x + 8], y: [y], r: 4.5, ...style })),
					),
					text(rows, { ...position, x: ({ x }) => x + nameAt + 3, text: "name" }),
					text(rows, {
						...position,
						x: ({ x, name }) => x + nameAt + 3 + textWidth(name, type) + apart,
						text: "says",
						fill: theme.quiet,
					}),
				],
			};
		},
	};
}
