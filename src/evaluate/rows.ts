import type { z } from "zod";
import {
	type BootstrapOptions,
	type Drawn,
	difference,
	drawPatients,
	measureOf,
	possible,
	ratioOf,
	type Statistic,
} from "./bootstrap.js";
import type { byDrawSchema, byPatientSchema, EvaluationRow, Measured } from "./evaluation.js";
import { fewShotStatistics, type LabelledPatients, rankStatistics } from "./labelled/label-set.js";

/** The names of a row. */
export type RowName = Omit<EvaluationRow, "metrics" | "byPatient" | "byDraw">;

export interface PatientRow {
	readonly name: RowName;
	readonly byPatient: ByPatient;
	/** Further statistics, whose per-patient values are not kept. */
	readonly more?: Readonly<Record<string, Statistic>>;
}

export const baselines = {
	history: { who: "history", label: "own history" },
	global: { who: "global", label: "code frequencies" },
	oracle: { who: "oracle", label: "reference model" },
	uninformed: { who: "oracle", label: "reference model, policies unknown" },
} as const satisfies Record<string, RowName>;

/** Evaluates all rows on the same draws of patients, and compares them. */
export function measureRows(
	patientRows: readonly PatientRow[],
	patients: number,
	options: BootstrapOptions & { readonly keepPatients?: boolean },
): ComparedRows {
	const rows = patientRows.map(({ byPatient, more }) =>
		Object.entries({ ...statisticsOf(byPatient), ...more }),
	);
	const statistics = rows.flatMap((row, i) =>
		row.map(([metric, statistic]) => [`row ${i} ${metric}`, statistic] as const),
	);
	const drawn = drawPatients(patients, Object.fromEntries(statistics), options);
	return comparedRows(
		patientRows.map(({ name, byPatient }, i) => ({
			name: options.keepPatients ? { ...name, byPatient: packed(byPatient) } : name,
			drawn: Object.fromEntries(rows[i].map(([metric]) => [metric, drawn[`row ${i} ${metric}`]])),
		})),
	);
}

type ComparedRows = Required<Pick<Measured, "rows" | "differences">>;

/** A row with its metrics on all patients and on each draw. */
interface DrawnRow {
	readonly name: Omit<EvaluationRow, "metrics">;
	readonly drawn: Readonly<Record<string, Drawn>>;
}

/** The measures of each row, and the difference of each model row to every later row in the metrics that both have. */
export const comparedRows = (
	rows: readonly DrawnRow[],
	isCompared = (_metric: string): boolean => true,
): ComparedRows => ({
	rows: rows.map(({ name, drawn }) => ({
		...name,
		metrics: Object.fromEntries(
			Object.entries(drawn).map(([metric, values]) => [
				metric,
				possible(metric, measureOf(values)),
			]),
		),
	})),
	differences: rows.flatMap((row, i) =>
		(row.name.who === "model" ? rows.slice(i + 1) : []).map((than) => ({
			row: row.name.label,
			than: than.name.label,
			metrics: Object.fromEntries(
				Object.entries(row.drawn)
					.filter(([metric]) => isCompared(metric) && than.drawn[metric])
					.map(([metric, values]) => [metric, measureOf(difference(values, than.drawn[metric]))]),
			),
		})),
	),
});

/** Σ parts / Σ wholes over patients, by metric. */
export type Ratios = Readonly<
	Record<string, { readonly parts: ArrayLike<number>; readonly wholes: ArrayLike<number> }>
>;

/** The ratios that some patient contributes to: without a new code, recall of new codes is undefined. */
export const definedRatios = (ratios: Ratios): Ratios =>
	Object.fromEntries(
		Object.entries(ratios).filter(([, { wholes }]) =>
			Array.from(wholes).some((total) => total > 0),
		),
	);

/** Binary labels with their scores: one set of scores, or one per few-shot draw. */
interface Scored {
	readonly labelled: LabelledPatients;
	readonly scores: readonly ArrayLike<number>[];
}

/** The contributions of each patient to the numbers of a row. */
export type ByPatient = { readonly ratios: Ratios } | { readonly scored: Scored };

/** Numbers of a row on each bootstrap draw, where patients' contributions are too many to keep. */
type ByDraw = Readonly<Record<string, Float64Array>>;

/** The statistics of a row. */
export function statisticsOf(byPatient: ByPatient): Readonly<Record<string, Statistic>> {
	if ("ratios" in byPatient)
		return Object.fromEntries(
			Object.entries(byPatient.ratios).map(([name, { parts, wholes }]) => [
				name,
				ratioOf(parts, wholes),
			]),
		);
	const { labelled, scores } = byPatient.scored;
	return scores.length === 1
		? rankStatistics(labelled, scores[0])
		: fewShotStatistics(labelled, scores);
}

type Packed = z.infer<typeof byPatientSchema>;

export const packedDraws = (byDraw: ByDraw): z.infer<typeof byDrawSchema> =>
	Object.fromEntries(Object.entries(byDraw).map(([metric, drawn]) => [metric, toText(drawn)]));

export const unpackedDraws = (packedByDraw: z.infer<typeof byDrawSchema>): ByDraw =>
	Object.fromEntries(
		Object.entries(packedByDraw).map(([metric, text]) => [metric, new Float64Array(toBytes(text))]),
	);

export function packed(byPatient: ByPatient): Packed {
	if ("ratios" in byPatient)
		return {
			ratios: Object.fromEntries(
				Object.entries(byPatient.ratios).map(([name, { parts, wholes }]) => [
					name,
					{ parts: toText(Float64Array.from(parts)), wholes: toText(Float64Array.from(wholes)) },
				]),
			),
		};
	const { labelled, scores } = byPatient.scored;
	return {
		scored: {
			answers: toText(labelled.targets),
			patients: toText(Uint32Array.from(labelled.patients)),
			count: labelled.count,
			...(labelled.weights && { weights: toText(labelled.weights) }),
			ranks: scores.map((one) => toText(ranksOf(one))),
		},
	};
}

export function unpacked(packedRow: Packed): ByPatient {
	if ("ratios" in packedRow)
		return {
			ratios: Object.fromEntries(
				Object.entries(packedRow.ratios).map(([name, { parts, wholes }]) => [
					name,
					{ parts: new Float64Array(toBytes(parts)), wholes: new Float64Array(toBytes(wholes)) },
				]),
			),
		};
	const { answers, patients, count, weights, ranks } = packedRow.scored;
	return {
		scored: {
			labelled: {
				targets: new Uint8Array(toBytes(answers)),
				patients: new Int32Array(toBytes(patients)),
				count,
				...(weights !== undefined && { weights: new Float64Array(toBytes(weights)) }),
			},
			scores: ranks.map((one) => new Uint32Array(toBytes(one))),
		},
	};
}

/** Replaces scores by their ranks; equal scores have equal ranks. */
function ranksOf(scores: ArrayLike<number>): Uint32Array {
	const distinct = [...new Set(Array.from(scores))].sort((a, b) => a - b);
	const rankOfScore = new Map(distinct.map((score, rank) => [score, rank]));
	return Uint32Array.from(scores, (score) => rankOfScore.get(score) as number);
}

const toText = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
	Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString("base64");

/** Copies to a new buffer, because small Node buffers start anywhere in a shared one. */
const toBytes = (text: string): ArrayBuffer => Uint8Array.from(Buffer.from(text, "base64")).buffer;
