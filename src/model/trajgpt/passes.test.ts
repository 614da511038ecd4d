import { expect, test } from "vitest";
import { reuseSlotPredictions } from "./passes.js";

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
