import { counted, groupBy } from "../charts/numbers.js";
import type { Evaluation, EvaluationRow, Measure } from "../evaluation.js";
import {
	differenceOf,
	futuresOf,
	interval,
	type MeasureKind,
	mainRow,
	measureKind,
	percentOf,
	rowOf,
	settingRows,
	sizeOf,
	taskOf,
	type Verdict,
	verdict,
	written,
} from "./measures.js";
import { type Finding, onsetFindings } from "./onset-findings.js";
import type { Report } from "./report.js";

/** Maximum calibration error of well-calibrated probabilities, in points. */
const calibratedWithin = 2;

export function findings(report: Report): Finding[] {
	return [...leadingFindings(report), ...furtherFindings(report)];
}

/** Those on first records, which lead the page. */
export function leadingFindings({ evaluations }: Report): readonly Finding[] {
	const onset = evaluations.find(({ task }) => task === "onset");
	return onset ? cautious(onset, onsetFindings(onset)) : [];
}

/** Those on every other task. */
export function furtherFindings(report: Report): Finding[] {
	const of = (task: string) => report.evaluations.find((evaluation) => evaluation.task === task);
	const forecast = of("forecast");
	const next = of("next");
	return [
		...(forecast ? cautious(forecast, forecastFindings(forecast)) : []),
		...(next ? cautious(next, nextFindings(next)) : []),
		...report.evaluations
			.filter((evaluation) => settingRows(evaluation).length > 0)
			.flatMap((evaluation) => cautious(evaluation, labelledFindings(report, evaluation))),
		...(next ? cautious(next, calibrationFindings(next)) : []),
	];
}

/** Findings without their sentences, where an evaluation rests on too few patients for any. */
const cautious = ({ tooFew }: Evaluation, list: readonly Finding[]): readonly Finding[] =>
	tooFew ? list.map((finding) => ({ ...finding, says: `${tooFew}.`, isWeak: true })) : list;

/** The sentence for the direction of a difference. */
const choose = (
	difference: Measure,
	kind: MeasureKind,
	says: Readonly<Record<Verdict, string>>,
): string => says[verdict(difference, kind)];

const signed = (difference: Measure, kind: MeasureKind) =>
	`${difference.value < 0 ? "−" : "+"}${written(Math.abs(difference.value), kind)}`;

const recall = "recall@10";

function forecastFindings(evaluation: Evaluation): Finding[] {
	const kind = measureKind(recall);
	const model = mainRow(evaluation);
	const measure = model?.metrics[recall];
	if (!model || !measure) return [];
	const history = rowOf(evaluation, { who: "history" });
	const difference = history && differenceOf(evaluation, model, history, recall);
	const value = `${written(measure.value, kind)} %`;
	const list: Finding[] = [
		{
			value,
			label: "recall@10",
			says: [
				`Given the beginning of a history and the date of each later record, the ten most likely codes include ${value} (${interval(measure, kind)}) of the recorded codes.`,
				...apart(evaluation, model, kind),
				...(difference ? [againstHistory(difference, kind)] : []),
			].join(" "),
		},
	];
	const steps = rowOf(evaluation, { who: "model", method: "auto-regressive" });
	const direct = rowOf(evaluation, { who: "model", method: "time-specific" }) ?? model;
	const ahead = steps && direct !== steps && differenceOf(evaluation, direct, steps, recall);
	if (ahead)
		list.push({
			value: signed(ahead, kind),
			label: "points: predicted directly, or step by step",
			says: againstSteps(ahead, kind),
		});
	const oracle = rowOf(evaluation, { who: "oracle" });
	if (oracle) list.push(...againstOracle(evaluation, model, oracle, history));
	return list;
}

