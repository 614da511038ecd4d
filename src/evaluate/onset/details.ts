import { yearDays } from "../../base/time.js";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import { evenShares, groupsBetween, quantileEdges } from "../calibration.js";
import type { Measure, OnsetDetails } from "../evaluation.js";
import { quantile } from "../metrics.js";
import { decisionCurve } from "../survival/at-horizon.js";
import * as survival from "../survival/follow-up.js";
import { recalibration } from "../survival/recalibration.js";
import { type OnsetScores, onsetScores } from "../survival/scores.js";
import { expectedOnsets } from "./expected-onsets.js";
import type { MeasuredHorizon } from "./measured-horizon.js";
import * as studies from "./study.js";

const pooledThresholds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3];

const ageBands = [
	{ name: "under 40", from: 0, to: 40 },
	{ name: "40 to 59", from: 40, to: 60 },
	{ name: "60 to 79", from: 60, to: 80 },
	{ name: "80 and over", from: 80, to: Number.POSITIVE_INFINITY },
];

/** The horizon at which conditions are shown in detail, if it is measured. */
const detailYears = 5;

/** Calibration and decision curves of the first row, subgroups, and every frequent code. */
export function detailsOf(
	study: studies.OnsetStudy,
	rows: readonly studies.Predictions[],
	measured: readonly MeasuredHorizon[],
	lookBackDays: number,
): OnsetDetails {
	const { vocabulary } = study.dataset;
	const distance = ({ years }: MeasuredHorizon) => Math.abs(years - detailYears);
	const [detailed] = measured.toSorted((a, b) => distance(a) - distance(b));
	const calibrated = measured.map((horizon) => ({
		horizon,
		byCode: recalibrations(rows, horizon),
	}));
	return {
		index: study.index,
		lookBackDays,
		horizons: calibrated.map(({ horizon, byCode }) => ({
			years: horizon.years,
			codes: horizon.frequent.length,
			allCodes: horizon.frequent.length + horizon.rare.length,
			calibration: horizon.pooled.bins,
			recalibration: rows.map(({ name: { label } }, row) => ({
				label,
				slope: spreadOf(byCode.map((code) => code[row].calibrationSlope)),
				intercept: spreadOf(byCode.map((code) => code[row].calibrationIntercept)),
			})),
			decisions:
				decisionCurve(
					horizon.pooled.followUp,
					horizon.days,
					horizon.pooled.risks,
					pooledThresholds,
				)() ?? [],
		})),
		subgroups: measured.flatMap((horizon) => subgroupsAt(study, rows, horizon)),
		conditions: chosenConditions(detailed.frequent, vocabulary, detailed.days).map((code) => {
			const labelled = rows.map((row) => ({
				label: row.name.label,
				risks: detailed.risksOf(row, code),
			}));
			return conditionDetails(code, detailed, labelled, vocabulary);
		}),
		codes: calibrated.flatMap(({ horizon, byCode }) =>
			horizon.frequent.map((code, i) => ({
				...summaryOf(code, horizon, vocabulary),
				expected: code.expected.get(horizon.days) ?? 0,
				rows: rows.map(({ name: { label } }, row) => ({
					label,
					...horizon.ofCodes[i][row],
					...byCode[i][row],
				})),
			})),
		),
	};
}

/** By code and row: slope and intercept of the recalibration on its own patients. */
const recalibrations = (
	rows: readonly studies.Predictions[],
	{ frequent, days, risksOf }: MeasuredHorizon,
) =>
	frequent.map((code) => {
		const followUp = survival.sortFollowUp(code);
		return rows.map((row) => {
			const { slope, intercept } = recalibration(followUp, days, risksOf(row, code));
			return { calibrationSlope: slope, calibrationIntercept: intercept };
		});
	});

/** Median and quartiles over codes; null if none has a value. */
function spreadOf(measures: readonly (Measure | null)[]) {
	const sorted = measures
		.flatMap((measure) => (measure ? [measure.value] : []))
		.sort((a, b) => a - b);
	if (sorted.length === 0) return null;
	return {
		median: quantile(sorted, 0.5),
		lower: quantile(sorted, 0.25),
		upper: quantile(sorted, 0.75),
		codes: sorted.length,
	};
}

/** Patients by sex and by age on the index day. */
const groupsOf = ({ cohort }: studies.OnsetStudy) => [
	...(["female", "male"] as const).map((sex) => ({
		name: sex,
		has: (patient: number) => cohort.patients[patient].history.sex === sex,
	})),
	...ageBands.map(({ name, from, to }) => ({
		name,
		has: (patient: number) => {
			const { history, day } = cohort.patients[patient];
			const age = (day - history.times[0]) / yearDays;
			return history.birthEvents === 1 && age >= from && age < to;
		},
	})),
];

