import * as statistics from "../bootstrap.js";
import { evenShares } from "../calibration.js";
import type { Measure } from "../evaluation.js";
import { highRiskShares, onsetCalibration } from "../survival/at-horizon.js";
import { poolFollowUps, poolValues, sortFollowUp } from "../survival/follow-up.js";
import type { DrawTable, ScoresByDraw } from "../survival/score-draws.js";
import * as scoring from "./code-scores.js";
import * as studies from "./study.js";

/** What is measured at one horizon. */
export type MeasuredHorizon = Awaited<ReturnType<typeof measureHorizon>>;

/** Of rows in a set of codes: what is added to names of metrics, the rows that predict them all, and the sums over codes. */
export interface CodeSet {
	readonly suffix: "" | " all";
	readonly rows: readonly studies.Predictions[];
	readonly sums: ReturnType<typeof scoring.codeSums>;
}

/** The codes of a horizon: those that every row predicts. A row that predicts no rare code is measured without them. */
function codesAt(
	{ dataset, codes, horizons }: studies.OnsetStudy,
	rows: readonly studies.Predictions[],
	horizonIndex: number,
) {
	const days = studies.daysOf(horizons[horizonIndex]);
	const vocab = dataset.vocabulary.size;
	const risksOf = (row: studies.Predictions, { token, patient }: studies.CodeFollowUp) =>
		Float64Array.from(patient, (one) => row.risks[horizonIndex]?.[one * vocab + token]);
	const predicts = (row: studies.Predictions, { token, patient }: studies.CodeFollowUp) =>
		patient.every((one) => !Number.isNaN(row.risks[horizonIndex]?.[one * vocab + token]));
	const enough = studies.measuredCodes(codes, days);
	const rarer = studies
		.measuredCodes(codes, days, studies.rareOnsets)
		.filter((code) => !enough.includes(code));
	const rowsOfRare =
		rarer.length === 0 ? rows : rows.filter((row) => rarer.some((code) => predicts(row, code)));
	return {
		frequent: enough.filter((code) => rows.every((row) => predicts(row, code))),
		rare: rarer.filter((code) => rowsOfRare.every((row) => predicts(row, code))),
		rowsOfRare,
		risksOf,
	};
}

/** Scores every code on every draw, and adds them up. */
export async function measureHorizon(
	study: studies.OnsetStudy,
	rows: readonly studies.Predictions[],
	horizonIndex: number,
	table: DrawTable,
) {
	const { options } = study;
	const years = study.horizons[horizonIndex];
	const days = studies.daysOf(years);
	const { frequent, rare, rowsOfRare, risksOf } = codesAt(study, rows, horizonIndex);
	const sets = {
		frequent: { suffix: "", rows, sums: scoring.codeSums(rows.length, options.draws) },
		all: {
			suffix: " all",
			rows: rowsOfRare,
			sums: scoring.codeSums(rowsOfRare.length, options.draws),
		},
	} as const satisfies Readonly<Record<string, CodeSet>>;
	const ofCodes: CodeMeasures[][] = [];
	const toScore = (codes: readonly studies.CodeFollowUp[], of: readonly studies.Predictions[]) =>
		codes.map((code) => () => ({
			followUp: code,
			days,
			risks: of.map((row) => risksOf(row, code)),
		}));
	await scoring.scoreCodes(
		[...toScore(frequent, rows), ...toScore(rare, rowsOfRare)],
		rows.length * [...frequent, ...rare].reduce((sum, { time }) => sum + time.length, 0),
		table,
		{ ...options, label: `scoring ${years}-year risks: code` },
		(scores, code) => {
			if (code >= frequent.length) return sets.all.sums.add(scores);
			ofCodes.push(scores.map(codeMeasures));
			sets.frequent.sums.add(scores);
			sets.all.sums.add(scores.filter((_, row) => rowsOfRare.includes(rows[row])));
		},
	);
	options.progress?.finish();
	const pooled = sortFollowUp(poolFollowUps(frequent));
	const pooledRisks = (row: studies.Predictions) =>
		poolValues(frequent.map((code) => risksOf(row, code)));
	const calibrationErrors = rows.map((row, done) => {
		const label = `calibrating ${years}-year risks: row`;
		options.progress?.update({ label, done, total: rows.length });
		const { error } = onsetCalibration(pooled, days, pooledRisks(row), highRiskShares);
		return scoring.onEveryDraw(table, (weights) => error(weights));
	});
	options.progress?.finish();
	const [first] = rows;
	const firstRisks = first ? pooledRisks(first) : new Float64Array(pooled.entries);
	return {
		years,
		days,
		frequent,
		rare,
		risksOf,
		ofCodes,
		calibrationErrors,
		sets: [sets.frequent, sets.all] as readonly CodeSet[],
		/** All frequent codes, and what the first row predicts. */
		pooled: {
			followUp: pooled,
			risks: firstRisks,
			bins: onsetCalibration(pooled, days, firstRisks, evenShares(10)).bins(),
		},
	};
}

/** The measures of a frequent code that have intervals. */
type CodeMeasures = Readonly<
	Record<"auroc" | "averagePrecision" | "observedToExpected", Measure | null>
>;

function codeMeasures(scores: ScoresByDraw): CodeMeasures {
	const measure = (name: keyof CodeMeasures) => {
		const drawn = scoring.ofCode(scores, name);
		return drawn && statistics.possible(name, statistics.measureOf(drawn));
	};
	return {
		auroc: measure("auroc"),
		averagePrecision: measure("averagePrecision"),
		observedToExpected: measure("observedToExpected"),
	};
}
