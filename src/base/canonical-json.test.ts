import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson } from "./json-keys.js";

test("the order of keys and spaces do not matter, the order of lists does", () => {
	expect(canonicalJson(JSON.parse('{ "b": [2, 1], "a": {"d": null, "c": "x"} }'))).toBe(
		'{"a":{"c":"x","d":null},"b":[2,1]}',
	);
	expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
});

test("keeps all JSON values", () => {
	fc.assert(
		fc.property(fc.json(), (text) => {
			const value: unknown = JSON.parse(text);
			expect(JSON.parse(canonicalJson(value))).toEqual(value);
		}),
	);
});
