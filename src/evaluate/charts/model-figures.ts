import { axisFx, axisX, cell, dot, line, ruleX, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import type { HeadMemory, MemoryByCategory } from "../../predict/index.js";
import {
	axisBelow,
	type Figure,
	framed,
	gridAxisY,
	inRows,
	namesAtEnds,
	namesOfRows,
	type Panel,
	roomyDomain,
} from "./figure.js";
import { compactUpTo, counted, facts, groupBy, sentences } from "./numbers.js";
import { textWidth } from "./text.js";
import { type FigureSize, theme, widthOf } from "./theme.js";

/** The unit is days if left out. */
export type DecayMap = Pick<MemoryByCategory, "categories" | "heads"> &
	Partial<Pick<MemoryByCategory, "unit">>;

const rowHeight = 21;
const mostColumns = { wide: 18, half: 12, narrow: 6 };
const widestColumn = 60;
/** Height of the names of layers and heads. */
const namesHeight = 36;
const cellType = { size: theme.size.small };

/** The memory of each head, by the category of the last event. */
export function decayFigure(
	{ categories, heads, unit = "days" }: DecayMap,
	size: FigureSize = "wide",
): Figure {
	const memories = heads.flatMap(({ layer, head, halfLives }) =>
		halfLives.slice(0, categories.length).map((value, row) => ({ layer, head, row, value })),
	);
	const values = memories
		.map(({ value }) => value)
		.filter((value) => Number.isFinite(value) && value > 0);
	const [least, most] = [Math.min(...values), Math.max(...values)];
	const name = unit === "days" ? shortDuration : shortNumber;
	const title = "Memory of each head, by category";
	if (values.length === 0)
		return {
			title,
			description: "There are no heads, or no categories, whose memory could be drawn.",
			rows: [],
			notes: ["No half-lives to draw."],
		};
	/** 0 for the shortest memory, 1 for the longest, on a log scale. */
	const shadeOf = (value: number) =>
		!Number.isFinite(value) || most === least
			? 1
			: Math.log(value / least) / Math.log(most / least);
	const cells = memories.map(({ value, ...place }) => ({
		...place,
		shade: Number.isNaN(value) ? null : shadeOf(value),
		says: Number.isNaN(value) ? "" : name(value),
	}));
	const layers = [...groupBy(cells, ({ layer }) => layer).values()];
	const headsPerLayer = Math.max(...heads.map(({ head }) => head));
	const layersPerPanel = Math.max(1, Math.floor(mostColumns[size] / headsPerLayer));
	const [shortest, longest] = extremeHeads(heads);
	const range = least === most ? `all ${name(least)}` : `from ${name(least)} to ${name(most)}`;
	const extremes = `By the median over categories, layer ${shortest.layer} head ${shortest.head} forgets soonest (${name(shortest.halfLife)}), layer ${longest.layer} head ${longest.head} latest (${name(longest.halfLife)}).`;
	return {
		title,
		subtitle: `half-life of what a head holds, ${unit === "days" ? "in time" : "in events"}, ${range}; darker is shorter, on a log scale`,
		description: sentences(
			`Half-lives of ${counted(heads.length, "head")} for ${counted(categories.length, "category", "categories")}, ${range}.`,
			heads.length > 1 && extremes,
		),
		width: widthOf(size),
		rows: inRows(layers, layersPerPanel).map((shown) => [heatPanel(categories, shown.flat())]),
		notes: [
			unit === "days"
				? "h hours · d days · w weeks · mo months · y years · ∞ never forgets."
				: "In events: so many events later, half is left. ∞ never forgets.",
		],
	};
}

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

interface Cell {
	readonly layer: number;
	readonly head: number;
	readonly row: number;
	readonly shade: number | null;
	readonly says: string;
}

/** A column per head, in groups by layer; a row per category. */
function heatPanel(categories: readonly (string | null)[], cells: readonly Cell[]): Panel {
	const [first, last] = [cells[0].layer, cells.at(-1)!.layer];
	const columns = (last - first + 1) * Math.max(...cells.map(({ head }) => head));
	const rows = categories.map((name, y) => ({ name: name ?? "no category", y }));
	const position = { fx: "layer", x: "head", y: "row" } as const;
	const heading = { label: null, tickSize: 0, anchor: "top" } as const;
	return {
		title: first === last ? `Layer ${first}` : `Layers ${first} to ${last}`,
		plot: (width) => {
			const names = namesOfRows(rows, Math.max(120, width * 0.25));
			const left = names.width + 10;
			const column = Math.min(widestColumn, (width - left) / columns);
			return {
				...framed(categories.length * rowHeight, [
					namesHeight,
					width - left - column * columns,
					0,
					left,
				]),
				x: { padding: 0 },
				fx: { padding: 0.02 },
				y: { domain: rows.map(({ y }) => y), padding: 0, axis: null },
				color: { type: "linear", domain: [0, 1], scheme: theme.sequential },
				marks: [
					cell(cells, { ...position, fill: "shade", inset: 0.5 }),
					text(
						cells.filter(({ says }) => textWidth(says, cellType) <= column - 2),
						{
							...position,
							text: "says",
							fontSize: cellType.size,
							// The colours of cells are the same on a dark page, and so are those of their texts.
							fill: ({ shade }) => ((shade ?? 1) < 0.5 ? "white" : "black"),
						},
					),
					axisX({
						...heading,
						color: theme.quiet,
						tickPadding: 4,
						tickFormat: (head: number) => (column >= 44 ? `head ${head}` : `${head}`),
					}),
					axisFx({
						...heading,
						tickFormat: (layer: number) => (column >= 20 ? `layer ${layer}` : `${layer}`),
						fontWeight: "bold",
						tickPadding: 20,
					}),
					names.mark,
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

/** A line of a run's log: a step, with its loss by term, or a validation, with `valid`. */
export interface LearningEvent {
	readonly step: number;
	readonly [field: string]: unknown;
}

interface Loss {
	readonly step: number;
	readonly loss: number;
}

/** Fields of a log line that are not terms of its loss. */
const others = new Set(["step", "epoch", "gradientNorm", "learningRate", "tokensPerSecond"]);
const meanings: Readonly<Record<string, string>> = {
	next: "next event, given its time",
	horizon: "an event further ahead, given its time",
};
const mostPoints = 240;

/** Training and validation loss over a run. */
export function learningCurveFigure(events: readonly LearningEvent[]): Figure {
	const terms = termsOf(events);
	const best = bestEpoch(terms);
	const steps = events.reduce((most, { step }) => Math.max(most, step), 0);
	const epochs = Math.max(0, ...terms.flatMap(({ valid }) => valid.map(({ epoch }) => epoch)));
	const length = `${counted(steps, "step")}, ${counted(epochs, "epoch")} validated`;
	const losses = terms.flatMap(({ name, valid }) => {
		const loss = valid.find(({ epoch }) => epoch === best)?.loss;
		return loss === undefined ? [] : [`${name} ${loss.toFixed(3)} nats`];
	});
	const bestText = best === undefined ? undefined : `${best}: ${losses.join(", ")}`;
	return {
		title: "Learning curves",
		subtitle: facts(length, bestText && `best epoch ${bestText}`),
		description: sentences(
			`Losses of training and validation over ${length}.`,
			bestText ? `The best epoch by validation is ${bestText}.` : "Nothing has been validated yet.",
		),
		rows: terms.length > 0 ? [terms.map((term) => termPanel(term, best, steps))] : [],
		notes: [
			terms.length > 0
				? "Line: training, a running mean. Points: validation after each epoch; dashed: the best. Loss in nats: mean −log p."
				: "The log holds no step yet.",
		],
	};
}

const isLoss = (value: unknown): value is number =>
	typeof value === "number" && Number.isFinite(value);

/** The losses by term: of the steps, smoothed, and of each validated epoch. */
function termsOf(events: readonly LearningEvent[]) {
	const steps = events.filter(({ valid }) => valid === undefined);
	const validations = events.flatMap(({ step, epoch, valid }) =>
		typeof valid === "object" && valid !== null
			? [{ step, epoch, losses: valid as Readonly<Record<string, unknown>> }]
			: [],
	);
	const names = new Set([
		...validations.flatMap(({ losses }) =>
			Object.keys(losses).filter((name) => isLoss(losses[name])),
		),
		...steps.flatMap((event) =>
			Object.keys(event).filter((name) => !others.has(name) && typeof event[name] === "number"),
		),
	]);
	return [...names].map((name) => ({
		name,
		train: smoothed(
			steps.flatMap(({ step, [name]: loss }) => (isLoss(loss) ? [{ step, loss }] : [])),
		),
		valid: validations.flatMap(({ step, epoch, losses: { [name]: loss } }, index) =>
			isLoss(loss) ? [{ step, loss, epoch: typeof epoch === "number" ? epoch : index + 1 }] : [],
		),
	}));
}

type Term = ReturnType<typeof termsOf>[number];

/** Moving averages over about a fiftieth of the steps to each side, at no more points than are visible. */
function smoothed(losses: readonly Loss[]): Loss[] {
	const half = Math.floor(losses.length / 50);
	const sums = [0];
	for (const { loss } of losses) sums.push(sums.at(-1)! + loss);
	const every = Math.max(1, (losses.length - 1) / (mostPoints - 1));
	return Array.from({ length: Math.min(losses.length, mostPoints) }, (_, point) => {
		const index = Math.round(point * every);
		const [from, to] = [Math.max(0, index - half), Math.min(losses.length, index + half + 1)];
		return { step: losses[index].step, loss: (sums[to] - sums[from]) / (to - from) };
	});
}

/** The epoch with the lowest sum over terms; the first in a tie. */
function bestEpoch(terms: readonly Term[]): number | undefined {
	const sums = new Map<number, number>();
	for (const { valid } of terms)
		for (const { epoch, loss } of valid) sums.set(epoch, (sums.get(epoch) ?? 0) + loss);
	return [...sums].toSorted(([, a], [, b]) => a - b)[0]?.[0];
}

function termPanel({ name, train, valid }: Term, best: number | undefined, steps: number): Panel {
	const bests = valid.filter(({ epoch }) => epoch === best);
	// The loss of the first steps is far above all others.
	const settled = train.filter(
		({ step }, index) => step > steps / 20 || index === train.length - 1,
	);
	const ends = [
		{ value: train.at(-1)?.loss, words: "training", fill: theme.quiet },
		{ value: valid.at(-1)?.loss, words: "validation", fill: theme.quiet },
	].flatMap(({ value, ...end }) => (value === undefined ? [] : [{ ...end, value }]));
	const domain = roomyDomain(
		[...settled, ...valid].map(({ loss }) => loss),
		0.08,
	);
	const mostTicks = (width: number) => Math.max(1, Math.min(5, steps, Math.floor(width / 90)));
	const position = { x: "step", y: "loss" } as const;
	return {
		title: name,
		subtitle: meanings[name] ?? "loss in nats",
		plot: (width) => ({
			...framed(240, [6, textWidth("validation") + 14, 38, 46]),
			x: { domain: [0, Math.max(1, steps)] },
			y: { domain },
			marks: [
				gridAxisY(5),
				axisBelow(mostTicks(width), "steps", compactUpTo(steps)),
				line(train, { ...position, stroke: theme.neutral, strokeWidth: 1.6, clip: true }),
				dot(train.length === 1 ? train : [], { ...position, r: 3, fill: theme.neutral }),
				line(valid, { ...position, stroke: theme.accent, strokeWidth: 1.6 }),
				dot(valid, { ...position, r: 3, fill: theme.accent, stroke: theme.background }),
				ruleX(bests, { x: "step", stroke: theme.ink, strokeDasharray: "3,3" }),
				dot(bests, { ...position, r: 6, stroke: theme.ink, strokeWidth: 1.8 }),
				namesAtEnds(ends),
			],
		}),
	};
}
