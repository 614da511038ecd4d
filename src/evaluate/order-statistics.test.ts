import fc from "fast-check";
import { expect, test } from "vitest";
import { ascendingOrder, countUpTo, pick } from "./order-statistics.js";

const values = fc.array(fc.oneof(fc.integer({ min: -2, max: 2 }), fc.double({ noNaN: true })));

test("sorts indices by value, and leaves equal values in their order", () => {
	fc.assert(
		fc.property(values, (all) => {
			const slow = all.map((_, at) => at).sort((a, b) => Math.sign(all[a]! - all[b]! || 0));
			expect([...ascendingOrder(all)]).toEqual(slow);
			const sorted = all.toSorted((a, b) => Math.sign(a - b || 0));
			expect([...pick(all, ascendingOrder(all))].map((value) => value + 0)).toEqual(
				sorted.map((value) => value + 0),
			);
		}),
	);
});

test("leaves equal values in the order that is given", () => {
	expect([...ascendingOrder([5, 1, 5, 1], Int32Array.of(3, 2, 1, 0))]).toEqual([3, 1, 2, 0]);
});

test("counts values up to a limit", () => {
	fc.assert(
		fc.property(values, fc.integer({ min: -3, max: 3 }), (all, limit) => {
			const sorted = all.toSorted((a, b) => a - b);
			expect(countUpTo(sorted, limit)).toBe(all.filter((value) => value <= limit).length);
		}),
	);
});
