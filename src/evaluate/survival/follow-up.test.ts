import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { poolFollowUps, poolValues, restrict, sortFollowUp, sortPredictions } from "./follow-up.js";

describe("sortFollowUp", () => {
	test("puts onset before death before censoring on equal days", () => {
		const sorted = sortFollowUp({ time: [5, 5, 5, 2], status: [0, 2, 1, 0] });
		expect([...sorted.entry]).toEqual([3, 2, 1, 0]);
		expect([...sorted.status]).toEqual([0, 1, 2, 0]);
		expect([...sorted.time]).toEqual([2, 5, 5, 5]);
	});

	test("keeps the patient of each entry", () => {
		const sorted = sortFollowUp({ time: [9, 3], status: [1, 1], patient: [40, 7] });
		expect([...sorted.patient]).toEqual([7, 40]);
		expect([...sortPredictions(sorted, [0.25, 0.75])]).toEqual([0.75, 0.25]);
	});

	test.each([
		["a missing status", { time: [1, 2], status: [0] }, "2 times, 1 statuses"],
		["a missing patient", { time: [1], status: [0], patient: [] }, "0 patients"],
		["a negative time", { time: [-1], status: [0] }, "time 0 is -1"],
		["no time", { time: [Number.NaN], status: [0] }, "time 0 is NaN"],
		["an endless time", { time: [Number.POSITIVE_INFINITY], status: [0] }, "time 0 is Infinity"],
		["another status", { time: [1], status: [3] }, "status 0 is 3"],
	])("rejects %s", (_, followUp, reason) => {
		expect(() => sortFollowUp(followUp)).toThrow(InputError);
		expect(() => sortFollowUp(followUp)).toThrow(reason);
	});

	test("rejects predictions that do not fit", () => {
		const sorted = sortFollowUp({ time: [1], status: [0] });
		expect(() => sortPredictions(sorted, [0.1, 0.2])).toThrow("2 for 1 entries");
		expect(() => sortPredictions(sorted, [1.5])).toThrow("score 0 is 1.5");
	});
});

test("restrict keeps the entries of a subgroup, and their predictions", () => {
	const sorted = sortFollowUp({ time: [4, 3, 2, 1], status: [0, 1, 2, 0] });
	const women = [true, false, true, true];
	const own = restrict(sorted, (patient) => women[patient]);
	expect([...own.entry]).toEqual([3, 2, 0]);
	expect([...own.time]).toEqual([1, 2, 4]);
	expect([...own.status]).toEqual([0, 2, 0]);
	expect([...sortPredictions(own, [0.1, 0.2, 0.3, 0.4])]).toEqual([0.4, 0.3, 0.1]);
});

test("pools codes of which each has its own patients at risk", () => {
	const pooled = poolFollowUps([
		{ time: [1, 2], status: [0, 1] },
		{ time: [3], status: [2], patient: [1] },
	]);
	expect([pooled.time, pooled.status, pooled.patient].map((one) => Array.from(one!))).toEqual([
		[1, 2, 3],
		[0, 1, 2],
		[0, 1, 1],
	]);
	expect([...poolValues([[0.5], new Float32Array([0.25])])]).toEqual([0.5, 0.25]);
});
