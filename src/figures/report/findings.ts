import type { Evaluation, EvaluationRow } from "../../evaluate/evaluation.js";
import {
	interval,
	type Measure,
	type MeasureKind,
	measureKind,
	percentOf,
	sizeOf,
	type Verdict,
	verdict,
	written,
} from "./measures.js";
import type { Report } from "./report.js";
import { differenceOf, futuresOf, mainRow, rowOf, settingRows } from "./rows.js";
import { taskOf } from "./tasks.js";

/** A number, its name, and sentences on its meaning, derived from the evaluations alone. */
export interface Finding {
	readonly value: string;
	readonly label: string;
	readonly says: string;
}

/** Maximum calibration error of well-calibrated probabilities, in points. */
const calibratedWithin = 2;

export function findings(report: Report): Finding[] {
	const of = (task: string) => report.evaluations.find((evaluation) => evaluation.task === task);
	const forecast = of("forecast");
	const next = of("next");
	return [
		...(forecast ? forecastFindings(forecast) : []),
		...(next ? nextFindings(next) : []),
		...report.evaluations
			.filter((evaluation) => settingRows(evaluation).length > 0)
			.flatMap((evaluation) => labelledFindings(report, evaluation)),
		...(next ? calibrationFindings(next) : []),
	];
}

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
	const own = model?.metrics[recall];
	if (!model || !own) return [];
	const history = rowOf(evaluation, { who: "history" });
	const difference = history && differenceOf(evaluation, model, history, recall);
	const value = `${written(own.value, kind)} %`;
	const found: Finding[] = [
		{
			value,
			label: "recall@10",
			says: [
				`Shown the beginning of a history and asked about each later date, the ten codes it finds likeliest hold ${value} (${interval(own, kind)}) of what was then recorded.`,
				...(difference ? [againstHistory(difference, kind)] : []),
			].join(" "),
		},
	];
	const steps = rowOf(evaluation, { who: "model", method: "auto-regressive" });
	const ahead = steps && model !== steps && differenceOf(evaluation, model, steps, recall);
	if (ahead)
		found.push({
			value: signed(ahead, kind),
			label: "points: asked directly, or step by step",
			says: againstSteps(ahead, kind),
		});
	const oracle = rowOf(evaluation, { who: "oracle" });
	if (oracle) found.push(...againstOracle(evaluation, model, oracle, history));
	return found;
}

const againstHistory = (difference: Measure, kind: MeasureKind): string =>
	choose(difference, kind, {
		better: `That is ${sizeOf(difference, kind)} more than counting the patient’s own past codes gets.`,
		worse: `That is ${sizeOf(difference, kind)} less than counting the patient’s own past codes gets: here counting is the better forecast.`,
		level: `Counting the patient’s own past codes does about as well: the difference is ${sizeOf(difference, kind)}.`,
	});

const againstSteps = (difference: Measure, kind: MeasureKind): string =>
	choose(difference, kind, {
		better: `Asking about a date directly finds ${sizeOf(difference, kind)} more of the records than rolling the forecast forward step by step.`,
		worse: `Rolling the forecast forward step by step finds ${sizeOf(difference, kind)} more of the records than asking about a date directly.`,
		level: `Asking about a date directly and rolling the forecast forward step by step find about as many of the records: the difference is ${sizeOf(difference, kind)}.`,
	});

