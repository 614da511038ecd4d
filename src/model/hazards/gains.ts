import { byFrequency } from "./by-frequency.js";

/** What the gain of an output may be: how much of the network is added to its prior. */
export const candidateGains = [0, 0.25, 0.5, 0.75, 1] as const;

/** Nats that a gain of 1 must be worth; in proportion to its square. */
const shrinkage = 1;

/** Of each output: the loss of its onsets at each candidate gain, then the number of its onsets. */
export type OnsetsByGain = Float64Array; // [outputs, gains + 1]

const width = candidateGains.length + 1;

/** The gain of each output that suits the onsets of people whom the network has not learned from, and their loss with these gains. */
export function chosenGains(onsets: OnsetsByGain): {
	readonly gains: Float32Array; // [outputs]
	readonly loss: number;
} {
	const outputs = Array.from({ length: onsets.length / width }, (_, output) => output);
	const gains = new Float32Array(outputs.length);
	let loss = 0;
	for (const members of byFrequency(
		outputs,
		(output) => onsets[output * width + candidateGains.length],
	)) {
		const losses = candidateGains.map((_, i) =>
			members.reduce((sum, output) => sum + onsets[output * width + i], 0),
		);
		const shrunk = losses.map((nats, i) => nats + shrinkage * candidateGains[i] ** 2);
		const best = shrunk.indexOf(Math.min(...shrunk));
		for (const output of members) gains[output] = candidateGains[best];
		loss += losses[best];
	}
	return { gains, loss };
}
