import type { z } from "zod";
import {
	type BootstrapOptions,
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

/** Evaluates all rows on the same draws of patients, and the difference of each model row to every later row. */
export function measureRows(
	patientRows: readonly PatientRow[],
	patients: number,
	options: BootstrapOptions & { readonly keepPatients?: boolean },
): Pick<Measured, "rows"> & Required<Pick<Measured, "differences">> {
	const rows = patientRows.map(({ name, byPatient, more }) => ({
		name,
		byPatient,
		statistics: { ...statisticsOf(byPatient), ...more } as Record<string, Statistic>,
	}));
	const statistics = new Map<string, Statistic>();
	for (const [i, row] of rows.entries())
		for (const [metric, statistic] of Object.entries(row.statistics))
			statistics.set(`row ${i} ${metric}`, statistic);
	const all = drawPatients(patients, Object.fromEntries(statistics), options);
	const drawn = rows.map(
		({ statistics }, i) =>
			new Map(Object.keys(statistics).map((metric) => [metric, all[`row ${i} ${metric}`]])),
	);
	const pairs = rows.flatMap(({ name }, row) =>
		name.who === "model" ? rows.slice(row + 1).map((_, i) => ({ row, than: row + 1 + i })) : [],
	);
	return {
		rows: rows.map(({ name, byPatient }, row) => ({
			...name,
			metrics: Object.fromEntries(
				Array.from(drawn[row], ([metric, drawnMetric]) => [
					metric,
					possible(metric, measureOf(drawnMetric)),
				]),
			),
			...(options.keepPatients && { byPatient: packed(byPatient) }),
		})),
		differences: pairs.map(({ row, than }) => ({
			row: rows[row].name.label,
			than: rows[than].name.label,
			metrics: Object.fromEntries(
				Array.from(drawn[row]).flatMap(([metric, drawnMetric]) => {
					const other = drawn[than].get(metric);
					return other ? [[metric, measureOf(difference(drawnMetric, other))]] : [];
				}),
			),
		})),
	};
}

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
