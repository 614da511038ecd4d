import { counted, groupBy, sentences } from "../charts/numbers.js";
import type { Evaluation, EvaluationRow } from "../evaluation.js";
import {
	comparison,
	futuresOf,
	type MeasureKind,
	mainRow,
	measureKind,
	percentOf,
	rowOf,
	settingRows,
	sizeOf,
	taskOf,
	withInterval,
	written,
} from "./measures.js";
import { type Finding, onsetFindings } from "./onset-findings.js";
import type { Report } from "./report.js";

/** Maximum calibration error of well-calibrated probabilities, in points. */
const calibratedWithin = 2;

export function findings(report: Report): Finding[] {
	return [...leadingFindings(report), ...furtherFindings(report)];
}

/** The findings of an evaluation; without their sentences where it rests on too few patients for any. */
const findingsOf = (
	evaluation: Evaluation | undefined,
	find: (evaluation: Evaluation) => readonly Finding[],
): readonly Finding[] => {
	const { tooFew } = evaluation ?? {};
	const list = evaluation ? find(evaluation) : [];
	return tooFew ? list.map((one) => ({ ...one, says: `${tooFew}.`, isWeak: true })) : list;
};

const evaluationOf = ({ evaluations }: Report, task: string) =>
	evaluations.find((evaluation) => evaluation.task === task);

/** Those on first records, which lead the page. */
export const leadingFindings = (report: Report): readonly Finding[] =>
	findingsOf(evaluationOf(report, "onset"), (evaluation) => onsetFindings(evaluation));

/** Those on every other task. */
export function furtherFindings(report: Report): Finding[] {
	const next = evaluationOf(report, "next");
	const labelled = report.evaluations.filter((evaluation) => settingRows(evaluation).length > 0);
	return [
		...findingsOf(evaluationOf(report, "forecast"), forecastFindings),
		...findingsOf(next, nextFindings),
		...labelled.flatMap((one) =>
			findingsOf(one, (evaluation) => labelledFindings(report, evaluation)),
		),
		...findingsOf(next, calibrationFindings),
	];
}

const signed = (difference: number, kind: MeasureKind) =>
	`${difference < 0 ? "−" : "+"}${written(Math.abs(difference), kind)}`;

const recall = "recall@10";

function forecastFindings(evaluation: Evaluation): Finding[] {
	const kind = measureKind(recall);
	const model = mainRow(evaluation);
	const measure = model?.metrics[recall];
	if (!model || !measure) return [];
	const { newCodes } = evaluation;
	const [known, ofNew] = [model.metrics[`${recall} known`], model.metrics[`${recall} new`]];
	const history = rowOf(evaluation, { who: "history" });
	const counting = comparison(evaluation, model, history, recall);
	const value = `${written(measure.value, kind)} %`;
	const list: Finding[] = [
		{
			value,
			label: "recall@10",
			says: sentences(
				`Given the beginning of a history and the date of each later record, the ten most likely codes include ${withInterval(measure, kind, " %")} of the recorded codes.`,
				newCodes &&
					known &&
					ofNew &&
					`Of codes that the patient already had it is ${withInterval(known, kind, " %")}, of new ones ${withInterval(ofNew, kind, " %")}; ${percentOf(newCodes.value, 0)} are new.`,
				counting?.says({
					better: `That is ${counting.size} more than counting the patient’s own past codes.`,
					worse: `That is ${counting.size} less than counting the patient’s own past codes: here counting is the better forecast.`,
					level: `Counting the patient’s own past codes does about as well: the difference is ${counting.size}.`,
				}),
			),
		},
	];
	const steps = rowOf(evaluation, { who: "model", method: "auto-regressive" });
	const direct = rowOf(evaluation, { who: "model", method: "time-specific" }) ?? model;
	const ahead = direct === steps ? undefined : comparison(evaluation, direct, steps, recall);
	if (ahead)
		list.push({
			value: signed(ahead.difference.value, kind),
			label: "points: predicted directly, or step by step",
			says: ahead.says({
				better: `Predicting at a date directly finds ${ahead.size} more of the records than stepping forward to it.`,
				worse: `Stepping forward to a date finds ${ahead.size} more of the records than predicting at it directly.`,
				level: `Predicting at a date directly and stepping forward to it find about as many of the records: the difference is ${ahead.size}.`,
			}),
		});
	return [...list, ...againstOracle(evaluation, model, history)];
}

