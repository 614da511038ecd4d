import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { reuseSlotPredictions } from "./passes.js";
import { updatedStates } from "./state-update.js";

test.each([
	{ heads: 4, key: 24, value: 48 },
	{ heads: 1, key: 1, value: 279 },
	{ heads: 3, key: 5, value: 3 },
	{ heads: 2, key: 3, value: 17 },
])("S = γ S + kᵀ v with $heads heads, keys of $key and values of $value", (shape) => {
	const { heads, key, value } = shape;
	const draw = random(1);
	const rows = 3;
	const [other, own] = updatedStates(rows, [{ heads: 1, key: 1, value: 1 }, shape]);
	for (const array of [own.state, own.decay, own.k, own.v])
		for (const i of array.keys()) array[i] = draw.normal();
	const before = own.state.slice();
	own.update(1);
	for (let row = 0; row < rows; row++)
		for (let head = row * heads; head < (row + 1) * heads; head++)
			for (let i = 0; i < key; i++)
				for (let j = 0; j < value; j++) {
					const at = (head * key + i) * value + j;
					const decayed = Math.fround(own.decay[head] * before[at]);
					const added = Math.fround(own.k[head * key + i] * own.v[head * value + j]);
					expect(own.state[at]).toBe(row === 1 ? Math.fround(decayed + added) : before[at]);
				}
	expect(other.state.every((number) => number === 0)).toBe(true);
});

const query = (index: number, time: number, position: number) => ({
	...{ index, time, position, token: 5, gap: 0 },
});

test("reuses the predictions of slots for queries at the times of events", () => {
	const events = { tokens: [3, 5, 6, 7], times: [0, 10, 10, 20] };
	const queries = [query(0, 10, 1), query(1, 15, 3), query(2, 20, 3), query(3, 30, 4)];
	const rows = [
		{ patient: 0, events, queries },
		{ patient: 1, events, queries: queries.slice(0, 1) },
	];
	const { remaining, remainingCount, feeds } = reuseSlotPredictions(rows, 2, {
		...{ from: 0, slots: 4, queryCount: 4, again: false },
		queries: rows.map(({ queries }) => queries),
	});
	// The last query of a row always remains.
	expect(remaining).toEqual([[queries[1], queries[3]], [queries[0]]]);
	expect(remainingCount).toBe(2);
	// Six per row: four slots and two queries.
	const [first, second] = [
		[...[0, 1, 2, 3], ...[1, 4, 3, 5]],
		[...[6, 7, 8, 9], ...[10, 0, 0, 0]],
	];
	expect([...(feeds["selected.stream"] ?? [])]).toEqual([...first, ...second]);
	expect([...(feeds["selected.positions"] ?? [])]).toEqual([1, 3, 3, 4, 1, 0, 0, 0]);
});