/** The recall of codes that patients already had, and of new ones. */
function apart({ newCodes }: Evaluation, { metrics }: EvaluationRow, kind: MeasureKind): string[] {
	const [known, ofNew] = [metrics[`${recall} known`], metrics[`${recall} new`]];
	if (!newCodes || !known || !ofNew) return [];
	return [
		`Of codes that the patient already had it is ${written(known.value, kind)} % (${interval(known, kind)}), of new ones ${written(ofNew.value, kind)} % (${interval(ofNew, kind)}); ${percentOf(newCodes.value, 0)} are new.`,
	];
}

const againstHistory = (difference: Measure, kind: MeasureKind): string =>
	choose(difference, kind, {
		better: `That is ${sizeOf(difference, kind)} more than counting the patient’s own past codes.`,
		worse: `That is ${sizeOf(difference, kind)} less than counting the patient’s own past codes: here counting is the better forecast.`,
		level: `Counting the patient’s own past codes does about as well: the difference is ${sizeOf(difference, kind)}.`,
	});

const againstSteps = (difference: Measure, kind: MeasureKind): string =>
	choose(difference, kind, {
		better: `Predicting at a date directly finds ${sizeOf(difference, kind)} more of the records than stepping forward to it.`,
		worse: `Stepping forward to a date finds ${sizeOf(difference, kind)} more of the records than predicting at it directly.`,
		level: `Predicting at a date directly and stepping forward to it find about as many of the records: the difference is ${sizeOf(difference, kind)}.`,
	});

