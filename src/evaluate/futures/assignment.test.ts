import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import { assign } from "./sequence-metrics.js";

const matrices = fc
	.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 }))
	.chain(([rows, columns]) =>
		fc.record({
			rows: fc.constant(rows),
			columns: fc.constant(columns),
			costs: fc.array(
				fc.oneof(fc.integer({ min: -3, max: 3 }), fc.double({ min: -9, max: 9, noNaN: true })),
				{
					minLength: rows * columns,
					maxLength: rows * columns,
				},
			),
		}),
	);

/** The least cost over all ways to give `rows` rows different columns; all if there are enough columns. */
function slowCost(costs: readonly number[], rows: number, columns: number): number {
	const from = (row: number, used: readonly number[]): number => {
		if (row === rows) return used.length === Math.min(rows, columns) ? 0 : Number.POSITIVE_INFINITY;
		const options = Array.from({ length: columns }, (_, column) => column)
			.filter((column) => !used.includes(column))
			.map((column) => costs[row * columns + column]! + from(row + 1, [...used, column]));
		return Math.min(from(row + 1, used), ...options);
	};
	return from(0, []);
}

const costOf = (costs: ArrayLike<number>, columns: number, assigned: Int32Array) =>
	assigned.reduce(
		(sum, column, row) => (column < 0 ? sum : sum + costs[row * columns + column]!),
		0,
	);

describe("assign", () => {
	test("finds the least cost of all assignments", () => {
		fc.assert(
			fc.property(matrices, ({ rows, columns, costs }) => {
				const assigned = assign(costs, rows, columns);
				const used = [...assigned].filter((column) => column >= 0);
				expect(assigned).toHaveLength(rows);
				expect(new Set(used).size).toBe(Math.min(rows, columns));
				expect(used.every((column) => column < columns)).toBe(true);
				expect(costOf(costs, columns, assigned)).toBeCloseTo(slowCost(costs, rows, columns), 9);
			}),
			{ numRuns: 300 },
		);
	});

	test("of a large matrix has potentials that prove it", () => {
		const size = 200;
		const { uniform } = random(1);
		// Costs a + b + slack with zero slack on a hidden permutation: that permutation is the best.
		const hidden = random(2).shuffle(Array.from({ length: size }, (_, at) => at));
		const [a, b] = [0, 1].map(() => Float64Array.from({ length: size }, () => 10 * uniform()));
		const costs = Float64Array.from({ length: size * size }, (_, at) => {
			const [row, column] = [Math.floor(at / size), at % size];
			return a![row]! + b![column]! + (hidden[row] === column ? 0 : uniform());
		});
		expect([...assign(costs, size, size)]).toEqual(hidden);
	});

	test.each([
		["too few costs", [1, 2, 3], 2, 2, "3 costs"],
		["an infinite cost", [1, Number.POSITIVE_INFINITY], 1, 2, "cost 1 is Infinity"],
	])("rejects %s", (_, costs, rows, columns, reason) => {
		expect(() => assign(costs, rows, columns)).toThrow(InputError);
		expect(() => assign(costs, rows, columns)).toThrow(reason);
	});
});
