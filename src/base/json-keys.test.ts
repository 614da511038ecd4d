import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalJson, repeatedKey } from "./json-keys.js";

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

test.each([
	['{"a": 1, "b": {"a": 2}, "c": [{"a": 3}, {"a": 4}, "a", "a"]}', undefined],
	['{"a": "b", "b": "a"}', undefined],
	['{"at": 1, "at": 2}', "at"],
	['{"x": [{"at": 1, "at"\n: 2}]}', "at"],
	['{"a": "}\\\\", "b": {"c": "x\\"a\\": {"}, "\\u0061": 1}', "a"],
	['{"\\"": 1, "\\\\": 2, "\\"": 3}', '"'],
	["17", undefined],
])("the key that an object of %s holds twice is %j", (json, key) => {
	JSON.parse(json);
	expect(repeatedKey(json)).toBe(key);
});
