import { expect, test } from "vitest";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import type { Reading } from "./layer.js";
import { positionsOf } from "./network.js";

const dtype = "float64";

/** Two rows of four slots, and three queries per row. */
async function positionsFor(
	read: Reading,
	queries: number,
	given: { mask?: number[]; seen?: number[] },
) {
	const { positions, seen } = positionsOf({
		...{ batch: 2, slots: 4, dtype },
		mask: given.mask && input("mask", [2, 4], dtype),
		seen: given.seen && input("seen", [2, 1], dtype),
		queries: { tokens: input("tokens", [2, queries], "int32"), read },
	});
	return evaluate({ at: positions, after: seen }, { ...given, positions: [0, 1, 4, 4, 2, 3] });
}

test("counts slots up; queries take the position of their slot, or all that after the last", async () => {
	expect(await positionsFor("before", 4, {})).toEqual({
		at: [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3],
		after: [4, 4],
	});
	expect(await positionsFor("after", 3, { seen: [10, 0] })).toEqual({
		at: [10, 11, 12, 13, 14, 14, 14, 0, 1, 2, 3, 4, 4, 4],
		after: [14, 4],
	});
});

test("padding is not counted, and a row ends after its last event", async () => {
	const mask = [1, 0, 1, 1, 1, 1, 0, 0];
	expect(await positionsFor("after", 1, { mask, seen: [0, 5] })).toEqual({
		at: [0, 1, 1, 2, 3, 5, 6, 7, 7, 7],
		after: [3, 7],
	});
	const between = { positions: input("positions", [2, 3], "int32") };
	expect(await positionsFor(between, 3, { mask: [1, 1, 1, 1, 1, 1, 0, 0] })).toEqual({
		at: [0, 1, 2, 3, 0, 1, 4, 0, 1, 2, 2, 2, 2, 2],
		after: [4, 2],
	});
});
