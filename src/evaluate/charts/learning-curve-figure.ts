import { axisX, dot, line, ruleX, text } from "@observablehq/plot";
import { type Figure, gridAxisY, type Panel, quietAxis } from "./figure.js";
import { compactUpTo, counted } from "./numbers.js";
import { avoidOverlap } from "./placement.js";
import { textWidth } from "./text.js";
import { theme } from "./theme.js";

/** A line of a run's log: a step, with its loss by term, or a validation, with `valid`. */
export interface LearningEvent {
	readonly step: number;
	readonly [field: string]: unknown;
}

interface Loss {
	readonly step: number;
	readonly loss: number;
}

interface Validation extends Loss {
	readonly epoch: number;
}

interface Term {
	readonly name: string;
	readonly train: readonly Loss[];
	readonly valid: readonly Validation[];
}

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

function termsOf(events: readonly LearningEvent[]): Term[] {
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
	const end = train.at(-1);
	return {
		title: name,
		subtitle: meanings[name] ?? "loss in nats",
		height: marginTop + plotHeight + marginBottom,
		plot: (width) => {
			const ends = [
				...(end ? [{ ...end, words: "training" }] : []),
				...(valid.length > 0 ? [{ ...(valid.at(-1) as Loss), words: "validation" }] : []),
			];
			const [bottom, top] = [low - room, high + room];
			const lossAt = (pixel: number) => top - (pixel / plotHeight) * (top - bottom);
			const heights = avoidOverlap(
				ends.map(({ loss }) => ((top - loss) / (top - bottom)) * plotHeight),
				ends.map(() => theme.size.tick + 2),
				[0, plotHeight],
			);
			const marginRight = textWidth("validation", { size: theme.size.tick }) + 14;
			return {
				marginLeft: 46,
				marginRight,
				marginTop,
				marginBottom,
				x: { domain: [0, Math.max(1, steps)] },
				y: { domain: [bottom, top] },
				marks: [
					...gridAxisY(5),
					axisX({
						...quietAxis,
						ticks: Math.max(1, Math.min(5, steps, Math.floor(width / 90))),
						label: "steps",
						tickFormat: compactUpTo(steps),
					}),
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
					text(ends, {
						x: () => Math.max(1, steps),
						y: (_, index) => lossAt(heights[index] ?? 0),
						text: "words",
						textAnchor: "start",
						dx: 7,
						fill: theme.quiet,
					}),
				],
			};
		},
	};
}
