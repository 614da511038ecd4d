import { yearDays } from "../../base/time.js";
import type { Dataset } from "../../data/cohort/index.js";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import { type Drawn, measureOf, notNegative, patientDraws } from "../bootstrap.js";
import { evenShares, groupsBetween, quantileEdges } from "../calibration.js";
import type { Measure, Measured, OnsetDetails } from "../evaluation.js";
import { measured } from "../rows.js";
import { decisionCurve, onsetCalibration, onsetScores } from "../survival/at-horizon.js";
import {
	aalenJohansen,
	pointAt,
	poolFollowUps,
	poolValues,
	restrict,
	type SortedFollowUp,
	sortFollowUp,
	sortPredictions,
	takeEntries,
} from "../survival/follow-up.js";
import {
	type AtHorizon,
	atHorizon,
	type CodeFollowUp,
	daysOf,
	indexOf,
	leastOnsets,
	mostDraws,
	type OnsetStudy,
	onsetsWithin,
	type Predictions,
} from "./study.js";

const calibrationDraws = 50;

/** The metrics of every row at every horizon, their differences, and details. */
export function onsetResults(
	study: OnsetStudy,
	rows: readonly Predictions[],
	notes: readonly string[],
	lookBackDays: number,
): Measured {
	const { options, cohort, horizons } = study;
	const draws = Math.min(options.draws, mostDraws);
	const measuredHorizons = horizons.map((_, index) => atHorizon(study, rows, index));
	const weights = Array.from(
		patientDraws(cohort.patients.length, {
			draws: Math.min(draws, calibrationDraws),
			seed: options.seed,
		}),
		(drawn) => Uint16Array.from(drawn),
	);
	const measuredRows = rows.map(({ name }, row) => {
		const drawn: Record<string, Drawn> = {};
		const alone: Record<string, Measure> = {};
		for (const { years, scores, calibration } of measuredHorizons) {
			options.progress?.update({
				label: `calibrating ${years}-year risks: row`,
				done: row,
				total: rows.length,
			});
			for (const metric of ["auroc", "averagePrecision", "brier"] as const) {
				const mean = scores.mean(row, metric);
				if (mean) drawn[`${metric} ${years}y`] = mean;
			}
			const ratio = fromZero(scores.ratio(row, "observedOnsets", "expectedOnsets"));
			if (ratio) alone[`observedToExpected ${years}y`] = ratio;
			const curve = calibration[row];
			const value = curve.error();
			const drawnErrors = Float64Array.from(weights, (one) => curve.error(one) ?? Number.NaN);
			const error = fromZero(value === null ? null : { value, drawn: drawnErrors });
			if (error) alone[`weightedCalibrationError ${years}y`] = error;
		}
		const byDraw = Object.keys(drawn).filter((metric) => !metric.startsWith("brier"));
		return { name, drawn, alone, byDraw };
	});
	options.progress?.finish();
	return measured("onset", { ...options, draws }, measuredRows, {
		notes: [...notes],
		patients: cohort.patients.length,
		events: cohort.patients.reduce((sum, { history }) => sum + history.tokens.length, 0),
		onset: detailsOf(study, rows, measuredHorizons, lookBackDays),
	});
}

const ratioOf = (observed: number, expected: number) => (expected > 0 ? observed / expected : null);

const measureOrNull = (values: Drawn | null) => values && measureOf(values);
const fromZero = (values: Drawn | null) => values && notNegative(measureOf(values));

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
	measured: readonly AtHorizon[],
	rows: readonly Predictions[],
	vocabulary: Dataset["vocabulary"],
): NonNullable<OnsetDetails["conditions"]> {
	const [nearest] = measured.toSorted(
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
				risks: predicted[row]?.[codes.indexOf(code)],
			})),
			vocabulary,
		),
	);
}

