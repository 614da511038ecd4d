import { expect, test } from "vitest";
import { numberSubjects } from "./predictions.js";

const numbers = (...ids: string[]) => [...numberSubjects(ids).of];

test("keeps ids that are whole numbers of 64 bits", () => {
	const ids = ["12", "-3", "9223372036854775807", "12"];
	expect(numberSubjects(ids).areNew).toBe(false);
	expect(numbers(...ids)).toEqual([
		["12", 12n],
		["-3", -3n],
		["9223372036854775807", 9223372036854775807n],
	]);
});

test("numbers all patients by the order of their ids unless every id is a number of its own", () => {
	expect(numbers("b", "7", "a", "b")).toEqual([
		["7", 1n],
		["a", 2n],
		["b", 3n],
	]);
	for (const ids of [["9223372036854775808"], ["007", "7"], ["1.0"], [""]])
		expect(numberSubjects(ids).areNew).toBe(true);
});
