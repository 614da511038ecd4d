import fc from "fast-check";
import { expect, test } from "vitest";
import { addDims, type Dim, divideDims, multiplyDims, sizeGiven, subtractDims } from "./dims.js";

const sizes = { rows: 3, slots: 7, queries: 5 };
const simple: fc.Arbitrary<Dim> = fc.oneof(
	fc.constantFrom("rows", "slots", "queries"),
	fc.integer({ min: 1, max: 9 }),
);
/** Sums of products of up to three. */
const dim: fc.Arbitrary<Dim> = fc
	.array(fc.array(simple, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
	.map((terms) => addDims(...terms.map((factors) => multiplyDims(...factors))));
const at = (value: Dim) => sizeGiven(value, sizes);

test("expressions obey arithmetic, and equal ones have one form", () => {
	fc.assert(
		fc.property(dim, dim, dim, (a, b, c) => {
			expect(at(addDims(a, b))).toBe(at(a) + at(b));
			expect(at(multiplyDims(a, b))).toBe(at(a) * at(b));
			expect(addDims(a, b)).toBe(addDims(b, a));
			expect(multiplyDims(a, addDims(b, c))).toBe(addDims(multiplyDims(a, b), multiplyDims(c, a)));
			expect(subtractDims(addDims(a, b), b)).toBe(a);
		}),
	);
});

test("a product can be divided by its factors only", () => {
	fc.assert(
		fc.property(dim, dim, (a, b) => {
			expect(divideDims(multiplyDims(a, b), b)).toBe(a);
		}),
	);
	expect(divideDims("questions*rows+rows*slots", "questions+slots")).toBe("rows");
	expect(divideDims("rows", "slots")).toBeUndefined();
	expect(divideDims("3*rows+1", 3)).toBeUndefined();
	expect(divideDims(7, 2)).toBeUndefined();
	expect(divideDims("rows+slots", "rows+slots")).toBe(1);
});

test("expressions are parsed and printed in the usual notation", () => {
	expect(addDims("slots", "queries")).toBe("queries+slots");
	expect(addDims("length", 1)).toBe("length+1");
	expect(multiplyDims("slots", 2, "rows")).toBe("2*rows*slots");
	expect(subtractDims("queries+slots", "slots")).toBe("queries");
	expect(() => sizeGiven("rows+heads", sizes)).toThrow('the size "heads" is open');
});
