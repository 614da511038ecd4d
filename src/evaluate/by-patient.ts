import type { z } from "zod";
import { ratioOf, type Statistic } from "./bootstrap.js";
import type { byDrawSchema, byPatientSchema } from "./evaluation.js";
import { fewShotStatistics, type LabelledPatients, rankStatistics } from "./labelled/statistics.js";

/** Σ parts / Σ wholes over patients, by metric. */
export type Ratios = Readonly<
	Record<string, { readonly parts: ArrayLike<number>; readonly wholes: ArrayLike<number> }>
>;

/** The ratios that some patient contributes to: without a new code, recall of new codes is undefined. */
export const definedRatios = (ratios: Ratios): Ratios =>
	Object.fromEntries(
		Object.entries(ratios).filter(([, { wholes }]) => Array.from(wholes).some((own) => own > 0)),
	);

/** Binary labels with their scores: one set of scores, or one per few-shot draw. */
export interface Scored {
	readonly labelled: LabelledPatients;
	readonly scores: readonly ArrayLike<number>[];
}

/** The contributions of each patient to the numbers of a row. */
export type ByPatient = { readonly ratios: Ratios } | { readonly scored: Scored };

/** Numbers of a row on each bootstrap draw, where patients' contributions are too many to keep. */
export type ByDraw = Readonly<Record<string, Float64Array>>;

/** The statistics of a row. */
export function statisticsOf(own: ByPatient): Readonly<Record<string, Statistic>> {
	if ("ratios" in own)
		return Object.fromEntries(
			Object.entries(own.ratios).map(([name, { parts, wholes }]) => [name, ratioOf(parts, wholes)]),
		);
	const { labelled, scores } = own.scored;
	return scores.length === 1
		? rankStatistics(labelled, scores[0] as ArrayLike<number>)
		: fewShotStatistics(labelled, scores);
}

type Packed = z.infer<typeof byPatientSchema>;

export const packedDraws = (own: ByDraw): z.infer<typeof byDrawSchema> =>
	Object.fromEntries(Object.entries(own).map(([metric, drawn]) => [metric, toText(drawn)]));

export const unpackedDraws = (own: z.infer<typeof byDrawSchema>): ByDraw =>
	Object.fromEntries(
		Object.entries(own).map(([metric, text]) => [metric, new Float64Array(toBytes(text))]),
	);

export function packed(own: ByPatient): Packed {
	if ("ratios" in own)
		return {
			ratios: Object.fromEntries(
				Object.entries(own.ratios).map(([name, { parts, wholes }]) => [
					name,
					{ parts: toText(Float64Array.from(parts)), wholes: toText(Float64Array.from(wholes)) },
				]),
			),
		};
	const { labelled, scores } = own.scored;
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

export function unpacked(own: Packed): ByPatient {
	if ("ratios" in own)
		return {
			ratios: Object.fromEntries(
				Object.entries(own.ratios).map(([name, { parts, wholes }]) => [
					name,
					{ parts: new Float64Array(toBytes(parts)), wholes: new Float64Array(toBytes(wholes)) },
				]),
			),
		};
	const { answers, patients, count, weights, ranks } = own.scored;
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
