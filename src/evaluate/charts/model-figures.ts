import { dot, line, rect, ruleX, text } from "@observablehq/plot";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import type { HeadMemory, MemoryByCategory } from "../../predict/index.js";
import { axisBelow, type Figure, gridAxisY, namesAtEnds, type Panel } from "./figure.js";
import { compactUpTo, counted, groupBy } from "./numbers.js";
import { fitted, textWidth, widest } from "./text.js";
import { theme } from "./theme.js";

/** The unit is days if left out. */
type DecayMap = Pick<MemoryByCategory, "categories" | "heads"> &
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

/** A line of a run's log: a step, with its loss by term, or a validation, with `valid`. */
interface LearningEvent {
	readonly step: number;
	readonly [field: string]: unknown;
}

interface Loss {
	readonly step: number;
	readonly loss: number;
}

type Term = ReturnType<typeof termsOf>[number];

/** Fields of a log line that are not terms of its loss. */
const others = new Set(["step", "epoch", "gradientNorm", "learningRate", "tokensPerSecond"]);
const meanings: Readonly<Record<string, string>> = {
	next: "next event, given its time",
	horizon: "an event further ahead, given its time",
};
const mostPoints = 240;
const [marginTop, plotHeight, marginBottom] = [22, 240, 38];

/** Training and validation loss over a run. */
export function learningCurveFigure(events: readonly LearningEvent[]): Figure {
	const terms = termsOf(events);
	const best = bestEpoch(terms);
	const steps = events.reduce((most, { step }) => Math.max(most, step), 0);
	const epochs = Math.max(0, ...terms.flatMap(({ valid }) => valid.map(({ epoch }) => epoch)));
	const length = `${counted(steps, "step")}, ${counted(epochs, "epoch")} validated`;
	const losses = terms.flatMap(({ name, valid }) => {
		const validation = valid.find(({ epoch }) => epoch === best);
		return validation ? [`${name} ${validation.loss.toFixed(3)} nats`] : [];
	});
	return {
		title: "Learning curves",
		subtitle: `${length}${best === undefined ? "" : ` · best epoch ${best}: ${losses.join(", ")}`}`,
		description: `Losses of training and validation over ${length}. ${
			best === undefined
				? "Nothing has been validated yet."
				: `The best epoch by validation is ${best}: ${losses.join(", ")}.`
		}`,
		rows: terms.length > 0 ? [terms.map((term) => termPanel(term, best, steps))] : [],
		notes: [
			terms.length > 0
				? "Line: training, a running mean. Points: validation after each epoch. Loss in nats: mean −log p."
				: "The log holds no step yet.",
		],
	};
}

function termsOf(events: readonly LearningEvent[]) {
	const names = new Set<string>();
	const validations = events.flatMap((event) => {
		const { valid } = event;
		if (typeof valid !== "object" || valid === null) return [];
		const losses = Object.entries(valid).filter(hasNumber);
		for (const [name] of losses) names.add(name);
		return [{ step: event.step, epoch: event.epoch, losses: new Map(losses) }];
	});
	const steps = events.filter(({ valid }) => valid === undefined);
	for (const event of steps)
		for (const [name, value] of Object.entries(event))
			if (!others.has(name) && typeof value === "number") names.add(name);
	return [...names].map((name) => ({
		name,
		train: smoothed(
			steps.flatMap(({ step, [name]: loss }) =>
				typeof loss === "number" && Number.isFinite(loss) ? [{ step, loss }] : [],
			),
		),
		valid: validations.flatMap(({ step, epoch, losses }, index) => {
			const loss = losses.get(name);
			return loss === undefined
				? []
				: [{ step, loss, epoch: typeof epoch === "number" ? epoch : index + 1 }];
		}),
	}));
}

const hasNumber = (entry: [string, unknown]): entry is [string, number] =>
	typeof entry[1] === "number" && Number.isFinite(entry[1]);