/** The scores in each group, over the codes that are frequent in it. */
function subgroupsAt(
	study: studies.OnsetStudy,
	rows: readonly studies.Predictions[],
	{ years, days, frequent, risksOf }: MeasuredHorizon,
) {
	const rates = study.rates.find(({ horizonDays }) => horizonDays === days);
	return groupsOf(study).flatMap(({ name, has }) => {
		const patients = study.cohort.patients.filter((_, index) => has(index));
		if (patients.length === 0 || !rates) return [];
		const expected = expectedOnsets(rates, patients, study.dataset.vocabulary.size);
		const scored = frequent.flatMap((code) => {
			if (expected[code.token] < studies.frequentOnsets) return [];
			const members = survival.restrict(survival.sortFollowUp(code), has);
			const scores = onsetScores(
				members,
				days,
				rows.map((row) => risksOf(row, code)),
			)();
			// Where nobody of the group is known to stay without the code, no row has a score.
			return scores.some(({ auroc }) => auroc === null) ? [] : [scores];
		});
		if (scored.length === 0) return [];
		const total = (row: number, score: keyof OnsetScores) =>
			scored.reduce((sum, all) => sum + (all[row][score] ?? 0), 0);
		const scoresOf = rows.map(({ name: { label } }, row) => {
			const predicted = total(row, "expectedOnsets");
			const observed = total(row, "observedOnsets");
			return {
				label,
				logLoss: total(row, "nats") / observed,
				auroc: total(row, "auroc") / scored.length,
				averagePrecision: total(row, "averagePrecision") / scored.length,
				observedToExpected: predicted > 0 ? observed / predicted : null,
			};
		});
		return [{ name, years, patients: patients.length, codes: scored.length, rows: scoresOf }];
	});
}

interface Horizon {
	readonly years: number;
	readonly days: number;
}

/** The code, and how many onsets it has within a horizon, of how many patients. */
function summaryOf(code: studies.CodeFollowUp, { years, days }: Horizon, { tokens }: Vocabulary) {
	const { code: text, system, name } = tokens[code.token];
	const [onsets, atRisk] = [studies.onsetsWithin(code, days), code.time.length];
	return { code: text, system, name, years, onsets, atRisk };
}

type Condition = NonNullable<OnsetDetails["conditions"]>[number];

/** PheCodes of common chronic diseases, which the report names; the first that have enough onsets are shown in detail. */
const chronicDiseases = ["428", "250", "401", "411", "427", "296", "496", "433", "585", "290"];
const mostConditions = 4;

/** Tokens of the conditions that are shown in detail, among the codes with enough onsets. */
export function chosenConditions(
	codes: readonly studies.CodeFollowUp[],
	{ tokens }: Vocabulary,
	days: number,
): readonly studies.CodeFollowUp[] {
	const chronic = chronicDiseases.flatMap((code) =>
		codes.filter(({ token }) => tokens[token].system === "PheCode" && tokens[token].code === code),
	);
	const byOnsets = codes.toSorted(
		(a, b) => studies.onsetsWithin(b, days) - studies.onsetsWithin(a, days),
	);
	return (chronic.length > 0 ? chronic : byOnsets).slice(0, mostConditions);
}

/** Days per curve, evenly spread over the horizon. */
const curveSteps = 60;

/** Observed incidence by fifths of the risk that a model predicted, at days up to the horizon. */
export function incidenceByFifth(
	followUp: survival.SortedFollowUp,
	horizon: number,
	predicted: ArrayLike<number>,
): Pick<Condition, "days" | "fifths"> {
	const risks = survival.sortPredictions(followUp, predicted);
	const members = groupsBetween(quantileEdges(risks, evenShares(5)), risks);
	const days = Array.from({ length: curveSteps + 1 }, (_, step) =>
		Math.round((horizon * step) / curveSteps),
	);
	return {
		days,
		fifths: members
			.filter((group) => group.length > 0)
			.map((group) => {
				const curve = survival.aalenJohansen(survival.takeEntries(followUp, group));
				const end = survival.pointAt(curve, horizon);
				return {
					count: group.length,
					predicted: group.reduce((sum, index) => sum + risks[index], 0) / group.length,
					observed: days.map((day) => survival.pointAt(curve, day)?.value ?? null),
					low: end?.low ?? null,
					high: end?.high ?? null,
				};
			}),
	};
}

const conditionThresholds = [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3];

/** One condition in detail; the first row's risks make the fifths. */
export function conditionDetails(
	code: studies.CodeFollowUp,
	horizon: Horizon,
	rows: readonly { readonly label: string; readonly risks: Float64Array }[],
	vocabulary: Vocabulary,
): Condition {
	const { days } = horizon;
	const followUp = survival.sortFollowUp(code);
	const decisions = rows.map(({ risks }) =>
		decisionCurve(followUp, days, risks, conditionThresholds)(),
	);
	return {
		...summaryOf(code, horizon, vocabulary),
		...incidenceByFifth(followUp, days, rows[0]?.risks ?? []),
		decisions: (decisions[0] ?? []).map(({ threshold, all }, index) => ({
			threshold,
			all,
			rows: rows.map(({ label }, row) => ({
				label,
				netBenefit: decisions[row]?.[index].model as number,
			})),
		})),
	};
}