/** Calibration and decision curves of the first row, subgroups, and every code. */
function detailsOf(
	{ dataset: { vocabulary }, options, cohort }: OnsetStudy,
	rows: readonly Predictions[],
	measured: readonly AtHorizon[],
	lookBackDays: number,
): OnsetDetails {
	const ageOf = (patient: number) => {
		const { history, day } = cohort.patients[patient];
		return history.birthEvents === 1 ? (day - history.times[0]) / yearDays : Number.NaN;
	};
	const groups: { name: string; has: (patient: number) => boolean }[] = [
		...(["female", "male"] as const).map((sex) => ({
			name: sex,
			has: (patient: number) => cohort.patients[patient]?.history.sex === sex,
		})),
		...ageBands.map(({ name, from, to }) => ({
			name,
			has: (patient: number) => ageOf(patient) >= from && ageOf(patient) < to,
		})),
	];
	const subgroupsAt = ({ years, codes, predicted }: AtHorizon) =>
		groups.flatMap(({ name, has }) => {
			const members = cohort.patients.filter((_, index) => has(index)).length;
			if (members === 0) return [];
			const scored = codes.flatMap((code, i) => {
				const members = restrict(sortFollowUp(code), has);
				if (onsetsWithin(members, daysOf(years)) < leastOnsets) return [];
				const risks = predicted.map((row) => row[i]);
				const scores = onsetScores(members, daysOf(years), risks)();
				// Where nobody of the group is known to stay without the code, no row has a score.
				return scores.some(({ auroc }) => auroc === null) ? [] : [scores];
			});
			if (scored.length === 0) return [];
			const mean = (row: number, metric: "auroc" | "averagePrecision") =>
				scored.reduce((sum, all) => sum + (all[row]?.[metric] ?? 0), 0) / scored.length;
			const total = (row: number, metric: "observedOnsets" | "expectedOnsets") =>
				scored.reduce((sum, all) => sum + (all[row]?.[metric] ?? 0), 0);
			return [
				{
					name,
					years,
					patients: members,
					codes: scored.length,
					rows: rows.map(({ name: row }, index) => ({
						label: row.label,
						auroc: mean(index, "auroc"),
						averagePrecision: mean(index, "averagePrecision"),
						observedToExpected: ratioOf(
							total(index, "observedOnsets"),
							total(index, "expectedOnsets"),
						),
					})),
				},
			];
		});
	return {
		index: indexOf(options),
		lookBackDays,
		horizons: measured.map((horizon) => {
			const pooled = sortFollowUp(poolFollowUps(horizon.codes));
			const days = daysOf(horizon.years);
			const risks = poolValues(horizon.predicted[0] ?? []);
			return {
				years: horizon.years,
				codes: horizon.codes.length,
				calibration: onsetCalibration(pooled, days, risks, evenShares(10)).bins(),
				decisions: decisionCurve(pooled, days, risks, pooledThresholds)() ?? [],
			};
		}),
		subgroups: measured.flatMap(subgroupsAt),
		conditions: conditionsOf(measured, rows, vocabulary),
		codes: measured.flatMap(({ years, codes, scores }) =>
			codes.map((code, i) => {
				const { code: text, system, name } = vocabulary.tokens[code.token];
				return {
					years,
					code: text,
					system,
					name,
					onsets: onsetsWithin(code, daysOf(years)),
					atRisk: code.time.length,
					rows: rows.map(({ name: row }, index) => ({
						label: row.label,
						auroc: measureOrNull(scores.ofCode(i, index, "auroc")),
						averagePrecision: fromZero(scores.ofCode(i, index, "averagePrecision")),
						observedToExpected: fromZero(scores.ofCode(i, index, "observedToExpected")),
					})),
				};
			}),
		),
	};
}

type Condition = NonNullable<OnsetDetails["conditions"]>[number];

/** PheCodes of common chronic diseases; the first that have enough onsets are shown in detail. */
const chronicDiseases = ["428", "250", "401", "411", "427", "296", "496", "433", "585", "290"];
const mostConditions = 4;

/** How the conditions are chosen, in words. */
export const conditionRule =
	"heart failure, diabetes, hypertension, ischaemic heart disease, dysrhythmia, mood disorders, COPD, cerebrovascular disease, renal failure, dementia: the first four with enough onsets; where none has, the four codes with the most onsets";

/** Tokens of the conditions that are shown in detail, among the codes with enough onsets. */
export function chosenConditions(
	codes: readonly CodeFollowUp[],
	{ tokens }: Vocabulary,
	days: number,
): readonly CodeFollowUp[] {
	const chronic = chronicDiseases.flatMap((code) =>
		codes.filter(({ token }) => {
			const codeToken = tokens[token];
			return codeToken?.system === "PheCode" && codeToken.code === code;
		}),
	);
	const most = codes.toSorted((a, b) => onsetsWithin(b, days) - onsetsWithin(a, days));
	return (chronic.length > 0 ? chronic : most).slice(0, mostConditions);
}

/** Days per curve, evenly spread over the horizon. */
const curveSteps = 60;

/** Observed incidence by fifths of the risk that a model predicted, at days up to the horizon. */
export function incidenceByFifth(
	followUp: SortedFollowUp,
	horizon: number,
	predicted: ArrayLike<number>,
): Pick<Condition, "days" | "fifths"> {
	const risks = sortPredictions(followUp, predicted);
	const members = groupsBetween(quantileEdges(risks, evenShares(5)), risks);
	const days = Array.from({ length: curveSteps + 1 }, (_, index) =>
		Math.round((horizon * index) / curveSteps),
	);
	return {
		days,
		fifths: members
			.filter((group) => group.length > 0)
			.map((group) => {
				const curve = aalenJohansen(takeEntries(followUp, group));
				const end = pointAt(curve, horizon);
				return {
					count: group.length,
					predicted: group.reduce((sum, index) => sum + risks[index], 0) / group.length,
					observed: days.map((day) => pointAt(curve, day)?.value ?? null),
					low: end?.low ?? null,
					high: end?.high ?? null,
				};
			}),
	};
}

/** Thresholds of risk at which net benefit is measured. */
const conditionThresholds = [0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3];

/** One condition in detail; the first row's risks make the fifths. */
export function conditionDetails(
	code: CodeFollowUp,
	{ years, days }: { readonly years: number; readonly days: number },
	rows: readonly { readonly label: string; readonly risks: Float64Array }[],
	{ tokens }: Vocabulary,
): Condition {
	const { code: text, system, name } = tokens[code.token];
	const followUp = sortFollowUp(code);
	const decisions = rows.map(({ risks }) =>
		decisionCurve(followUp, days, risks, conditionThresholds)(),
	);
	return {
		code: text,
		system,
		name,
		years,
		onsets: onsetsWithin(code, days),
		atRisk: code.time.length,
		...incidenceByFifth(followUp, days, rows[0]?.risks ?? []),
		decisions: conditionThresholds.flatMap((threshold, index) => {
			const all = decisions[0]?.[index]?.all;
			if (all === undefined) return [];
			return [
				{
					threshold,
					all,
					rows: rows.map(({ label }, row) => ({
						label,
						netBenefit: decisions[row]?.[index]?.model as number,
					})),
				},
			];
		}),
	};
}
