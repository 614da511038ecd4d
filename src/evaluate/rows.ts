import type { z } from "zod";
import { mapValues } from "../base/map-values.js";
import type { Split } from "../data/cohort/index.js";
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
import type { byPatientSchema, EvaluateOptions, EvaluationRow, Measured } from "./evaluation.js";
import { fewShotStatistics, type LabelledPatients, rankStatistics } from "./labelled/label-set.js";

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

/** With fewer patients, intervals from a bootstrap are too narrow and the sign of a difference means little. */
const fewestPatients = 30;
/** As many must have the label, and as many must not. */
const fewestPerClass = 10;

const splitTitles: Readonly<Record<Split, string>> = {
	train: "training",
	valid: "validation",
	test: "test",
};

const counted = (count: number, split: Split) =>
	`${count} ${splitTitles[split]} ${count === 1 ? "patient" : "patients"}`;

/** Labels that are true, and all labels, of a task that has them. */
interface LabelCounts {
	readonly positive: number;
	readonly all: number;
}

/** Why an evaluation allows no conclusion; undefined if it rests on enough patients. */
export function tooFewText({
	split,
	patients,
	labels,
}: {
	readonly split: Split;
	readonly patients: number;
	readonly labels?: LabelCounts | undefined;
}): string | undefined {
	if (patients < fewestPatients) return `${counted(patients, split)}: no conclusion`;
	if (!labels) return undefined;
	const rarer = Math.min(labels.positive, labels.all - labels.positive);
	if (rarer >= fewestPerClass) return undefined;
	const which = rarer === labels.positive ? "positive" : "negative";
	return `${rarer} ${which} ${rarer === 1 ? "label" : "labels"} of ${counted(patients, split)}: no conclusion`;
}

/** The result of a task: its rows on the same draws of patients, compared, and what is told beside them. */
export function measured(
	task: string,
	{ split, seed, draws, keepPatients = false }: EvaluateOptions,
	rows: readonly PatientRow[],
	{
		labels,
		...beside
	}: Pick<Measured, "patients" | "events" | "notes"> &
		Partial<Measured> & { readonly labels?: LabelCounts },
): Measured {
	const { patients } = beside;
	const tooFew = tooFewText({ split, patients, labels });
	return {
		task,
		split,
		seed,
		draws,
		...beside,
		...(tooFew && { tooFew }),
		...measureRows(rows, patients, { seed, draws, keepPatients }),
	};
}

/** The measures of each row, and the difference of each model row to every later row in the metrics that both have. */
export function measureRows(
	patientRows: readonly PatientRow[],
	patients: number,
	options: BootstrapOptions & { readonly keepPatients?: boolean },
): Required<Pick<Measured, "rows" | "differences">> {
	const statistics = patientRows.map(
		({ byPatient, more }): Readonly<Record<string, Statistic>> => ({
			...(byPatient && statisticsOf(byPatient)),
			...more,
		}),
	);
	const drawnRows = drawPatients(
		patients,
		Object.fromEntries(
			statistics.flatMap((row, i) =>
				Object.entries(row).map(
					([metric, statistic]) => [`row ${i} ${metric}`, statistic] as const,
				),
			),
		),
		options,
	);
	const rows = patientRows.map(({ drawn, ...row }, i) => ({
		...row,
		drawn: {
			...drawn,
			...mapValues(statistics[i], (_, metric) => drawnRows[`row ${i} ${metric}`]),
		},
	}));
	return {
		rows: rows.map(({ name, byPatient, byDraw, drawn, alone }) => ({
			...name,
			metrics: {
				...alone,
				...mapValues(drawn, (values, metric) => possible(metric, measureOf(values))),
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

export function statisticsOf(byPatient: ByPatient): Readonly<Record<string, Statistic>> {
	if ("ratios" in byPatient)
		return mapValues(byPatient.ratios, ({ parts, wholes }) => ratioOf(parts, wholes));
	const { labelled, scores } = byPatient.scored;
	return scores.length === 1
		? rankStatistics(labelled, scores[0])
		: fewShotStatistics(labelled, scores);
}

type Packed = z.infer<typeof byPatientSchema>;

export function packed(byPatient: ByPatient): Packed {
	if ("ratios" in byPatient)
		return {
			ratios: mapValues(byPatient.ratios, ({ parts, wholes }) => ({
				parts: toText(Float64Array.from(parts)),
				wholes: toText(Float64Array.from(wholes)),
			})),
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
			ratios: mapValues(packedRow.ratios, ({ parts, wholes }) => ({
				parts: unpackedFloats(parts),
				wholes: unpackedFloats(wholes),
			})),
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
