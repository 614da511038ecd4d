import { expect, test } from "vitest";
import { evenlySpread, takenOf } from "./arrays.js";

test("takes all items, or as many as allowed from the whole range", () => {
	expect(evenlySpread([1, 2, 3], 3)).toEqual([1, 2, 3]);
	expect(evenlySpread(Int32Array.of(0, 1, 2, 3, 4, 5, 6, 7, 8, 9), 4)).toEqual([0, 2, 5, 7]);
	expect(evenlySpread([], 4)).toEqual([]);
	const many = evenlySpread(
		Int32Array.from({ length: 250_000 }, (_, i) => i),
		100_000,
	);
	expect(new Set(many).size).toBe(100_000);
	expect([many[0], many.at(-1)]).toEqual([0, 249_997]);
});

test("says whether something was left out", () => {
	expect(takenOf(100_000, 100_000)).toBe("100,000");
	expect(takenOf(100_001, 100_000)).toBe("100,000 (evenly spread) of 100,001");
});
