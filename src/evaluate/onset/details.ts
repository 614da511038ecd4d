import { yearDays } from "../../base/time.js";
import type { Dataset } from "../../data/cohort/index.js";
import { notNegative } from "../bootstrap.js";
import type { Measure, OnsetDetails } from "../evaluation.js";
import { decileShares, onsetCalibration } from "../survival/calibration.js";
import { decisionCurve } from "../survival/decision-curve.js";
import { poolFollowUps, poolValues, restrict, sortFollowUp } from "../survival/follow-up.js";
import { onsetScores } from "../survival/onset-scores.js";
import type { AtHorizon } from "./at-horizon.js";
import { chosenConditions, conditionDetails } from "./conditions.js";
import { daysOf, indexOf, leastOnsets, type Opened, type Predictions } from "./opened.js";
import { onsetsWithin } from "./outcomes.js";

export const fromZero = (measure: Measure | null) => measure && notNegative(measure);

const pooledThresholds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3];

const ageBands = [
	{ name: "under 40", from: 0, to: 40 },
	{ name: "40 to 59", from: 40, to: 60 },
	{ name: "60 to 79", from: 60, to: 80 },
	{ name: "80 and over", from: 80, to: Number.POSITIVE_INFINITY },
];

/** The horizon at which conditions are shown in detail, if it is measured. */
const detailYears = 5;

/** Some conditions in detail, at the measured horizon nearest to five years. */
function conditionsOf(
	found: readonly AtHorizon[],
	rows: readonly Predictions[],
	vocabulary: Dataset["vocabulary"],
): NonNullable<OnsetDetails["conditions"]> {
	const [nearest] = found.toSorted(
		(a, b) => Math.abs(a.years - detailYears) - Math.abs(b.years - detailYears),
	);
	if (!nearest) return [];
	const { years, codes, predicted } = nearest;
	const days = daysOf(years);
	return chosenConditions(codes, vocabulary, days).map((code) =>
		conditionDetails(
			code,
			{ years, days },
			rows.map(({ name: { label } }, row) => ({
				label,
				risks: predicted[row]?.[codes.indexOf(code)] as Float64Array,
			})),
			vocabulary,
		),
	);
}

/** Calibration and decision curves of the first row, subgroups, and every code. */
export function detailsOf(
	{ dataset: { vocabulary }, options, cohort }: Opened,
	rows: readonly Predictions[],
	found: readonly AtHorizon[],
	lookBackDays: number,
): OnsetDetails {
	const ageOf = (at: number) => {
		const { history, day } = cohort.patients[at] as (typeof cohort.patients)[0];
		return history.birthEvents === 1 ? (day - (history.times[0] as number)) / yearDays : Number.NaN;
	};
	const groups: { name: string; has: (patient: number) => boolean }[] = [
		...(["female", "male"] as const).map((sex) => ({
			name: sex,
			has: (at: number) => cohort.patients[at]?.history.sex === sex,
		})),
		...ageBands.map(({ name, from, to }) => ({
			name,
			has: (at: number) => ageOf(at) >= from && ageOf(at) < to,
		})),
	];
	const subgroupsAt = ({ years, codes, predicted }: AtHorizon) =>
		groups.flatMap(({ name, has }) => {
			const members = cohort.patients.filter((_, at) => has(at)).length;
			if (members === 0) return [];
			const scored = codes.flatMap((code, i) => {
				const own = restrict(sortFollowUp(code), has);
				if (onsetsWithin(own, daysOf(years)) < leastOnsets) return [];
				const risks = predicted.map((row) => row[i] as Float64Array);
				return [onsetScores(own, daysOf(years), risks)()];
			});
			if (scored.length === 0) return [];
			const mean = (row: number, metric: "auroc" | "averagePrecision") =>
				scored.reduce((sum, all) => sum + (all[row]?.[metric] ?? 0), 0) / scored.length;
			const total = (row: number, metric: "observedOnsets" | "expectedOnsets") =>
				scored.reduce((sum, all) => sum + (all[row]?.[metric] ?? 0), 0);
			return [
				{
					...{ name, years, patients: members, codes: scored.length },
					rows: rows.map(({ name: row }, at) => ({
						label: row.label,
						auroc: mean(at, "auroc"),
						averagePrecision: mean(at, "averagePrecision"),
						observedToExpected: total(at, "observedOnsets") / total(at, "expectedOnsets"),
					})),
				},
			];
		});
	return {
		index: indexOf(options),
		lookBackDays,
		horizons: found.map((own) => {
			const pooled = sortFollowUp(poolFollowUps(own.codes));
			const days = daysOf(own.years);
			const risks = poolValues(own.predicted[0] ?? []);
			return {
				...{ years: own.years, codes: own.codes.length },
				calibration: onsetCalibration(pooled, days, risks, decileShares).bins(),
				decisions: decisionCurve(pooled, days, risks, pooledThresholds)() ?? [],
			};
		}),
		subgroups: found.flatMap(subgroupsAt),
		conditions: conditionsOf(found, rows, vocabulary),
		codes: found.flatMap(({ years, codes, scores }) =>
			codes.map((code, i) => {
				const {
					code: text,
					system,
					name,
				} = vocabulary.tokens[code.token] as (typeof vocabulary.tokens)[0];
				return {
					...{ years, code: text, system, name, onsets: onsetsWithin(code, daysOf(years)) },
					atRisk: code.time.length,
					rows: rows.map(({ name: row }, at) => ({
						label: row.label,
						auroc: scores.ofCode(i, at, "auroc"),
						averagePrecision: fromZero(scores.ofCode(i, at, "averagePrecision")),
						observedToExpected: fromZero(scores.ofCode(i, at, "observedToExpected")),
					})),
				};
			}),
		),
	};
}
