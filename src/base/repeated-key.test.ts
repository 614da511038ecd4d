import { expect, test } from "vitest";
import { repeatedKey } from "./json-keys.js";

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
