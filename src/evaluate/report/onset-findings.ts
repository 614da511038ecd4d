import { counted } from "../charts/numbers.js";
import type { Evaluation, EvaluationRow, Measure } from "../evaluation.js";
import {
	differenceOf,
	interval,
	mainRow,
	measureKind,
	percentOf,
	rowOf,
	shownHorizons,
	sizeOf,
	verdict,
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
	const codes = details.horizons.find((horizon) => horizon.years === years)?.codes ?? 0;
	const span = `${years} ${years === 1 ? "year" : "years"}`;
	return [
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
		...calibration(model, years, span),
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
	const value = (row: EvaluationRow | undefined) => {
		const measure = row?.metrics[metric];
		return measure && { text: written(measure.value, kind), value: measure.value };
	};
	const ageSex = rowOf(evaluation, { who: "global" });
	const [low, best] = [value(ageSex), value(rowOf(evaluation, { who: "oracle" }))];
	const regression = rowOf(evaluation, { who: "history" });
	const difference = regression && differenceOf(evaluation, model, regression, metric);
	const verdicts = {
		better: "Ahead of a regression per code",
		worse: "Behind a regression per code",
		level: "Level with a regression per code: apart",
	} as const;
	const covered =
		low && best && best.value > low.value
			? ` ${percentOf((score.value - low.value) / (best.value - low.value), 0)} of the way from age and sex (${low.text}) to the simulator's own risk (${best.text}).`
			: "";
	const others = `${
		difference ? ` ${verdicts[verdict(difference, kind)]} by ${sizeOf(difference, kind)}.` : ""
	}${covered}`;
	return [finding(written(score.value, kind), others)];
}

function calibration({ metrics }: EvaluationRow, years: number, span: string): Finding[] {
	const ratio = metrics[`observedToExpected ${years}y`];
	const error = metrics[`weightedCalibrationError ${years}y`];
	if (!ratio) return [];
	const kind = measureKind("observedToExpected 1y");
	const [said, digits] = [written(ratio.value, kind), interval(ratio, kind)];
	const direction = againstExpected(ratio);
	return [
		{
			value: said,
			label: "observed/expected",
			says: `Within ${span}, ${said} times (${digits}) as many first records were observed as predicted: ${direction}.${
				error
					? ` Weighted by the risk, predictions differ from what was observed by ${written(error.value, measureKind("weightedCalibrationError 1y"))} percentage points on average.`
					: ""
			}`,
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
	const behind = groups.filter(({ model, other }) => other && model.auroc <= other.auroc);
	const compared = groups.some(({ other }) => other);
	const ahead = !compared
		? []
		: [
				behind.length === 0
					? `Ahead of ${baseline} in every group.`
					: `Not ahead of ${baseline}: ${behind.map(({ name }) => name).join(", ")}.`,
			];
	const ratios = groups
		.flatMap(({ name, model: { observedToExpected } }) =>
			observedToExpected === null ? [] : [{ name, observedToExpected }],
		)
		.toSorted((a, b) => a.observedToExpected - b.observedToExpected)
		.map(({ name, observedToExpected }) => `${observedToExpected.toFixed(2)} (${name})`);
	if (ratios.length === 0) return ahead.join(" ");
	return [
		...ahead,
		ratios.length === 1
			? `Observed/expected: ${ratios[0]}.`
			: `Observed/expected lies between ${ratios[0]} and ${ratios.at(-1)}; above 1, risks are too low. Small groups depend much on chance.`,
	].join(" ");
}
