import type { Random } from "../../base/random.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { HazardSettings } from "./settings.js";
import { mostDirectCodes, outputsOf } from "./settings.js";

/** How many outputs a batch learns from; undefined: from all. Groups and death are always among them. */
export function sampleSize(settings: HazardSettings, vocab: number): number | undefined {
	if (vocab <= mostDirectCodes) return undefined;
	return mostDirectCodes + outputsOf(settings, vocab).count - vocab;
}

export interface SampledOutputs {
	readonly outputs: Int32Array;
	/** 1 / the probability of being sampled: weighted sums estimate those over all outputs without bias. */
	readonly weights: Float32Array;
}

/**
 * Outputs for a batch: groups and death, half of the rest from codes that are recorded after a landmark (all of
 * them, if there are fewer), which tell most, and the others evenly.
 */
export function sampleOutputs(
	settings: HazardSettings,
	vocab: number,
	/** Days at risk of all outputs; negative where they end with a record. */
	risk: Float32Array, // [landmarks, outputs]
	size: number,
	random: Random,
): SampledOutputs {
	const { count } = outputsOf(settings, vocab);
	const isRecorded = new Uint8Array(count);
	for (let at = 0; at < risk.length; at++) if ((risk[at] as number) < 0) isRecorded[at % count] = 1;
	const codes = Array.from({ length: vocab - specialCount }, (_, i) => specialCount + i);
	const [recorded, others] = [1, 0].map((is) =>
		codes.filter((code) => isRecorded[code] === is),
	) as [number[], number[]];
	const room = size - (count - vocab);
	const most = Math.max(Math.floor(room / 2), room - others.length);
	const drawn = random.shuffle(recorded).slice(0, most);
	const rest = random.shuffle(others).slice(0, room - drawn.length);
	const sampled = [
		...drawn.map((output) => ({ output, weight: recorded.length / drawn.length })),
		...rest.map((output) => ({ output, weight: others.length / rest.length })),
		...Array.from({ length: count - vocab }, (_, i) => ({ output: vocab + i, weight: 1 })),
	];
	return {
		outputs: Int32Array.from(sampled, ({ output }) => output),
		weights: Float32Array.from(sampled, ({ weight }) => weight),
	};
}

/** Some columns of a matrix. */
export function columnsOf(matrix: Float32Array, width: number, columns: Int32Array): Float32Array {
	const rows = matrix.length / width;
	const found = new Float32Array(rows * columns.length);
	for (let row = 0; row < rows; row++)
		for (let i = 0; i < columns.length; i++)
			found[row * columns.length + i] = matrix[row * width + (columns[i] as number)] as number;
	return found;
}
