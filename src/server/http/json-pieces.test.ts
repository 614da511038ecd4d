import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonPieces, TooLong } from "./json-pieces.js";

const textOf = (value: object) => Buffer.concat(jsonPieces(value, 1e9)).toString();

test("pieces put together are the JSON of the whole", () => {
	fc.assert(
		fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
			expect(textOf(value)).toBe(JSON.stringify(value));
		}),
	);
	expect(textOf({ a: undefined, b: [undefined, 1] })).toBe('{"b":[null,1]}');
});

test("a long list is cut between its elements, and not made beyond the bound", () => {
	const value = { list: Array.from({ length: 1000 }, () => ({ text: "é".repeat(100) })) };
	const pieces = jsonPieces(value, 1e9);
	expect(Buffer.concat(pieces).toString()).toBe(JSON.stringify(value));
	for (const piece of pieces.slice(0, -1)) {
		expect(piece.length).toBeGreaterThanOrEqual(16_384);
		expect(piece.length).toBeLessThan(2 * 16_384 + 512);
	}
	expect(() => jsonPieces(value, 20_000)).toThrow(TooLong);
});