function againstOracle(
	evaluation: Evaluation,
	model: EvaluationRow,
	oracle: EvaluationRow,
	history: EvaluationRow | undefined,
): Finding[] {
	const kind = measureKind(recall);
	const [measure, best] = [model.metrics[recall], oracle.metrics[recall]];
	const difference = differenceOf(evaluation, model, oracle, recall);
	if (!measure || !best || !difference) return [];
	const law = `The reference model, which simulated the people, finds ${written(best.value, kind)} % with ${futuresOf(evaluation)}. That is slightly below the best possible: more futures would find slightly more.`;
	const distance = choose(difference, kind, {
		better: `The model finds ${sizeOf(difference, kind)} more on these patients, by chance or because of too few futures.`,
		worse: `The model stays ${sizeOf(difference, kind)} below it.`,
		level: `The model is level with it: the difference is ${sizeOf(difference, kind)}.`,
	});
	const counted = history?.metrics[recall]?.value;
	const closed =
		counted === undefined || best.value <= counted
			? []
			: measure.value > counted
				? [
						`It closes ${percentOf(Math.min(1, (measure.value - counted) / (best.value - counted)), 0)} of the way from counting to it.`,
					]
				: ["It closes none of the way from counting to it."];
	return [
		{
			value: signed(difference, kind),
			label: "points to the reference model",
			says: [law, distance, ...closed].join(" "),
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
	const difference = history && differenceOf(evaluation, model, history, "nats");
	const accuracy = model.metrics.accuracy;
	const outright = accuracy
		? ` That code is its first choice in ${percentOf(accuracy.value)} of cases.`
		: "";
	if (!counted || !difference)
		return [
			{
				value: written(nats.value, kind),
				label: "nats",
				says: `Given the time of the next record, it assigns the recorded code a probability of ${percentOf(Math.exp(-nats.value))} (geometric mean).${outright}`,
			},
		];
	const factor = Math.exp(-difference.value).toFixed(2);
	const against = `(${written(nats.value, kind)} against ${written(counted.value, kind)} nats)`;
	const says = choose(difference, kind, {
		better: `Given the time of the next record, it assigns the recorded code ${factor} times the probability that counting the patient’s past codes assigns ${against}.`,
		worse: `Given the time of the next record, it assigns the recorded code only ${factor} times the probability that counting the patient’s past codes assigns ${against}.`,
		level: `Given the time of the next record, it is neither better nor worse than counting the patient’s past codes ${against}.`,
	});
	return [
		{ value: `× ${factor}`, label: "probability of the next code", says: `${says}${outright}` },
	];
}

function labelledFindings({ summary }: Report, evaluation: Evaluation): Finding[] {
	const kind = measureKind("auprc");
	const { question } = taskOf(evaluation.task);
	const label = summary.labels.find(({ task }) => task === evaluation.task);
	const counts = label?.splits[evaluation.split];
	const rows = settingRows(evaluation).filter(({ metrics }) => metrics.auprc);
	const [best] = rows.toSorted((a, b) => b.metrics.auprc.value - a.metrics.auprc.value);
	const measure = best?.metrics.auprc;
	if (!measure || !counts || counts.positive === 0) return [];
	const share = counts.positive / counts.labels;
	const reached = `The best of ${rows.length} settings (${best.setting}) reaches an AUPRC of ${written(measure.value, kind)} (${interval(measure, kind)})`;
	const guessing = written(share, kind);
	const says =
		measure.low > share
			? `${reached}, ${(measure.value / share).toFixed(1)} times that of guessing (${guessing}).`
			: measure.high < share
				? `${reached}, which is below guessing (${guessing}).`
				: `${reached}, which is not clearly above guessing (${guessing}).`;
	return [
		{
			value: written(measure.value, kind),
			label: "AUPRC",
			says: [
				question,
				says,
				...againstCounting(evaluation, best),
				...moreLabels(evaluation, rows),
			].join(" "),
		},
	];
}

/** The best row against counts of the patient's history. */
function againstCounting(evaluation: Evaluation, best: EvaluationRow): string[] {
	const kind = measureKind("auprc");
	const history = rowOf(evaluation, { who: "history" });
	const difference = history && differenceOf(evaluation, best, history, "auprc");
	const counted = history?.metrics.auprc;
	if (!counted || !difference) return [];
	const baseline =
		history.setting === "fine-tuned"
			? "A regression on the counts of past codes"
			: "Counting related past records";
	const reaches = `${baseline} reaches ${written(counted.value, kind)}`;
	return [
		choose(difference, kind, {
			better: `${reaches}, ${sizeOf(difference, kind)} less.`,
			worse: `${reaches}, ${sizeOf(difference, kind)} more.`,
			level: `${reaches}, about as much.`,
		}),
	];
}

/** Whether rows with more labels are better. */
function moreLabels(evaluation: Evaluation, rows: readonly EvaluationRow[]): string[] {
	const value = ({ metrics }: EvaluationRow) => metrics.auprc.value;
	const [zero] = rows
		.filter(({ setting }) => setting?.startsWith("zero-shot"))
		.toSorted((a, b) => value(b) - value(a));
	const taught = ["5-shot", "fine-tuned"].map((name) => rows.find((row) => row.setting === name));
	const ladder = [zero, ...taught].filter((row) => row !== undefined);
	if (ladder.length < 2) return [];
	const steps = ladder
		.map((row) => `${row.setting} ${written(value(row), measureKind("auprc"))}`)
		.join(", ");
	const pairs = ladder.slice(1).map((row, index) => [row, ladder[index]] as const);
	if (pairs.some(([more, less]) => value(more) <= value(less)))
		return [`More labels do not always help: ${steps}.`];
	const clear = pairs.every(([more, less]) => {
		const difference = differenceOf(evaluation, more, less, "auprc");
		return difference && verdict(difference, measureKind("auprc")) === "better";
	});
	return [
		clear
			? `More labels help: ${steps}.`
			: `It rises with the number of labels, but not significantly: ${steps}.`,
	];
}

function calibrationFindings(evaluation: Evaluation): Finding[] {
	const kind = measureKind("topCalibrationError");
	const off = mainRow(evaluation)?.metrics.topCalibrationError;
	if (!off) return [];
	const distance = `on average, the probability of its first choice differs by ${sizeOf(off, kind)} from how often that code was recorded`;
	return [
		{
			value: (kind.scale * off.value).toFixed(1),
			label: "points off",
			says:
				kind.scale * off.value < calibratedWithin
					? `Its probabilities are well calibrated: ${distance}.`
					: `Its probabilities are not well calibrated: ${distance}.`,
		},
	];
}

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
