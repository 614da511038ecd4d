import {
	type AxisXOptions,
	axisX,
	axisY,
	type DotOptions,
	dot,
	gridX,
	gridY,
	type Markish,
	type PlotOptions,
	type TextOptions,
	text,
} from "@observablehq/plot";
import { avoidOverlap } from "./placement.js";
import { fitted, textWidth } from "./text.js";
import { theme } from "./theme.js";

/** One plot of a figure. */
export interface Panel {
	readonly title: string;
	/** What is counted, and in which unit. */
	readonly subtitle?: string;
	/** Height of the plot, without titles. */
	readonly height: number;
	/** Its share of the row's width, relative to panels of share 1. */
	readonly share?: number;
	/** The plot for a given width. Size, font and colour of text come from the theme. */
	readonly plot: (width: number) => PlotOptions;
}

/** A figure as a specification: panels that are not laid out yet. */
export interface Figure {
	readonly title: string;
	readonly subtitle?: string;
	/** Alternative text: one or two sentences with the main numbers. */
	readonly description: string;
	readonly width?: number;
	readonly rows: readonly (readonly Panel[])[];
	/** Notes below the panels. */
	readonly notes?: readonly string[];
	/** Whether it shows a simulated population: the drawing and its alternative text then say so. */
	readonly simulated?: boolean;
}

/** Items in rows of so many. */
export const inRows = <Item>(items: readonly Item[], across: number): Item[][] =>
	Array.from({ length: Math.ceil(items.length / across) }, (_, row) =>
		items.slice(row * across, (row + 1) * across),
	);

/** A number of ticks, or their places. */
type Ticks = number | readonly number[];
type TickFormat = (value: number) => string;

/** An unobtrusive axis. */
const quietAxis = {
	tickSize: 0,
	color: theme.quiet,
	labelArrow: "none",
	labelAnchor: "center",
} as const;
const gridStyle = { stroke: theme.grid, strokeOpacity: 1 } as const;

/** An axis below the plot. */
export const axisBelow = (
	ticks: Ticks,
	label: string | null,
	tickFormat?: TickFormat,
	more: AxisXOptions = {},
) => axisX({ ...quietAxis, ticks, label, ...(tickFormat && { tickFormat }), ...more });

/** An axis below the plot, with grid lines. */
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

/** Names at the right ends of lines, as near to their values as they can be without touching each other. */
export function namesAtEnds(
	ends: readonly {
		readonly value: number;
		readonly words: string;
		readonly fill: string;
		readonly bold?: boolean;
	}[],
	x: number,
	[bottom, top]: readonly [bottom: number, top: number],
	{ plotHeight, apart = 2, beyond = 0, dx = 7 }: NamesOptions,
): Markish[] {
	const heights = avoidOverlap(
		ends.map(({ value }) => ((top - value) / (top - bottom)) * plotHeight),
		ends.map(() => theme.size.tick + apart),
		[-beyond, plotHeight + beyond],
	);
	return ends.map(({ words, fill, bold }, index) =>
		label(words, x, top - (heights[index] / plotHeight) * (top - bottom), {
			textAnchor: "start",
			dx,
			fill,
			...(bold && { fontWeight: "bold" }),
		}),
	);
}

interface NamesOptions {
	readonly plotHeight: number;
	/** Pixels between two names, and beyond the plot where names may be. */
	readonly apart?: number;
	readonly beyond?: number;
	/** Pixels from the line to its name. */
	readonly dx?: number;
}

interface LegendEntry {
	readonly name: string;
	/** Grey text after the name. */
	readonly says?: string;
	/** Several styles are drawn on top of each other. */
	readonly style: DotOptions | readonly DotOptions[];
}

interface LegendOptions {
	readonly title: string;
	readonly subtitle?: string;
	readonly share?: number;
	/** Number of columns. Default: 1. */
	readonly columns?: number;
}

const type = { size: theme.size.tick };
const rowHeight = 19;
const nameAt = 16;
const apart = 8;

/** Marks with their names, column by column. */
export function legendPanel(
	entries: readonly LegendEntry[],
	{ columns = 1, ...options }: LegendOptions,
): Panel {
	const down = Math.ceil(entries.length / columns);
	return {
		...options,
		height: down * rowHeight + 2,
		plot: (width) => {
			const columnWidth = width / columns;
			const rows = entries.map(({ name, says = "", style }, index) => {
				const room = columnWidth - 2 * nameAt - (says === "" ? 0 : textWidth(says, type) + apart);
				return {
					x: Math.floor(index / down) * columnWidth,
					y: (index % down) + 0.5,
					name: fitted(name, room, type),
					says,
					styles: [style].flat(),
				};
			});
			return {
				margin: 0,
				x: { domain: [0, width], axis: null },
				y: { domain: [Math.max(1, down), 0], axis: null },
				marks: [
					...rows.flatMap(({ x, y, styles }) =>
						styles.map((style) => dot([0], { x: [x + 8], y: [y], r: 4.5, ...style })),
					),
					text(rows, { x: ({ x }) => x + nameAt + 3, y: "y", text: "name", textAnchor: "start" }),
					text(rows, {
						x: ({ x, name }) => x + nameAt + 3 + textWidth(name, type) + apart,
						y: "y",
						text: "says",
						textAnchor: "start",
						fill: theme.quiet,
					}),
				],
			};
		},
	};
}
