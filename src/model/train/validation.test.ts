import { expect, test } from "vitest";
import { oneProcess } from "../../base/communicator.js";
import { candidateGains } from "../hazards/gains.js";
import type { PreparedBatch } from "./prepared-batches.js";
import { validate } from "./validation.js";

/** Batches by number, whose losses are known. */
function validationOf(
	losses: readonly { readonly onset: number; readonly onsetsByGain?: readonly number[] }[],
	signal = new AbortController().signal,
) {
	return validate({
		checks: { plan: { count: losses.length } } as never,
		prepared: { ofValidation: async (i: number) => i as unknown as PreparedBatch } as never,
		learner: {
			startLosses: async (batch: unknown) => ({
				async result() {
					const { onset, onsetsByGain } = losses[batch as number];
					return {
						totals: { onset, next: 2 * onset },
						targets: { onset: 10, next: 5 },
						onsetsByGain: onsetsByGain && Float32Array.from(onsetsByGain),
					};
				},
			}),
		} as never,
		signal,
		queue: 2,
		ahead: 1,
		communicator: oneProcess,
	});
}

test("losses are means over the targets of all batches", async () => {
	expect(await validationOf([{ onset: 30 }, { onset: 50 }])).toEqual({
		losses: { onset: 80 / 20, next: 160 / 10 },
	});
});

test("gains are chosen on all batches together, and the loss of first records is with them", async () => {
	expect(candidateGains).toHaveLength(5);
	const validated = await validationOf([
		{ onset: 30, onsetsByGain: [20, 21, 22, 23, 24, 2, 100, 90, 80, 70, 60, 400] },
		{ onset: 50, onsetsByGain: [30, 20, 10, 20, 30, 1, 100, 99, 98, 97, 96, 300] },
	]);
	expect(validated?.losses).toEqual({ onset: (32 + 156) / 20, next: 16 });
	expect(validated?.gains).toEqual(Float32Array.of(0.5, 1));
});

test("who asks to stop gets no losses", async () => {
	expect(await validationOf([{ onset: 1 }], AbortSignal.abort())).toBeUndefined();
});
