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
import type { byPatientSchema, EvaluationRow, Measured } from "./evaluation.js";
import { fewShotStatistics, type LabelledPatients, rankStatistics } from "./labelled/label-set.js";
import type { EvaluateOptions } from "./options.js";

/** The names of a row. */
export type RowName = Omit<EvaluationRow, "metrics" | "byPatient" | "byDraw">;

/** A row, before its numbers are measured. */
export interface PatientRow {
	readonly name: RowName;
	readonly byPatient?: ByPatient;
	/** Further statistics, whose per-patient values are not kept. */
	readonly more?: Readonly<Record<string, Statistic>>;
	/** Metrics that were drawn before, with those draws that are kept. */
	readonly drawn?: Readonly<Record<string, Drawn>>;
	readonly byDraw?: readonly string[];
	/** Measures of which no differences are taken. */
	readonly alone?: EvaluationRow["metrics"];
	/** Whether the row has differences at all; true by default. */
	readonly isCompared?: boolean;
}

export const baselines = {
	history: { who: "history", label: "own history" },
	global: { who: "global", label: "code frequencies" },
	oracle: { who: "oracle", label: "reference model" },
	uninformed: { who: "oracle", label: "reference model, policies unknown" },
} as const satisfies Record<string, RowName>;

/** The result of a task: its rows on the same draws of patients, compared, and what is told beside them. */
export const measured = (
	task: string,
	options: Pick<EvaluateOptions, "split" | "seed" | "draws" | "keepPatients">,
	rows: readonly PatientRow[],
	beside: Pick<Measured, "patients" | "events" | "notes"> & Partial<Measured>,
): Measured => ({
	task,
	split: options.split,
	seed: options.seed,
	draws: options.draws,
	...beside,
	...measureRows(rows, beside.patients, options),
});

/** The measures of each row, and the difference of each model row to every later row in the metrics that both have. */
export function measureRows(
	patientRows: readonly PatientRow[],
	patients: number,
	options: BootstrapOptions & { readonly keepPatients?: boolean },
): Required<Pick<Measured, "rows" | "differences">> {
	const statistics = patientRows.map(({ byPatient, more }) =>
		Object.entries({ ...(byPatient && statisticsOf(byPatient)), ...more }),
	);
	const all = drawPatients(
		patients,
		Object.fromEntries(
			statistics.flatMap((row, i) =>
				row.map(([metric, statistic]) => [`row ${i} ${metric}`, statistic] as const),
			),
		),
		options,
	);
	const rows = patientRows.map(({ drawn = {}, ...row }, i) => ({
		...row,
		drawn: {
			...drawn,
			...Object.fromEntries(statistics[i].map(([metric]) => [metric, all[`row ${i} ${metric}`]])),
		},
	}));
	return {
		rows: rows.map(({ name, byPatient, byDraw, drawn, alone }) => ({
			...name,
			metrics: {
				...alone,
				...Object.fromEntries(
					Object.entries(drawn).map(([metric, values]) => [
						metric,
						possible(metric, measureOf(values)),
					]),
				),
			},
			...(options.keepPatients && byPatient && { byPatient: packed(byPatient) }),
			...(options.keepPatients &&
				byDraw && {
					byDraw: Object.fromEntries(byDraw.map((metric) => [metric, toText(drawn[metric].drawn)])),
				}),
		})),
		differences: rows
			.filter(({ isCompared = true }) => isCompared)
			.flatMap((row, i, compared) =>
				(row.name.who === "model" ? compared.slice(i + 1) : []).map((than) => ({
					row: row.name.label,
					than: than.name.label,
					metrics: Object.fromEntries(
						Object.entries(row.drawn)
							.filter(([metric]) => than.drawn[metric])
							.map(([metric, values]) => [
								metric,
								measureOf(difference(values, than.drawn[metric])),
							]),
					),
				})),
			),
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
					{ parts: unpackedFloats(parts), wholes: unpackedFloats(wholes) },
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
				...(weights !== undefined && { weights: unpackedFloats(weights) }),
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

export const toText = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
	Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString("base64");

/** Copies to a new buffer, because small Node buffers start anywhere in a shared one. */
const toBytes = (text: string): ArrayBuffer => Uint8Array.from(Buffer.from(text, "base64")).buffer;

export const unpackedFloats = (text: string): Float64Array => new Float64Array(toBytes(text));
