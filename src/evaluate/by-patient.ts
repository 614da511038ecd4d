import { z } from "zod";
import { ratioOf, type Statistic } from "./bootstrap.js";
import { type Answered, fewShotStatistics, rankStatistics } from "./labelled/statistics.js";

/** Σ parts / Σ wholes over patients, by metric. */
export type Ratios = Readonly<
	Record<string, { readonly parts: ArrayLike<number>; readonly wholes: ArrayLike<number> }>
>;

/** Yes-or-no questions with their scores: one set of them, or one for each draw of few labels. */
export interface Scored {
	readonly answered: Answered;
	readonly scores: readonly ArrayLike<number>[];
}

/** What each patient adds to the numbers of a row. */
export type ByPatient = { readonly ratios: Ratios } | { readonly scored: Scored };

/** The numbers of a row, for any patients drawn. */
export function statisticsOf(own: ByPatient): Readonly<Record<string, Statistic>> {
	if ("ratios" in own)
		return Object.fromEntries(
			Object.entries(own.ratios).map(([name, { parts, wholes }]) => [name, ratioOf(parts, wholes)]),
		);
	const { answered, scores } = own.scored;
	return scores.length === 1
		? rankStatistics(answered, scores[0] as ArrayLike<number>)
		: fewShotStatistics(answered, scores);
}

/** Numbers as base64 of their bytes, the lowest first. */
const numbers = z.base64();

/** What is kept of each patient in a file: numbers in the dataset's order of patients, without their ids. */
export const byPatientSchema = z.union([
	z.strictObject({
		/** float64 */
		ratios: z.record(z.string(), z.strictObject({ parts: numbers, wholes: numbers })),
	}),
	z.strictObject({
		/** uint8; uint32, the patient's number; uint32, the score's rank among the different ones. */
		scored: z.strictObject({
			answers: numbers,
			patients: numbers,
			count: z.int().min(1),
			ranks: z.array(numbers).min(1),
		}),
	}),
]);
type Packed = z.infer<typeof byPatientSchema>;

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
	const { answered, scores } = own.scored;
	return {
		scored: {
			answers: toText(answered.answers),
			patients: toText(Uint32Array.from(answered.patients)),
			count: answered.count,
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
	const { answers, patients, count, ranks } = own.scored;
	return {
		scored: {
			answered: {
				answers: new Uint8Array(toBytes(answers)),
				patients: new Int32Array(toBytes(patients)),
				count,
			},
			scores: ranks.map((one) => new Uint32Array(toBytes(one))),
		},
	};
}

/** Scores by their order alone: equal ones stay equal. */
function ranksOf(scores: ArrayLike<number>): Uint32Array {
	const distinct = [...new Set(Array.from(scores))].sort((a, b) => a - b);
	const places = new Map(distinct.map((score, rank) => [score, rank]));
	return Uint32Array.from(scores, (score) => places.get(score) as number);
}

const toText = ({ buffer, byteOffset, byteLength }: ArrayBufferView): string =>
	Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength).toString("base64");

/** A buffer of its own: a small one of Node begins anywhere in a larger. */
const toBytes = (text: string): ArrayBuffer => Uint8Array.from(Buffer.from(text, "base64")).buffer;