function againstOracle(
	evaluation: Evaluation,
	model: EvaluationRow,
	history: EvaluationRow | undefined,
): Finding[] {
	const kind = measureKind(recall);
	const oracle = rowOf(evaluation, { who: "oracle" });
	const [measure, best] = [model.metrics[recall], oracle?.metrics[recall]];
	const distance = comparison(evaluation, model, oracle, recall);
	if (!measure || !best || !distance) return [];
	const counting = history?.metrics[recall]?.value;
	const closed =
		counting === undefined || best.value <= counting
			? ""
			: measure.value > counting
				? `It closes ${percentOf(Math.min(1, (measure.value - counting) / (best.value - counting)), 0)} of the way from counting to it.`
				: "It closes none of the way from counting to it.";
	return [
		{
			value: signed(distance.difference.value, kind),
			label: "points to the reference model",
			says: sentences(
				`The reference model, which simulated the people, finds ${written(best.value, kind)} % with ${futuresOf(evaluation)}. That is slightly below the best possible: more futures would find slightly more.`,
				distance.says({
					better: `The model finds ${distance.size} more on these patients, by chance or because of too few futures.`,
					worse: `The model stays ${distance.size} below it.`,
					level: `The model is level with it: the difference is ${distance.size}.`,
				}),
				closed,
			),
		},
	];
}

function nextFindings(evaluation: Evaluation): Finding[] {
	const kind = measureKind("nats");
	const model = mainRow(evaluation);
	const nats = model?.metrics.nats;
	if (!model || !nats) return [];
	const history = rowOf(evaluation, { who: "history" });
	const counted = history?.metrics.nats;
	const counting = comparison(evaluation, model, history, "nats");
	const accuracy = model.metrics.accuracy;
	const first =
		accuracy && `That code is its first choice in ${percentOf(accuracy.value)} of cases.`;
	if (!counting || !counted)
		return [
			{
				value: written(nats.value, kind),
				label: "nats",
				says: sentences(
					`Given the time of the next record, it assigns the recorded code a probability of ${percentOf(Math.exp(-nats.value))} (geometric mean).`,
					first,
				),
			},
		];
	const factor = Math.exp(-counting.difference.value).toFixed(2);
	const against = `(${written(nats.value, kind)} against ${written(counted.value, kind)} nats)`;
	const says = counting.says({
		better: `Given the time of the next record, it assigns the recorded code ${factor} times the probability that counting the patient’s past codes assigns ${against}.`,
		worse: `Given the time of the next record, it assigns the recorded code only ${factor} times the probability that counting the patient’s past codes assigns ${against}.`,
		level: `Given the time of the next record, it is neither better nor worse than counting the patient’s past codes ${against}.`,
	});
	const label = "probability of the next code";
	return [{ value: `× ${factor}`, label, says: sentences(says, first) }];
}

function labelledFindings({ summary }: Report, evaluation: Evaluation): Finding[] {
	const kind = measureKind("auprc");
	const label = summary.labels.find(({ task }) => task === evaluation.task);
	const counts = label?.splits[evaluation.split];
	const rows = settingRows(evaluation).filter(({ metrics }) => metrics.auprc);
	const [best] = rows.toSorted((a, b) => b.metrics.auprc.value - a.metrics.auprc.value);
	const measure = best?.metrics.auprc;
	if (!measure || !counts || counts.positive === 0) return [];
	const share = counts.positive / counts.labels;
	const guessing = written(share, kind);
	const standing =
		measure.low > share
			? `${(measure.value / share).toFixed(1)} times that of guessing (${guessing})`
			: measure.high < share
				? `which is below guessing (${guessing})`
				: `which is not clearly above guessing (${guessing})`;
	const history = rowOf(evaluation, { who: "history" });
	const counted = history?.metrics.auprc;
	const counting = comparison(evaluation, best, history, "auprc");
	const baseline =
		history?.setting === "fine-tuned"
			? "A regression on the counts of past codes"
			: "Counting related past records";
	return [
		{
			value: written(measure.value, kind),
			label: "AUPRC",
			says: sentences(
				taskOf(evaluation.task).question,
				`The best of ${rows.length} settings (${best.setting}) reaches an AUPRC of ${withInterval(measure, kind)}, ${standing}.`,
				counted &&
					counting &&
					`${baseline} reaches ${written(counted.value, kind)}, ${counting.says({
						better: `${counting.size} less`,
						worse: `${counting.size} more`,
						level: "about as much",
					})}.`,
				moreLabels(evaluation, rows),
			),
		},
	];
}

/** Whether rows with more labels are better. */
function moreLabels(evaluation: Evaluation, rows: readonly EvaluationRow[]): string {
	const value = ({ metrics }: EvaluationRow) => metrics.auprc.value;
	const [zero] = rows
		.filter(({ setting }) => setting?.startsWith("zero-shot"))
		.toSorted((a, b) => value(b) - value(a));
	const taught = ["5-shot", "fine-tuned"].map((name) => rows.find((row) => row.setting === name));
	const ladder = [zero, ...taught].filter((row) => row !== undefined);
	if (ladder.length < 2) return "";
	const steps = ladder
		.map((row) => `${row.setting} ${written(value(row), measureKind("auprc"))}`)
		.join(", ");
	const pairs = ladder.slice(1).map((row, index) => [row, ladder[index]] as const);
	if (pairs.some(([more, less]) => value(more) <= value(less)))
		return `More labels do not always help: ${steps}.`;
	const isClear = pairs.every(
		([more, less]) => comparison(evaluation, more, less, "auprc")?.verdict === "better",
	);
	return isClear
		? `More labels help: ${steps}.`
		: `It rises with the number of labels, but not significantly: ${steps}.`;
}

