import { isoDate, yearDays } from "../../base/time.js";
import { outcomeOf, recordDays } from "../../data/cohort/at-risk.js";
import type { Dataset } from "../../data/cohort/index.js";
import { specialCount, type Vocabulary } from "../../data/cohort/vocabulary.js";
import * as statistics from "../bootstrap.js";
import { evenShares, groupsBetween, quantileEdges } from "../calibration.js";
import type { EvaluateOptions, Measure, Measured, OnsetDetails } from "../evaluation.js";
import * as scoring from "../survival/at-horizon.js";
import * as survival from "../survival/follow-up.js";
import { type ExpectedRates, expectedOnsets } from "./expected-onsets.js";
import type { IndexedCohort, IndexedPatient } from "./index-days.js";

/** A code is frequent within a horizon if as many onsets are expected as this. */
export const frequentOnsets = 20;

export interface Predictions {
	readonly name: statistics.RowName;
	/** By each horizon, [patients, vocab]; NaN where there is none. */
	readonly risks: readonly ArrayLike<number>[];
}

/** What task *onset* is measured on. */
export interface OnsetStudy {
	readonly dataset: Dataset;
	/** What baselines learn from. */
	readonly trainingDataset: Dataset;
	readonly options: EvaluateOptions;
	readonly cohort: IndexedCohort;
	readonly codes: readonly CodeFollowUp[];
	/** In years. */
	readonly horizons: readonly number[];
	/** By horizon: what onsets are expected from. */
	readonly rates: readonly ExpectedRates[];
}

/** After a cut, the index day is that of the cut. */
export const indexOf = ({ index, before }: Pick<EvaluateOptions, "index" | "before">): string =>
	index ?? (before === undefined ? "random" : isoDate(before));

export const daysOf = (years: number) => Math.round(years * yearDays);

/** The codes with enough expected onsets. */
export const measuredCodes = (codes: readonly CodeFollowUp[], days: number) =>
	codes.filter(({ expected }) => (expected.get(days) ?? 0) >= frequentOnsets);

/** What became of the patients who did not have a code on their index day. */
export type CodeFollowUp = ReturnType<typeof followUps>[number];

/** The follow-up of every token; patients are numbered by their place in the cohort. */
export function followUps(
	patients: readonly IndexedPatient[],
	vocab: number,
	rates: readonly ExpectedRates[],
) {
	const expected = rates.map(
		(horizon) => [horizon.horizonDays, expectedOnsets(horizon, patients, vocab)] as const,
	);
	const entries = Array.from({ length: vocab }, () => ({
		time: [] as number[],
		status: [] as number[],
		patient: [] as number[],
	}));
	for (const [index, { history, day, atRisk }] of patients.entries()) {
		const { before, after } = recordDays(history, vocab, day);
		for (let token = specialCount; token < vocab; token++) {
			if (before[token] > Number.NEGATIVE_INFINITY) continue;
			const outcome = outcomeOf(atRisk, after[token]);
			const followUp = entries[token];
			followUp.time.push(outcome.after);
			followUp.status.push(survival.statusOf[outcome.what]);
			followUp.patient.push(index);
		}
	}
	return entries.map(({ time, status, patient }, token) => ({
		token,
		time: Float64Array.from(time),
		status: Uint8Array.from(status),
		patient: Int32Array.from(patient),
		/** Expected onsets, by the days within which. */
		expected: new Map(expected.map(([days, onsets]) => [days, onsets[token]])),
	}));
}

export function onsetsWithin(
	{ time, status }: Pick<survival.FollowUp, "time" | "status">,
	days: number,
): number {
	let count = 0;
	for (let i = 0; i < time.length; i++)
		if (status[i] === survival.onset && time[i] <= days) count++;
	return count;
}

/** Bootstrap draws, at most: every code of every horizon is scored on each. */
const maxDraws = 200;

type AtHorizon = ReturnType<typeof atHorizon>;

