import { measureOf, notNegative, patientDraws } from "../bootstrap.js";
import type { Measured } from "../evaluation.js";
import { packedDraws } from "../rows.js";
import { detailsOf, fromZero } from "./details.js";
import { atHorizon, mostDraws, type OnsetStudy, type Predictions } from "./study.js";

const calibrationDraws = 50;

/** The metrics of every row at every horizon, their differences, and details. */
export function measured(
	study: OnsetStudy,
	rows: readonly Predictions[],
	notes: readonly string[],
	lookBackDays: number,
): Measured {
	const { options, cohort, horizons } = study;
	const { split, seed } = options;
	const draws = Math.min(options.draws, mostDraws);
	const measuredHorizons = horizons.map((_, index) => atHorizon(study, rows, index));
	const weights = Array.from(
		patientDraws(cohort.patients.length, { draws: Math.min(draws, calibrationDraws), seed }),
		(drawn) => Uint16Array.from(drawn),
	);
	const calibrationErrors = measuredHorizons.map(({ years, calibration }) =>
		calibration.map((curve, row) => {
			const total = calibration.length;
			options.progress?.update({
				label: `calibrating ${years}-year risks: row`,
				done: row,
				total,
			});
			return {
				value: curve.error() ?? Number.NaN,
				drawn: Float64Array.from(weights, (drawn) => curve.error(drawn) ?? Number.NaN),
			};
		}),
	);
	options.progress?.finish();
	const metricsOf = (row: number) =>
		Object.fromEntries(
			measuredHorizons.flatMap(({ years, scores }, index) => {
				const error = calibrationErrors[index]?.[row];
				return Object.entries({
					auroc: scores.mean(row, "auroc"),
					averagePrecision: fromZero(scores.mean(row, "averagePrecision")),
					brier: fromZero(scores.mean(row, "brier")),
					observedToExpected: fromZero(scores.ratio(row, "observedOnsets", "expectedOnsets")),
					weightedCalibrationError:
						error && !Number.isNaN(error.value) ? notNegative(measureOf(error)) : null,
				}).flatMap(([name, measure]) => (measure ? [[`${name} ${years}y`, measure]] : []));
			}),
		);
	const differencesOf = (row: number, than: number) =>
		Object.fromEntries(
			measuredHorizons.flatMap(({ years, scores }) =>
				(["auroc", "averagePrecision", "brier"] as const).flatMap((name) => {
					const measure = scores.difference(row, than, name);
					return measure ? [[`${name} ${years}y`, measure]] : [];
				}),
			),
		);
	const drawsOf = (row: number) =>
		packedDraws(
			Object.fromEntries(
				measuredHorizons.flatMap(({ years, scores }) =>
					(["auroc", "averagePrecision"] as const).flatMap((name) => {
						const mean = scores.drawnMean(row, name);
						return mean ? [[`${name} ${years}y`, mean.drawn]] : [];
					}),
				),
			),
		);
	return {
		task: "onset",
		split,
		seed,
		draws,
		notes: [...notes],
		patients: cohort.patients.length,
		events: cohort.patients.reduce((sum, { history }) => sum + history.tokens.length, 0),
		rows: rows.map(({ name }, row) => ({
			...name,
			metrics: metricsOf(row),
			...(options.keepPatients && { byDraw: drawsOf(row) }),
		})),
		differences: rows.flatMap(({ name }, row) =>
			name.who === "model"
				? rows.slice(row + 1).map((than, i) => ({
						row: name.label,
						than: than.name.label,
						metrics: differencesOf(row, row + 1 + i),
					}))
				: [],
		),
		onset: detailsOf(study, rows, measuredHorizons, lookBackDays),
	};
}
