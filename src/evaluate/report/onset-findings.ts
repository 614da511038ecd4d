import { counted, sentences } from "../charts/numbers.js";
import type { Evaluation, EvaluationRow, Measure, OnsetDetails } from "../evaluation.js";
import {
	comparison,
	mainRow,
	measureKind,
	percentOf,
	rowOf,
	shownHorizons,
	withInterval,
	written,
} from "./measures.js";

/** A number, its name, and sentences on its meaning, derived from the evaluations alone. */
export interface Finding {
	readonly value: string;
	readonly label: string;
	readonly says: string;
	/** Whether the number rests on too few patients to mean anything. */
	readonly isWeak?: boolean;
}

/** Within so much of 1, risks are too low or too high only slightly. */
const slight = 0.05;

/** What the task *onset* says at a horizon in years. Default: the longest that is shown. */
export function onsetFindings(evaluation: Evaluation, atYears?: number): Finding[] {
	const details = evaluation.onset;
	const model = mainRow(evaluation);
	const years = atYears ?? (details && shownHorizons(details).at(-1));
	if (!details || !model || years === undefined) return [];
	const horizon = details.horizons.find((one) => one.years === years);
	const codes = horizon?.codes ?? 0;
	const span = `${years} ${years === 1 ? "year" : "years"}`;
	return [
		...ranking(evaluation, model, `logLoss ${years}y`, (loss, others) => ({
			value: loss,
			label: `log loss per onset, within ${span}`,
			says: `−log of the probability of what happened, summed over people and ${counted(codes, "code")} and divided by the number of first records; less is better.${others}`,
		})),
		...ranking(evaluation, model, `auroc ${years}y`, (auroc, others) => ({
			value: auroc,
			label: `AUROC, within ${span}`,
			says: `Of two people, one who gets a first record within ${span} and one who does not, the right one has the higher risk ${percentOf(Number(auroc), 0)} of the time; mean over ${counted(codes, "code")}.${others}`,
		})),
		...ranking(evaluation, model, `averagePrecision ${years}y`, (precision, others) => ({
			value: `${precision} %`,
			label: "average precision",
			says: `How often a high risk comes true: the share of first records among everybody ranked at least as high, averaged over those who get one.${others}`,
		})),
		...calibration(model, years, span, horizon?.recalibration),
	];
}

/** A score beside those of the baselines, with what the paired differences say. */
function ranking(
	evaluation: Evaluation,
	model: EvaluationRow,
	metric: string,
	finding: (value: string, others: string) => Finding,
): Finding[] {
	const kind = measureKind(metric);
	const score = model.metrics[metric];
	if (!score) return [];
	const ageAndSex = rowOf(evaluation, { who: "global" })?.metrics[metric];
	const reference = rowOf(evaluation, { who: "oracle" })?.metrics[metric];
	const shareName = metric.replace(/^(\w+)/, "$1Share");
	const share = model.metrics[shareName];
	const regression = rowOf(evaluation, { who: "history" });
	const paired = comparison(evaluation, model, regression, metric);
	const others = sentences(
		paired &&
			`${paired.says({
				better: "Ahead of a lasso regression",
				worse: "Behind a lasso regression",
				level: "Level with a lasso regression: apart",
			})} by ${paired.size}.`,
		ageAndSex &&
			reference &&
			share &&
			`${withInterval(share, measureKind(shareName), " %")} of the way from age and sex (${written(ageAndSex.value, kind)}) to the simulator's own risk (${written(reference.value, kind)}).`,
	);
	return [finding(written(score.value, kind), others && ` ${others}`)];
}

function calibration(
	{ label, metrics }: EvaluationRow,
	years: number,
	span: string,
	spreads: OnsetDetails["horizons"][number]["recalibration"] | undefined,
): Finding[] {
	const ratio = metrics[`observedToExpected ${years}y`];
	const error = metrics[`weightedCalibrationError ${years}y`];
	if (!ratio) return [];
	const kind = measureKind("observedToExpected 1y");
	const errorKind = measureKind("weightedCalibrationError 1y");
	const slope = spreads?.find(({ label: row }) => row === label)?.slope;
	return [
		{
			value: written(ratio.value, kind),
			label: "observed/expected",
			says: sentences(
				`Within ${span}, ${withInterval(ratio, kind, " times")} as many first records were observed as predicted: ${againstExpected(ratio)}.`,
				error &&
					`Weighted by the risk, predictions differ from what was observed by ${written(error.value, errorKind)} percentage points on average.`,
				slope &&
					`The calibration slope is ${slope.median.toFixed(2)} in the median code, between ${slope.lower.toFixed(2)} and ${slope.upper.toFixed(2)} in the middle half; below 1, risks are too extreme.`,
			),
		},
	];
}

/** What a ratio of observed to expected says, and whether it may be chance. */
export function againstExpected({ value, low, high }: Measure): string {
	const isSlight = Math.abs(value - 1) <= slight;
	const isChance = low <= 1 && high >= 1;
	if (isSlight && isChance) return "about as many as predicted";
	const slightly = isSlight ? "slightly " : "";
	const [direction, level] = value > 1 ? ["more", "low"] : ["fewer", "high"];
	return `${slightly}${direction} than predicted${isChance ? ", perhaps by chance" : `: risks are ${slightly}too ${level}`}`;
}

/** What the subgroups show at a horizon: where the model is not ahead of the first baseline, and where risks are off. */
export function subgroupWords({ onset, rows }: Evaluation, years: number): string {
	const [model, baseline] = rows.map(({ label }) => label);
	const groups = (onset?.subgroups ?? [])
		.filter((group) => group.years === years)
		.flatMap(({ name, rows: of }) => {
			const modelScores = of.find(({ label }) => label === model);
			return modelScores
				? [{ name, model: modelScores, other: of.find(({ label }) => label === baseline) }]
				: [];
		});
	if (groups.length === 0) return "";
	const behind = groups
		.filter(({ model, other }) => other && model.logLoss >= other.logLoss)
		.map(({ name }) => name);
	const ahead =
		behind.length === 0
			? `Ahead of ${baseline} in log loss in every group.`
			: `Not ahead of ${baseline} in log loss: ${behind.join(", ")}.`;
	const ratios = groups
		.flatMap(({ name, model: { observedToExpected } }) =>
			observedToExpected === null ? [] : [{ name, observedToExpected }],
		)
		.toSorted((a, b) => a.observedToExpected - b.observedToExpected)
		.map(({ name, observedToExpected }) => `${observedToExpected.toFixed(2)} (${name})`);
	return sentences(
		groups.some(({ other }) => other) && ahead,
		ratios.length === 1 && `Observed/expected: ${ratios[0]}.`,
		ratios.length > 1 &&
			`Observed/expected lies between ${ratios[0]} and ${ratios.at(-1)}; above 1, risks are too low. Small groups depend much on chance.`,
	);
}
