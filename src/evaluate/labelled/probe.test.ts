import { expect, test } from "vitest";
import type { LabelQuery } from "../../model/train/index.js";
import { atMost } from "./regression.js";

const labels = (positive: number, negative: number): LabelQuery[] =>
	Array.from({ length: positive + negative }, (_, patient) => ({
		...{ patient, time: 1, events: 3, weight: 2 },
		value: patient < positive,
	}));

const counted = (all: readonly LabelQuery[]) =>
	[true, false].map((value) => {
		const own = all.filter((label) => label.value === value);
		return [own.length, own.reduce((sum, { weight = 1 }) => sum + weight, 0)];
	});

test("few labels stay as they are", () => {
	const few = labels(3, 7);
	expect(atMost(few, 10)).toBe(few);
});

test("of many labels all rare ones stay, and the others weigh for those left out", () => {
	expect(counted(atMost(labels(4, 96), 20))).toEqual([
		[4, 8],
		[16, 192],
	]);
	expect(counted(atMost(labels(96, 4), 20))).toEqual([
		[16, 192],
		[4, 8],
	]);
	expect(counted(atMost(labels(50, 70), 20))).toEqual([
		[10, 100],
		[10, 140],
	]);
});
