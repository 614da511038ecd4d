import type { Random } from "../../base/random.js";
import { specialCount, specialTokens } from "../../cohort/vocabulary.js";
import type { EventBatch } from "../model.js";

/** Slot n holds the token before event n and the time of event n; its target is event n. */
export interface SlotValues {
	readonly tokens: Int32Array;
	readonly times: Float64Array;
	readonly gaps: Float32Array;
	readonly targets: Int32Array;
	/** 1 where the target counts: a real event that is not a birth. */
	readonly weights: Float32Array;
}

function empty(cells: number): SlotValues {
	return {
		tokens: new Int32Array(cells),
		times: new Float64Array(cells),
		gaps: new Float32Array(cells),
		targets: new Int32Array(cells),
		weights: new Float32Array(cells),
	};
}

/** Fills the slots of a batch: slot n asks for the event `ahead(n, events left after n)` places further on. */
function fill(batch: EventBatch, ahead: (left: number) => number): SlotValues {
	const { rows, length, lengths } = batch;
	const slots = empty(rows * length);
	for (let row = 0; row < rows; row++) {
		const events = lengths[row] as number;
		for (let n = 0; n < length; n++) {
			const at = row * length + n;
			const asked = n < events ? at + ahead(events - 1 - n) : at;
			slots.tokens[at] = n === 0 ? specialTokens.sos : (batch.tokens[at - 1] as number);
			slots.times[at] = batch.times[asked] as number;
			slots.gaps[at] =
				n === 0 ? 0 : (batch.times[asked] as number) - (batch.times[at - 1] as number);
			slots.targets[at] = batch.tokens[asked] as number;
			slots.weights[at] = n < events && (batch.tokens[asked] as number) >= specialCount ? 1 : 0;
		}
	}
	return slots;
}

export const nextSlots = (batch: EventBatch): SlotValues => fill(batch, () => 0);

/** From each slot, an event k places further on, with k drawn evenly from 0 to the horizon (or the end). */
export const horizonSlots = (batch: EventBatch, horizon: number, random: Random): SlotValues =>
	fill(batch, (left) => random.integer(Math.min(horizon, left) + 1));