function calibrationFindings(evaluation: Evaluation): Finding[] {
	const kind = measureKind("topCalibrationError");
	const off = mainRow(evaluation)?.metrics.topCalibrationError;
	if (!off) return [];
	const not = kind.scale * off.value < calibratedWithin ? "" : "not ";
	return [
		{
			value: (kind.scale * off.value).toFixed(1),
			label: "points off",
			says: `Its probabilities are ${not}well calibrated: on average, the probability of its first choice differs by ${sizeOf(off, kind)} from how often that code was recorded.`,
		},
	];
}

/** One row ahead of another that a reader expects to be ahead. */
type Surprise = ReturnType<typeof surprisesBy>[number];

/** So many examples are given per reason. */
const mostExamples = 2;

/**
 * Explains results that look like mistakes: a model or a baseline that is ahead of the reference model, and a baseline
 * that is ahead of the model. One sentence or two per reason; `metrics` are those that the reader sees.
 */
export function surprises(evaluation: Evaluation, metrics: readonly string[]): string[] {
	if (evaluation.tooFew) return [];
	const all = metrics
		.filter((metric) => !isWindow(metric))
		.flatMap((metric) => surprisesBy(evaluation, metric));
	const byReason = groupBy(all, (surprise) => reasonFor(evaluation, surprise));
	return [...byReason].map(([why, same]) => {
		const examples = same
			.slice(0, mostExamples)
			.map(
				({ ahead, behind, metric }) =>
					`“${ahead.label}” is ahead of “${behind.label}” in ${nameOf(metric)} (${valueIn(ahead, metric)} against ${valueIn(behind, metric)})`,
			);
		const more = same.length - examples.length;
		return sentences(
			`${examples.join(", and ")}.`,
			more > 0 && `The same holds for ${counted(more, "more number")}.`,
			why,
		);
	});
}

function surprisesBy(evaluation: Evaluation, metric: string) {
	if (measureKind(metric).better === "near 1") return [];
	const isAhead = (a: EvaluationRow, b: EvaluationRow) =>
		worthOf(a, metric) > worthOf(b, metric) && valueIn(a, metric) !== valueIn(b, metric);
	const measured = evaluation.rows.filter(({ metrics }) => metrics[metric]);
	const reference = measured.find(({ who }) => who === "oracle");
	const [model] = measured
		.filter(({ who }) => who === "model")
		.toSorted((a, b) => worthOf(b, metric) - worthOf(a, metric));
	const baselines = measured.filter(({ who }) => who === "history" || who === "global");
	const others = [...(model ? [model] : []), ...baselines];
	const pairs = [
		...others.map((row) => [row, reference] as const),
		...baselines.map((row) => [row, model] as const),
	];
	return pairs.flatMap(([ahead, behind]) =>
		behind && isAhead(ahead, behind) ? [{ ahead, behind, metric }] : [],
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

/** Why a row is ahead of the model, or of the reference model. */
function reasonFor(evaluation: Evaluation, { ahead, behind, metric }: Surprise): string {
	if (isWithinChance(evaluation, ahead, behind, metric))
		return "That is within chance on these patients.";
	if (isCalibration(metric))
		return "A method that predicts nearly the same for everybody is easily calibrated, and tells nobody apart.";
	if (isPartOfRecall(metric))
		return "A list of codes has few places: a method that names fewer known codes finds more of the new ones, and the reverse. Recall of all codes counts both.";
	if (behind.who !== "oracle")
		return "That is more than chance: here the simpler method is better.";
	return evaluation.task === "forecast"
		? `The reference model predicts from ${futuresOf(evaluation)}, which costs it a little.`
		: "The reference model knows the simulator, not the outcome: others can be ahead of it on these patients.";
}

/** By the paired difference, or, where it was not measured, by whether the intervals overlap. */
function isWithinChance(
	evaluation: Evaluation,
	a: EvaluationRow,
	b: EvaluationRow,
	metric: string,
): boolean {
	const paired = comparison(evaluation, a, b, metric);
	if (paired) return paired.verdict === "level";
	const [first, second] = [a.metrics[metric], b.metrics[metric]];
	return Boolean(first && second && first.low <= second.high && second.low <= first.high);
}

/** The name of a measure within a sentence, with its horizon. */
function nameOf(metric: string): string {
	const [, years] = /([\d.]+)y$/.exec(metric) ?? [];
	const name = measureKind(metric).title.replace(/, (%|points)$/, "");
	return years ? `${name} within ${years} ${years === "1" ? "year" : "years"}` : name;
}

function valueIn({ metrics }: EvaluationRow, metric: string): string {
	const kind = measureKind(metric);
	const value = written(metrics[metric]?.value ?? Number.NaN, kind);
	return kind.title.endsWith(", %") ? `${value} %` : value;
}
