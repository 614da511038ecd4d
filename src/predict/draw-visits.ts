import { probabilityOf } from "../base/log-odds.js";
import type { Random } from "../base/random.js";
import { type HazardSettings, visitBinsOf } from "../model/hazards/settings.js";
import type { FutureStep, FutureSteps } from "../model/predictor.js";
import type { PartialFuture } from "./partial-future.js";

/** Records of one day, at most. */
const mostRecords = 64;

/** What ends a wait, or a bin of it. */
type Happening = "visit" | "death" | "visit and death" | "nothing";

/**
 * Draws what comes first in the bin that a future waits in. A hazard is the probability per day at risk, as it was
 * learned: the records divided by the days.
 */
export function waitSampler(settings: HazardSettings, { visitBins }: FutureSteps) {
	const { to, within } = visitBinsOf(settings);
	return (future: PartialFuture, row: number, step: FutureStep): Happening => {
		const { draw } = future;
		for (let bin = within.indexOf(future.bin); within[bin] === future.bin; bin++) {
			const at = row * visitBins + bin;
			const seen = Math.exp(step.visits[at] as number);
			const dies = Math.exp(step.deaths[at] as number);
			while (future.waited < (to[bin] as number)) {
				future.waited++;
				if (draw.uniform() < seen) {
					future.records = drawRecords(draw, step, at);
					const newCodes = future.records === 1 ? step.newAlone : step.newCodes;
					future.newShare = probabilityOf(newCodes[at] as number);
					return draw.uniform() < dies ? "visit and death" : "visit";
				}
				if (draw.uniform() < dies) return "death";
			}
		}
		return "nothing";
	};
}

/** How many records a visit has. */
function drawRecords(draw: Random, { oneRecord, visitEnd }: FutureStep, at: number): number {
	if (draw.uniform() < probabilityOf(oneRecord[at] as number)) return 1;
	const last = probabilityOf(visitEnd[at] as number);
	let records = 2;
	while (records < mostRecords && draw.uniform() >= last) records++;
	return records;
}

/** Draws the token at which the sum of probabilities passes a uniform number, among some kinds; −1 if there is none. */
export function tokenSampler(vocab: number) {
	const sums = new Float64Array(vocab);
	return (
		logits: Float32Array, // [rows, vocab]
		row: number,
		uniform: number,
		kinds: Uint8Array, // [vocab]
		wanted: number,
	): number => {
		const first = row * vocab;
		const isWanted = (token: number) => ((kinds[token] as number) & wanted) !== 0;
		let highest = Number.NEGATIVE_INFINITY;
		for (let token = 0; token < vocab; token++)
			if (isWanted(token)) highest = Math.max(highest, logits[first + token] as number);
		let total = 0;
		let last = -1;
		for (let token = 0; token < vocab; token++) {
			if (isWanted(token)) {
				total += Math.exp((logits[first + token] as number) - highest);
				last = token;
			}
			sums[token] = total;
		}
		const passed = uniform * total;
		for (let token = 0; token < last; token++) if ((sums[token] as number) > passed) return token;
		return last;
	};
}
