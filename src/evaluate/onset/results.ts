import * as statistics from "../bootstrap.js";
import type { Measure, Measured } from "../evaluation.js";
import { drawTable, type Ratio } from "./code-scores.js";
import { detailsOf } from "./details.js";
import { type CodeSet, type MeasuredHorizon, measureHorizon } from "./measured-horizon.js";
import type { OnsetStudy, Predictions } from "./study.js";

/** 1 − Brier score / Brier score of the observed incidence. */
const skillOf = ({ value, drawn }: statistics.Drawn): statistics.Drawn => ({
	value: 1 - value,
	drawn: drawn.map((one) => 1 - one),
});

/** On every draw, of the way on everybody: dividing by a shorter one, shares would have no useful interval. */
const leastWay = 0.2;

/** How far a row is on the way from one row to another: 0 as the first, 1 as the second. Null if the way is too uncertain. */
function shareOfWay(
	row: statistics.Drawn | null,
	from: statistics.Drawn | null,
	to: statistics.Drawn | null,
): statistics.Drawn | null {
	if (!row || !from || !to) return null;
	const way = statistics.difference(to, from);
	if (!way.drawn.every((one) => one / way.value >= leastWay)) return null;
	const gone = statistics.difference(row, from);
	return {
		value: gone.value / way.value,
		drawn: gone.drawn.map((one, draw) => one / way.drawn[draw]),
	};
}

/** The metrics of a row in a set of codes, in the order in which they are read. */
function metricsIn(
	{ suffix, rows, sums }: CodeSet,
	row: Predictions,
	years: number,
): Readonly<Record<string, statistics.Drawn>> {
	if (!rows.includes(row)) return {};
	const ratioOf = (one: Predictions | undefined, name: Ratio) =>
		one ? sums.ratio(rows.indexOf(one), name) : null;
	const brier = ratioOf(row, "brier");
	const ageAndSex = rows.find(({ name }) => name.who === "global");
	const reference = rows.find(({ name }) => name.who === "oracle");
	const isBetween = row !== ageAndSex && row !== reference;
	const share = (name: Ratio) =>
		isBetween
			? shareOfWay(ratioOf(row, name), ratioOf(ageAndSex, name), ratioOf(reference, name))
			: null;
	const all = {
		logLoss: ratioOf(row, "logLoss"),
		auroc: ratioOf(row, "auroc"),
		averagePrecision: ratioOf(row, "averagePrecision"),
		brierSkill: brier && skillOf(brier),
		logLossShare: share("logLoss"),
		aurocShare: share("auroc"),
	};
	return Object.fromEntries(
		Object.entries(all).flatMap(([name, drawn]) =>
			drawn ? [[`${name} ${years}y${suffix}`, drawn]] : [],
		),
	);
}

/** The metrics of every row at every horizon. */
export async function measureOnsetRows(study: OnsetStudy, rows: readonly Predictions[]) {
	const { options, cohort, horizons } = study;
	const table = drawTable(cohort.patients.length, options);
	const measuredHorizons: MeasuredHorizon[] = [];
	for (const index of horizons.keys())
		measuredHorizons.push(await measureHorizon(study, rows, index, table));
	const patientRows = rows.map((row, place) => {
		const drawn: Record<string, statistics.Drawn> = {};
		const alone: Record<string, Measure> = {};
		for (const { years, sets, calibrationErrors } of measuredHorizons) {
			for (const set of sets) {
				Object.assign(drawn, metricsIn(set, row, years));
				const ratio = set.rows.includes(row)
					? set.sums.ratio(set.rows.indexOf(row), "observedToExpected")
					: null;
				if (ratio)
					alone[`observedToExpected ${years}y${set.suffix}`] = statistics.notNegative(
						statistics.measureOf(ratio),
					);
			}
			const error = calibrationErrors[place];
			if (error) drawn[`weightedCalibrationError ${years}y`] = error;
		}
		return { name: row.name, drawn, alone };
	});
	return { measuredHorizons, patientRows };
}

/** The metrics of every row at every horizon, their differences, and details. */
export async function onsetResults(
	study: OnsetStudy,
	rows: readonly Predictions[],
	notes: readonly string[],
	lookBackDays: number,
): Promise<Measured> {
	const { options, cohort } = study;
	const { measuredHorizons, patientRows } = await measureOnsetRows(study, rows);
	return statistics.measured("onset", options, patientRows, {
		notes: [...notes],
		patients: cohort.patients.length,
		events: cohort.patients.reduce((sum, { history }) => sum + history.tokens.length, 0),
		onset: detailsOf(study, rows, measuredHorizons, lookBackDays),
	});
}