function atHorizon(
	{ dataset, options, cohort, codes, horizons }: OnsetStudy,
	rows: readonly Predictions[],
	horizonIndex: number,
) {
	const years = horizons[horizonIndex];
	const days = daysOf(years);
	const vocab = dataset.vocabulary.size;
	const risksOf = ({ risks }: Predictions, { token, patient }: CodeFollowUp) =>
		Float64Array.from(patient, (one) => risks[horizonIndex]?.[one * vocab + token]);
	const kept = measuredCodes(codes, days).filter((code) =>
		rows.every((row) => !risksOf(row, code).some(Number.isNaN)),
	);
	/** [rows][codes]: the risks of the code's entries. */
	const predicted = rows.map((row) => kept.map((code) => risksOf(row, code)));
	const { progress } = options;
	/** One after the other, so that no code is kept after it was scored. */
	function* scorers() {
		for (const [i, code] of kept.entries()) {
			progress?.update({ label: `scoring ${years}-year risks: code`, done: i, total: kept.length });
			const risks = predicted.map((row) => row[i] as Float64Array);
			yield scoring.onsetScores(survival.sortFollowUp(code), days, risks);
		}
	}
	const draws = Math.min(options.draws, maxDraws);
	const scores = statistics.resampleCodes(cohort.patients.length, scorers(), {
		draws,
		seed: options.seed,
	});
	progress?.finish();
	const pooled = survival.sortFollowUp(survival.poolFollowUps(kept));
	const calibration = predicted.map((rowRisks) =>
		scoring.onsetCalibration(pooled, days, survival.poolValues(rowRisks), scoring.highRiskShares),
	);
	return { years, days, codes: kept, predicted, scores, calibration };
}

const calibrationDraws = 50;

/** The metrics of every row at every horizon, their differences, and details. */
export function onsetResults(
	study: OnsetStudy,
	rows: readonly Predictions[],
	notes: string[],
	lookBackDays: number,
): Measured {
	const { options, cohort, horizons } = study;
	const draws = Math.min(options.draws, maxDraws);
	const measuredHorizons = horizons.map((_, index) => atHorizon(study, rows, index));
	const calibrating = { draws: Math.min(draws, calibrationDraws), seed: options.seed };
	const measuredRows = rows.map(({ name }, row) => {
		const drawn: Record<string, statistics.Drawn> = {};
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
			const { error } = calibration[row];
			const value = error();
			if (value === null) continue;
			const errors = Array.from(
				statistics.patientDraws(cohort.patients.length, calibrating),
				(weights) => error(weights) ?? Number.NaN,
			);
			const measure = statistics.notNegative(
				statistics.measureOf({ value, drawn: Float64Array.from(errors) }),
			);
			alone[`weightedCalibrationError ${years}y`] = measure;
		}
		return { name, drawn, alone };
	});
	options.progress?.finish();
	return statistics.measured("onset", { ...options, draws }, measuredRows, {
		notes,
		patients: cohort.patients.length,
		events: cohort.patients.reduce((sum, { history }) => sum + history.tokens.length, 0),
		onset: detailsOf(study, rows, measuredHorizons, lookBackDays),
	});
}

const measureOrNull = (values: statistics.Drawn | null) => values && statistics.measureOf(values);
const fromZero = (values: statistics.Drawn | null) =>
	values && statistics.notNegative(statistics.measureOf(values));

const pooledThresholds = [0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3];

const ageBands = [
	{ name: "under 40", from: 0, to: 40 },
	{ name: "40 to 59", from: 40, to: 60 },
	{ name: "60 to 79", from: 60, to: 80 },
	{ name: "80 and over", from: 80, to: Number.POSITIVE_INFINITY },
];

/** The horizon at which conditions are shown in detail, if it is measured. */
const detailYears = 5;

