import { expect, test } from "vitest";
import { csvField } from "./table.js";

test.each([
	["=1+2", "'=1+2"],
	["+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"],
	["-2+3", "'-2+3"],
	["@SUM(A1)", "'@SUM(A1)"],
	["\t=1", "'\t=1"],
	["\r=1", '"\'\r=1"'],
	['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
])("%j is not read as a formula", (text, field) => {
	expect(csvField(text)).toBe(field);
});

test("numbers and other texts are written as they are", () => {
	expect([-1.5, 0, 1e-7, true, null].map(csvField)).toEqual(["-1.5", "0", "1e-7", "true", ""]);
	expect(["250.1", "a-b", "a=b", "", "'x"].map(csvField)).toEqual([
		"250.1",
		"a-b",
		"a=b",
		"",
		"'x",
	]);
	expect(['a"b', "a,b", "a\nb", "a\rb"].map(csvField)).toEqual([
		'"a""b"',
		'"a,b"',
		'"a\nb"',
		'"a\rb"',
	]);
});
