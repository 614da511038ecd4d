import { expect, test } from "vitest";
import type { NewPatient } from "../../data/cohort/index.js";
import { momentOf } from "./moments.js";
import { timeGrid } from "./time-grid.js";

const patient = (...times: number[]): NewPatient => ({
	...{ id: "p", sex: null, birth: -50, death: null, lastRecord: times.at(-1) ?? null },
	history: {
		...{ id: "p", sex: null, birthEvents: 1, observed: [], death: null },
		tokens: Int32Array.from([2, ...times]),
		times: Float64Array.from([-50, ...times]),
	},
});

test("equal steps between two times, both included where they fit", () => {
	const times = timeGrid(
		{ patient: patient(0, 40), axis: "days" },
		{
			from: momentOf("10"),
			to: momentOf("+0.3d"),
			step: 0.1,
		},
	);
	expect(times).toHaveLength(304);
	expect([times[0], times.at(-1)]).toEqual([10, expect.closeTo(40.3, 9)]);
	expect([
		...timeGrid({ patient: patient(0), axis: "days" }, { to: momentOf("25"), step: 10 }),
	]).toEqual([0, 10, 20]);
});

test("by default from the first event to the last record, by months or so", () => {
	const times = timeGrid({ patient: patient(0, 4826), axis: "days" }, {});
	expect([times[0], times.length, times.at(-1)]).toEqual([0, 160, 4826]);
	expect((times[1] as number) - (times[0] as number)).toBeCloseTo(365.25 / 12);
	const short = timeGrid({ patient: patient(0), axis: "days" }, { to: momentOf("2") });
	expect([...short]).toEqual([0, 1, 2]);
	expect([...timeGrid({ patient: patient(7), axis: "days" }, {})]).toEqual([7]);
});

test("refuses an end before the start, and more times than can be meant", () => {
	expect(() => timeGrid({ patient: patient(0), axis: "days" }, { to: momentOf("-10") })).toThrow(
		"`from` (the first event) lies after `to` -10",
	);
	expect(() => timeGrid({ patient: patient(0, 1826.25), axis: "days" }, { step: 0.01 })).toThrow(
		"`step` makes 182,626 times; expected at most 20,000",
	);
});
