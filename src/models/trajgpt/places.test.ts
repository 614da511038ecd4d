import { expect, test } from "vitest";
import { input } from "../../graph/index.js";
import { evaluate } from "../../runtime/testing/evaluate.js";
import type { Reading } from "./attention.js";
import { placesOf } from "./places.js";

const dtype = "float64";

/** Two rows of four slots, and three questions a row. */
async function placed(
	read: Reading,
	questions: number,
	given: { real?: number[]; seen?: number[] },
) {
	const { places, seen } = placesOf({
		...{ batch: 2, slots: 4, dtype },
		real: given.real && input("real", [2, 4], dtype),
		seen: given.seen && input("seen", [2, 1], dtype),
		questions: { tokens: input("tokens", [2, questions], "int32"), read },
	});
	return evaluate({ at: places, after: seen }, { ...given, places: [0, 1, 4, 4, 2, 3] });
}

test("slots count up, with the question of the same place, or all questions after the last", async () => {
	expect(await placed("before", 4, {})).toEqual({
		at: [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3],
		after: [4, 4],
	});
	expect(await placed("after", 3, { seen: [10, 0] })).toEqual({
		at: [10, 11, 12, 13, 14, 14, 14, 0, 1, 2, 3, 4, 4, 4],
		after: [14, 4],
	});
});

test("padding is not counted, and the end of a row is after its last real slot", async () => {
	const real = [1, 0, 1, 1, 1, 1, 0, 0];
	expect(await placed("after", 1, { real, seen: [0, 5] })).toEqual({
		at: [0, 1, 1, 2, 3, 5, 6, 7, 7, 7],
		after: [3, 7],
	});
	const between = { places: input("places", [2, 3], "int32") };
	expect(await placed(between, 3, { real: [1, 1, 1, 1, 1, 1, 0, 0] })).toEqual({
		at: [0, 1, 2, 3, 0, 1, 4, 0, 1, 2, 2, 2, 2, 2],
		after: [4, 2],
	});
});
