import { counted, groupBy } from "../charts/numbers.js";
import type { Evaluation, EvaluationRow } from "../evaluation.js";
import {
	differenceOf,
	futuresOf,
	type MeasureKind,
	measureKind,
	verdict,
	written,
} from "./measures.js";

/** One row ahead of another that a reader expects to be ahead. */
interface Surprise {
	readonly ahead: EvaluationRow;
	readonly behind: EvaluationRow;
	readonly metric: string;
	readonly why: string;
}

/** So many examples are given per reason. */
const mostExamples = 2;

/**
 * Explains results that look like mistakes: a model or a baseline that is ahead of the reference model, and a baseline
 * that is ahead of the model. One sentence or two per reason; `metrics` are those that the reader sees.
 */
export function surprises(evaluation: Evaluation, metrics: readonly string[]): string[] {
	if (evaluation.tooFew) return [];
	const examplesOfAll = metrics
		.filter((metric) => !isWindow(metric))
		.flatMap((metric) => surprisesBy(evaluation, metric));
	return [...groupBy(examplesOfAll, ({ why }) => why)].map(([why, same]) => {
		const examples = same.slice(0, mostExamples).map(({ ahead, behind, metric }) => {
			const kind = measureKind(metric);
			return `“${ahead.label}” is ahead of “${behind.label}” in ${nameOf(metric, kind)} (${valueIn(ahead, metric, kind)} against ${valueIn(behind, metric, kind)})`;
		});
		const more = same.length - examples.length;
		const others = more > 0 ? ` The same holds for ${counted(more, "more number")}.` : "";
		return `${examples.join(", and ")}.${others} ${why}`;
	});
}

function surprisesBy(evaluation: Evaluation, metric: string): Surprise[] {
	const kind = measureKind(metric);
	if (kind.better === "near 1") return [];
	const isAhead = (a: EvaluationRow, b: EvaluationRow) =>
		worthOf(a, metric) > worthOf(b, metric) &&
		valueIn(a, metric, kind) !== valueIn(b, metric, kind);
	const there = evaluation.rows.filter(({ metrics }) => metrics[metric]);
	const ofKind = (isWanted: (who: EvaluationRow["who"]) => boolean) =>
		there.filter(({ who }) => isWanted(who));
	const [reference] = ofKind((who) => who === "oracle");
	const [model] = ofKind((who) => who === "model").toSorted(
		(a, b) => worthOf(b, metric) - worthOf(a, metric),
	);
	const baselines = ofKind((who) => who === "history" || who === "global");
	const others = [...(model ? [model] : []), ...baselines];
	const pairs = [
		...others.map((row) => [row, reference] as const),
		...baselines.map((row) => [row, model] as const),
	];
	return pairs.flatMap(([ahead, behind]) =>
		behind && isAhead(ahead, behind)
			? [{ ahead, behind, metric, why: reasonFor(evaluation, ahead, behind, metric) }]
			: [],
	);
}

/** Larger is better. */
const worthOf = ({ metrics }: EvaluationRow, metric: string): number => {
	const value = metrics[metric]?.value ?? Number.NaN;
	return measureKind(metric).better === "less" ? -value : value;
};

const isCalibration = (metric: string) => /calibrationError/i.test(metric);
/** Recall at some distance only. */
const isWindow = (metric: string) => /^recall@\d+ \d+–/.test(metric);
const isPartOfRecall = (metric: string) => /^recall@\d+.* (known|new)$/.test(metric);

const reasons = {
	chance: "That is within chance on these patients.",
	calibration:
		"A method that predicts nearly the same for everybody is easily calibrated, and tells nobody apart.",
	recall:
		"A list of codes has few places: a method that names fewer known codes finds more of the new ones, and the reverse. Recall of all codes counts both.",
	better: "That is more than chance: here the simpler method is better.",
	reference:
		"The reference model knows the simulator, not the outcome: others can be ahead of it on these patients.",
} as const;

/** Why a row is ahead of the model, or of the reference model. */
function reasonFor(
	evaluation: Evaluation,
	ahead: EvaluationRow,
	behind: EvaluationRow,
	metric: string,
): string {
	if (isWithinChance(evaluation, ahead, behind, metric)) return reasons.chance;
	if (isCalibration(metric)) return reasons.calibration;
	if (isPartOfRecall(metric)) return reasons.recall;
	if (behind.who !== "oracle") return reasons.better;
	return evaluation.task === "forecast"
		? `The reference model predicts from ${futuresOf(evaluation)}, which costs it a little.`
		: reasons.reference;
}

/** By the paired difference, or, where it was not measured, by whether the intervals overlap. */
function isWithinChance(
	evaluation: Evaluation,
	a: EvaluationRow,
	b: EvaluationRow,
	metric: string,
): boolean {
	const difference = differenceOf(evaluation, a, b, metric);
	if (difference) return verdict(difference, measureKind(metric)) === "level";
	const [first, second] = [a.metrics[metric], b.metrics[metric]];
	return (
		first !== undefined &&
		second !== undefined &&
		first.low <= second.high &&
		second.low <= first.high
	);
}

/** The name of a measure within a sentence, with its horizon. */
function nameOf(metric: string, { title }: MeasureKind): string {
	const [, years] = /([\d.]+)y$/.exec(metric) ?? [];
	const name = title.replace(/, (%|points)$/, "");
	return years ? `${name} within ${years} ${years === "1" ? "year" : "years"}` : name;
}

function valueIn({ metrics }: EvaluationRow, metric: string, kind: MeasureKind): string {
	const [, unit] = /, (%|points)$/.exec(kind.title) ?? [];
	const value = written(metrics[metric]?.value ?? Number.NaN, kind);
	return unit === "%" ? `${value} %` : value;
}