/** Moving averages over about a fiftieth of the steps to each side, at no more points than are visible. */
function smoothed(losses: readonly Loss[]): Loss[] {
	const half = Math.floor(losses.length / 50);
	const sums = [0];
	for (const { loss } of losses) sums.push((sums.at(-1) as number) + loss);
	const mean = (index: number) => {
		const [from, to] = [Math.max(0, index - half), Math.min(losses.length, index + half + 1)];
		return (sums[to] - sums[from]) / (to - from);
	};
	const every = Math.max(1, (losses.length - 1) / (mostPoints - 1));
	const points = Math.min(losses.length, mostPoints);
	return Array.from({ length: points }, (_, point) => {
		const index = Math.round(point * every);
		return { step: losses[index].step, loss: mean(index) };
	});
}

/** The epoch with the lowest sum over terms; the first in a tie. */
function bestEpoch(terms: readonly Term[]): number | undefined {
	const sums = new Map<number, number>();
	for (const { valid } of terms)
		for (const { epoch, loss } of valid) sums.set(epoch, (sums.get(epoch) ?? 0) + loss);
	return [...sums].reduce<readonly [number, number] | undefined>(
		(best, entry) => (best === undefined || entry[1] < best[1] ? entry : best),
		undefined,
	)?.[0];
}

function termPanel({ name, train, valid }: Term, best: number | undefined, steps: number): Panel {
	const bestValidation = valid.find(({ epoch }) => epoch === best);
	// The loss of the first steps is far above all others.
	const settled = train.filter(
		({ step }, index) => step > steps / 20 || index === train.length - 1,
	);
	const drawn = [...settled, ...valid].map(({ loss }) => loss);
	const [low, high] = [Math.min(...drawn), Math.max(...drawn)];
	const room = (high - low || Math.abs(high) || 1) * 0.08;
	const label = bestValidation
		? `epoch ${bestValidation.epoch}: ${bestValidation.loss.toFixed(3)}`
		: "";
	const late = bestValidation !== undefined && bestValidation.step > steps * 0.6;
	return {
		title: name,
		subtitle: meanings[name] ?? "loss in nats",
		height: marginTop + plotHeight + marginBottom,
		plot: (width) => {
			const domain: [number, number] = [low - room, high + room];
			const ends = [
				{ loss: train.at(-1)?.loss, words: "training" },
				{ loss: valid.at(-1)?.loss, words: "validation" },
			].flatMap(({ loss, words }) =>
				loss === undefined ? [] : [{ value: loss, words, fill: theme.quiet }],
			);
			const marginRight = textWidth("validation", { size: theme.size.tick }) + 14;
			return {
				marginLeft: 46,
				marginRight,
				marginTop,
				marginBottom,
				x: { domain: [0, Math.max(1, steps)] },
				y: { domain },
				marks: [
					...gridAxisY(5),
					axisBelow(
						Math.max(1, Math.min(5, steps, Math.floor(width / 90))),
						"steps",
						compactUpTo(steps),
					),
					line(train, {
						x: "step",
						y: "loss",
						stroke: theme.neutral,
						strokeWidth: 1.6,
						clip: true,
					}),
					...(train.length === 1
						? [dot(train, { x: "step", y: "loss", r: 3, fill: theme.neutral })]
						: []),
					line(valid, { x: "step", y: "loss", stroke: theme.accent, strokeWidth: 1.6 }),
					dot(valid, { x: "step", y: "loss", r: 3, fill: theme.accent, stroke: theme.background }),
					...(bestValidation
						? [
								ruleX([bestValidation.step], { stroke: theme.ink, strokeDasharray: "3,3" }),
								dot([bestValidation], {
									x: "step",
									y: "loss",
									r: 6,
									stroke: theme.ink,
									strokeWidth: 1.8,
								}),
								text([`best, ${label}`], {
									x: [bestValidation.step],
									frameAnchor: "top",
									dy: -17,
									dx: late ? 3 : -3,
									textAnchor: late ? "end" : "start",
								}),
							]
						: []),
					...namesAtEnds(ends, Math.max(1, steps), domain, { plotHeight }),
				],
			};
		},
	};
}
