import { expect, test } from "vitest";
import { candidateGains, chosenGains } from "./gains.js";

/** Rows of outputs: losses at gains 0, ¼, ½, ¾ and 1, then onsets. */
const onsets = (...rows: readonly (readonly number[])[]) => Float64Array.from(rows.flat());

test("outputs with about as many onsets share the gain with which they lose least together", () => {
	expect(candidateGains).toEqual([0, 0.25, 0.5, 0.75, 1]);
	const { gains, loss } = chosenGains(
		onsets(
			[50, 49, 48, 49, 50, 9], // rare: ½ suits both
			[50, 46, 44, 45, 50, 3],
			[900, 890, 880, 870, 860, 120], // more frequent: 1
			[900, 899, 898, 897, 899, 999],
			[5000, 5010, 5020, 5030, 5040, 2000], // the network is of no use
		),
	);
	expect([...gains]).toEqual([0.5, 0.5, 1, 1, 0]);
	expect(loss).toBe(48 + 44 + 860 + 899 + 5000);
});

test("what hardly helps is left out", () => {
	const { gains } = chosenGains(onsets([50, 49.99, 49.9, 49.8, 49.7, 5]));
	expect([...gains]).toEqual([0]);
});
