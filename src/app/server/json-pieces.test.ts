import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonList, jsonPieces, listPieces, TooLongError } from "./json-pieces.js";

const textOf = (value: object) => Buffer.concat(jsonPieces(value, 1e9)).toString();

test("the pieces concatenate to the JSON of the whole", () => {
	fc.assert(
		fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
			expect(textOf(value)).toBe(JSON.stringify(value));
		}),
	);
	expect(textOf({ a: undefined, b: [undefined, 1] })).toBe('{"b":[null,1]}');
});

test("splits a long list between its elements, and stops at the limit", () => {
	const value = { list: Array.from({ length: 1000 }, () => ({ text: "é".repeat(100) })) };
	const pieces = jsonPieces(value, 1e9);
	expect(Buffer.concat(pieces).toString()).toBe(JSON.stringify(value));
	for (const piece of pieces.slice(0, -1)) {
		expect(piece.length).toBeGreaterThanOrEqual(16_384);
		expect(piece.length).toBeLessThan(2 * 16_384 + 512);
	}
	expect(() => jsonPieces(value, 20_000)).toThrow(TooLongError);
});

test("inserts a list that is already JSON unchanged, and counts it towards the limit", () => {
	const elements = Array.from({ length: 3000 }, (_, i) => ({ i, text: "é" }));
	const list = new JsonList(listPieces(elements.map((element) => JSON.stringify(element))));
	expect(list.pieces.length).toBeGreaterThan(1);
	const pieces = jsonPieces({ before: 1, list, after: [2] }, 1e9);
	expect(Buffer.concat(pieces).toString()).toBe(
		JSON.stringify({ before: 1, list: elements, after: [2] }),
	);
	expect(() => jsonPieces({ list }, 50_000)).toThrow(TooLongError);
	expect(textOf({ list: new JsonList(listPieces([])) })).toBe('{"list":[]}');
	// Each can be let go, or given to another thread, without the others.
	expect(new Set(pieces.map(({ buffer }) => buffer)).size).toBe(pieces.length);
});