/** Calibration and decision curves of the first row, subgroups, and every code. */
function detailsOf(
	{ dataset: { vocabulary }, options, cohort, rates }: OnsetStudy,
	rows: readonly Predictions[],
	measured: readonly AtHorizon[],
	lookBackDays: number,
): OnsetDetails {
	const groups = [
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
	const subgroupsAt = ({ years, days, codes, predicted }: AtHorizon) =>
		groups.flatMap(({ name, has }) => {
			const patients = cohort.patients.filter((_, index) => has(index));
			const horizon = rates.find(({ horizonDays }) => horizonDays === days);
			if (patients.length === 0 || !horizon) return [];
			const expected = expectedOnsets(horizon, patients, vocabulary.size);
			const scored = codes.flatMap((code, i) => {
				if (expected[code.token] < frequentOnsets) return [];
				const members = survival.restrict(survival.sortFollowUp(code), has);
				const risks = predicted.map((row) => row[i]);
				const scores = scoring.onsetScores(members, days, risks)();
				// Where nobody of the group is known to stay without the code, no row has a score.
				return scores.some(({ auroc }) => auroc === null) ? [] : [scores];
			});
			if (scored.length === 0) return [];
			const total = (row: number, metric: keyof scoring.OnsetScores) =>
				scored.reduce((sum, all) => sum + (all[row][metric] ?? 0), 0);
			const scoresOf = rows.map(({ name: { label } }, row) => {
				const expected = total(row, "expectedOnsets");
				return {
					label,
					auroc: total(row, "auroc") / scored.length,
					averagePrecision: total(row, "averagePrecision") / scored.length,
					observedToExpected: expected > 0 ? total(row, "observedOnsets") / expected : null,
				};
			});
			return { name, years, patients: patients.length, codes: scored.length, rows: scoresOf };
		});
	const distance = ({ years }: AtHorizon) => Math.abs(years - detailYears);
	const [detailed] = measured.toSorted((a, b) => distance(a) - distance(b));
	return {
		index: indexOf(options),
		lookBackDays,
		horizons: measured.map(({ years, days, codes, predicted }) => {
			const pooled = survival.sortFollowUp(survival.poolFollowUps(codes));
			const risks = survival.poolValues(predicted[0] ?? []);
			return {
				years,
				codes: codes.length,
				calibration: scoring.onsetCalibration(pooled, days, risks, evenShares(10)).bins(),
				decisions: scoring.decisionCurve(pooled, days, risks, pooledThresholds)() ?? [],
			};
		}),
		subgroups: measured.flatMap(subgroupsAt),
		conditions: chosenConditions(detailed.codes, vocabulary, detailed.days).map((code) => {
			const i = detailed.codes.indexOf(code);
			const labelled = rows.map(({ name: { label } }, row) => ({
				label,
				risks: detailed.predicted[row][i],
			}));
			return conditionDetails(code, detailed, labelled, vocabulary);
		}),
		codes: measured.flatMap(({ years, days, codes, scores }) =>
			codes.map((code, i) => ({
				...summaryOf(code, { years, days }, vocabulary),
				rows: rows.map(({ name: { label } }, row) => ({
					label,
					auroc: measureOrNull(scores.ofCode(i, row, "auroc")),
					averagePrecision: fromZero(scores.ofCode(i, row, "averagePrecision")),
					observedToExpected: fromZero(scores.ofCode(i, row, "observedToExpected")),
				})),
			})),
		),
	};
}

interface Horizon {
	readonly years: number;
	readonly days: number;
}

/** The code, and how many onsets it has within a horizon, of how many patients. */
function summaryOf(code: CodeFollowUp, { years, days }: Horizon, { tokens }: Vocabulary) {
	const { code: text, system, name } = tokens[code.token];
	const [onsets, atRisk] = [onsetsWithin(code, days), code.time.length];
	return { code: text, system, name, years, onsets, atRisk };
}

type Condition = NonNullable<OnsetDetails["conditions"]>[number];

/** PheCodes of common chronic diseases, which the report names; the first that have enough onsets are shown in detail. */
const chronicDiseases = ["428", "250", "401", "411", "427", "296", "496", "433", "585", "290"];
const mostConditions = 4;

/** Tokens of the conditions that are shown in detail, among the codes with enough onsets. */
export function chosenConditions(
	codes: readonly CodeFollowUp[],
	{ tokens }: Vocabulary,
	days: number,
): readonly CodeFollowUp[] {
	const chronic = chronicDiseases.flatMap((code) =>
		codes.filter(({ token }) => tokens[token].system === "PheCode" && tokens[token].code === code),
	);
	const byOnsets = codes.toSorted((a, b) => onsetsWithin(b, days) - onsetsWithin(a, days));
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
	code: CodeFollowUp,
	horizon: Horizon,
	rows: readonly { readonly label: string; readonly risks: Float64Array }[],
	vocabulary: Vocabulary,
): Condition {
	const { days } = horizon;
	const followUp = survival.sortFollowUp(code);
	const decisions = rows.map(({ risks }) =>
		scoring.decisionCurve(followUp, days, risks, conditionThresholds)(),
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
