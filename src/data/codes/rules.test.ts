import { describe, expect, test } from "vitest";
import { compileRules, entriesOf, expandRule } from "./rules.js";

test("entriesOf reads number, name and rules, over several lines", () => {
	expect(
		entriesOf(`
428 Congestive heart failure | 428 398.91 | I50
785 Abdominal pain
	| 789.0
	789.6 |
`),
	).toEqual([
		{
			code: "428",
			name: "Congestive heart failure",
			rules: { ICD9CM: ["428", "398.91"], ICD10CM: ["I50"] },
		},
		{
			code: "785",
			name: "Abdominal pain",
			rules: { ICD9CM: ["789.0", "789.6"], ICD10CM: [] },
		},
	]);
	expect(() => entriesOf("428")).toThrow('expected "number name');
	expect(() => entriesOf("428 a | b | c | d")).toThrow('expected "number name');
});

test.each([
	["250", ["250"]],
	["008-011", ["008", "009", "010", "011"]],
	["362.8-362.9", ["362.8", "362.9"]],
	["V10.00-V10.02", ["V10.00", "V10.01", "V10.02"]],
	["E09-E11", ["E09", "E10", "E11"]],
	["T36-T37.??2", ["T36.??2", "T37.??2"]],
	["S82.?1", ["S82.?1"]],
	["91?.1", ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"].map((digit) => `91${digit}.1`)],
])("expandRule(%s)", (rule, codes) => expect(expandRule(rule)).toEqual(codes));

test.each(["E11-D10", "428-427", "428-428", "A-B", "428-V30"])("expandRule refuses %s", (rule) => {
	expect(() => expandRule(rule)).toThrow("not a range of codes");
});

describe("compileRules", () => {
	const map = compileRules(
		entriesOf(`
1 one | | S72 S72.1
2 two | | S72.0
3 three | | S72.???K S72
4 four | | +S72.0?1 +Q90
`),
		"ICD10CM",
	);

	test.each([
		["S72", ["1", "3"]],
		["S72.9", ["1", "3"]],
		["S72.101A", ["1"]],
		["S72.009A", ["2"]],
		["S72.001A", ["2", "4"]],
		["S72.009K", ["3"]],
		["S72.001K", ["3", "4"]],
		["Q90.1", ["4"]],
		["S73", []],
	])("%s: %j", (code, phecodes) => expect(map(code)).toEqual(phecodes));
});