function againstOracle(
	evaluation: Evaluation,
	model: EvaluationRow,
	oracle: EvaluationRow,
	history: EvaluationRow | undefined,
): Finding[] {
	const kind = measureKind(recall);
	const [own, best] = [model.metrics[recall], oracle.metrics[recall]];
	const difference = differenceOf(evaluation, model, oracle, recall);
	if (!own || !best || !difference) return [];
	const law = `The law the people were simulated by, asked by ${futuresOf(evaluation)}, finds ${written(best.value, kind)} %: a little less than the best possible, as more futures would find a little more.`;
	const distance = choose(difference, kind, {
		better: `The model finds ${sizeOf(difference, kind)} more on these patients: chance, or too few futures.`,
		worse: `The model stays ${sizeOf(difference, kind)} below it.`,
		level: `The model is level with it: the difference is ${sizeOf(difference, kind)}.`,
	});
	const counted = history?.metrics[recall]?.value;
	const closed =
		counted === undefined || best.value <= counted
			? []
			: own.value > counted
				? [
						`It closes ${percentOf(Math.min(1, (own.value - counted) / (best.value - counted)), 0)} of the way from counting to it.`,
					]
				: ["It closes none of the way from counting to it."];
	return [
		{
			value: signed(difference, kind),
			label: "points to the true law",
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
		? ` It names that code outright in ${percentOf(accuracy.value)} of cases.`
		: "";
	if (!counted || !difference)
		return [
			{
				value: written(nats.value, kind),
				label: "nats",
				says: `Told when the next record comes, it gives the code that is then recorded a probability of ${percentOf(Math.exp(-nats.value))}, in the geometric mean.${outright}`,
			},
		];
	const factor = Math.exp(-difference.value).toFixed(2);
	const against = `(${written(nats.value, kind)} against ${written(counted.value, kind)} nats)`;
	const says = choose(difference, kind, {
		better: `Told when the next record comes, it gives the code that is then recorded ${factor} times the probability that counting the patient’s past gives it ${against}.`,
		worse: `Told when the next record comes, it gives the code that is then recorded only ${factor} of the probability that counting the patient’s past gives it ${against}.`,
		level: `Told when the next record comes, it is neither better nor worse than counting the patient’s past ${against}.`,
	});
	return [{ value: `× ${factor}`, label: "probability of what comes", says: `${says}${outright}` }];
}

function labelledFindings({ summary }: Report, evaluation: Evaluation): Finding[] {
	const kind = measureKind("auprc");
	const { question } = taskOf(evaluation.task);
	const label = summary.labels.find(({ task }) => task === evaluation.task);
	const counts = label?.splits[evaluation.split];
	const rows = settingRows(evaluation).filter(({ metrics }) => metrics.auprc);
	const [best] = rows.toSorted((a, b) => b.metrics.auprc!.value - a.metrics.auprc!.value);
	const own = best?.metrics.auprc;
	if (!own || !counts || counts.positive === 0) return [];
	const share = counts.positive / counts.labels;
	const reached = `The best of ${rows.length} ways to ask (${best.setting}) reaches an AUPRC of ${written(own.value, kind)} (${interval(own, kind)})`;
	const guessing = written(share, kind);
	const says =
		own.low > share
			? `${reached}, ${(own.value / share).toFixed(1)} times that of guessing (${guessing}).`
			: own.high < share
				? `${reached}, which is below guessing (${guessing}).`
				: `${reached}, which is not clearly above guessing (${guessing}).`;
	return [
		{
			value: written(own.value, kind),
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
	const opponent =
		history.setting === "fine-tuned"
			? "A regression on the counts of past codes"
			: "Counting related past records";
	const reaches = `${opponent} reaches ${written(counted.value, kind)}`;
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
	const value = ({ metrics }: EvaluationRow) => metrics.auprc!.value;
	const [zero] = rows
		.filter(({ setting }) => setting?.startsWith("zero-shot"))
		.toSorted((a, b) => value(b) - value(a));
	const taught = ["5-shot", "fine-tuned"].map((name) => rows.find((row) => row.setting === name));
	const ladder = [zero, ...taught].filter((row) => row !== undefined);
	if (ladder.length < 2) return [];
	const steps = ladder
		.map((row) => `${row.setting} ${written(value(row), measureKind("auprc"))}`)
		.join(", ");
	const pairs = ladder.slice(1).map((row, at) => [row, ladder[at]!] as const);
	if (pairs.some(([more, less]) => value(more) <= value(less)))
		return [`More labels do not always help: ${steps}.`];
	const clear = pairs.every(([more, less]) => {
		const difference = differenceOf(evaluation, more, less, "auprc");
		return difference && verdict(difference, measureKind("auprc")) === "better";
	});
	return [
		clear
			? `More labels help: ${steps}.`
			: `It rises with the labels, but not beyond chance: ${steps}.`,
	];
}

function calibrationFindings(evaluation: Evaluation): Finding[] {
	const kind = measureKind("topCalibrationError");
	const off = mainRow(evaluation)?.metrics.topCalibrationError;
	if (!off) return [];
	const distance = `on average the probability of its first choice lies ${sizeOf(off, kind)} from how often it came true`;
	return [
		{
			value: (kind.scale * off.value).toFixed(1),
			label: "points off",
			says:
				kind.scale * off.value < calibratedWithin
					? `Its probabilities mean what they say: ${distance}.`
					: `Its probabilities should not be taken at their word: ${distance}.`,
		},
	];
}
