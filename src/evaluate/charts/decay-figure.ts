import { rect, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import type { HeadMemory, MemoryByCategory } from "../../predict/index.js";
import type { Figure, Panel } from "./figure.js";
import { counted, groupBy } from "./numbers.js";
import { fitted, textWidth, widest } from "./text.js";
import { theme } from "./theme.js";

/** The unit is days if left out. */
export type DecayMap = Pick<MemoryByCategory, "categories" | "heads"> &
	Partial<Pick<MemoryByCategory, "unit">>;

const rowHeight = 21;
const mostColumns = 18;
/** Height of the names of layers and heads. */
const top = 36;
/** Gap between layers, in columns. */
const layerGap = 0.2;
const type = { size: theme.size.tick };
const cellType = { size: theme.size.small };

/** The memory of each head, by the category of the last event. */
export function decayFigure({ categories, heads: allHeads, unit = "days" }: DecayMap): Figure {
	const heads = allHeads.map((head) => ({
		...head,
		halfLives: head.halfLives.slice(0, categories.length),
	}));
	const values = heads.flatMap(({ halfLives }) => halfLives).filter(isDrawn);
	const [least, most] = [Math.min(...values), Math.max(...values)];
	const name = unit === "days" ? shortDuration : shortNumber;
	const title = "Memory of each head, by category";
	if (values.length === 0 || categories.length === 0)
		return {
			title,
			description: "There are no heads, or no categories, whose memory could be drawn.",
			rows: [],
			notes: ["No half-lives to draw."],
		};
	/** 0 for the shortest memory, 1 for the longest, on a log scale. */
	const shade = (value: number) =>
		!Number.isFinite(value) || most === least
			? 1
			: Math.log(value / least) / Math.log(most / least);
	const groups = grouped(heads);
	const [shortest, longest] = extremeHeads(heads);
	const range = least === most ? `all ${name(least)}` : `from ${name(least)} to ${name(most)}`;
	return {
		title,
		subtitle: `half-life of what a head holds, ${unit === "days" ? "in time" : "in events"}, ${range}; darker is shorter, on a log scale`,
		description:
			`Half-lives of ${counted(heads.length, "head")} for ${counted(categories.length, "category", "categories")}, ${range}. ${
				heads.length > 1
					? `By the median over categories, layer ${shortest.layer} head ${shortest.head} forgets soonest (${name(shortest.halfLife)}), layer ${longest.layer} head ${longest.head} latest (${name(longest.halfLife)}).`
					: ""
			}`.trim(),
		rows: groups.map((group) => [heatPanel(categories, group, shade, name)]),
		notes:
			unit === "days"
				? ["h hours · d days · w weeks · mo months · y years · ∞ never forgets."]
				: ["In events: so many events later, half is left. ∞ never forgets."],
	};
}

const isDrawn = (value: number) => Number.isFinite(value) && value > 0;

/** The heads with the shortest and the longest memory, by the median over categories. */
export function extremeHeads(heads: readonly HeadMemory[]) {
	const middle = heads
		.map(({ layer, head, halfLives }) => {
			const sorted = halfLives.toSorted((a, b) => a - b);
			return { layer, head, halfLife: sorted[Math.floor((sorted.length - 1) / 2)] };
		})
		.sort((a, b) => a.halfLife - b.halfLife);
	return [middle[0], middle.at(-1)!] as const;
}

/** Groups of whole layers, as many as fit in a panel. */
function grouped(heads: readonly HeadMemory[]): HeadMemory[][] {
	const layers = groupBy(heads, ({ layer }) => layer);
	const groups: HeadMemory[][] = [];
	for (const layer of layers.values()) {
		const last = groups.at(-1);
		if (last && last.length + layer.length <= mostColumns) last.push(...layer);
		else groups.push([...layer]);
	}
	return groups;
}

function heatPanel(
	categories: readonly (string | null)[],
	heads: readonly HeadMemory[],
	shade: (value: number) => number,
	nameOf: (value: number) => string,
): Panel {
	const layers = [...groupBy(heads, ({ layer }) => layer)];
	const column = new Map(
		layers.flatMap(([, of], layer) =>
			of.map((head) => [head, heads.indexOf(head) + layer * layerGap] as const),
		),
	);
	const columnOf = (head: HeadMemory) => column.get(head) as number;
	const cells = heads.flatMap((head) =>
		head.halfLives.map((value, row) => ({
			column: columnOf(head),
			row,
			shade: Number.isNaN(value) ? null : shade(value),
			says: Number.isNaN(value) ? "" : nameOf(value),
		})),
	);
	const first = layers[0]?.[0];
	const last = layers.at(-1)?.[0];
	return {
		title: first === last ? `Layer ${first}` : `Layers ${first} to ${last}`,
		height: categories.length * rowHeight + top,
		plot: (width) => {
			const names = categories.map((name) => fitted(name ?? "no category", width * 0.25, type));
			const marginLeft = widest(names, type) + 10;
			const across = heads.length + layerGap * (layers.length - 1);
			const columnWidth = Math.min(60, (width - marginLeft) / across);
			const marginRight = width - marginLeft - columnWidth * across;
			const fits = cells.filter(({ says }) => textWidth(says, cellType) <= columnWidth - 2);
			return {
				marginLeft,
				marginRight,
				marginTop: top,
				marginBottom: 0,
				x: { domain: [0, across], axis: null },
				y: { domain: [categories.length, 0], axis: null },
				color: { type: "linear", domain: [0, 1], scheme: theme.sequential },
				marks: [
					rect(cells, {
						x1: "column",
						x2: ({ column }) => column + 1,
						y1: "row",
						y2: ({ row }) => row + 1,
						fill: "shade",
						inset: 0.5,
					}),
					text(fits, {
						x: ({ column }) => column + 0.5,
						y: ({ row }) => row + 0.5,
						text: "says",
						fontSize: cellType.size,
						fill: ({ shade }) => ((shade ?? 1) < 0.5 ? theme.background : theme.ink),
					}),
					text(heads, {
						x: (head) => columnOf(head) + 0.5,
						frameAnchor: "top",
						dy: -13,
						text: ({ head }) => (columnWidth >= 44 ? `head ${head}` : `${head}`),
						fill: theme.quiet,
					}),
					text(layers, {
						x: ([, of]) => columnOf(of[0] as HeadMemory),
						frameAnchor: "top",
						textAnchor: "start",
						dx: 1,
						dy: -30,
						text: ([layer]) => (columnWidth >= 20 ? `layer ${layer}` : `${layer}`),
						fontWeight: "bold",
					}),
					text(names, {
						y: (_, index) => index + 0.5,
						frameAnchor: "left",
						textAnchor: "end",
						dx: -7,
						text: (name: string) => name,
					}),
				],
			};
		},
	};
}

const durations = [
	[yearDays, "y", 2],
	[30.4375, "mo", 2],
	[7, "w", 2],
	[1, "d", 0.95],
	[1 / 24, "h", 0],
] as const; // days, letter, how many of it there must be

/** A duration that fits in a cell: 3 d, 2.5 w, 8 mo, 12 y. */
function shortDuration(days: number): string {
	if (days === Number.POSITIVE_INFINITY) return "∞";
	const [size, letter] =
		durations.find(([size, , from]) => days >= from * size) ?? durations.at(-1)!;
	return `${shortNumber(days / size)} ${letter}`;
}

function shortNumber(value: number): string {
	if (value === Number.POSITIVE_INFINITY) return "∞";
	if (value >= 10_000) return value.toExponential(0).replace("+", "");
	return thousands(Number(value.toFixed(value < 9.95 ? 1 : 0)));
}
