import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import {
	aalenJohansen,
	type Curve,
	kaplanMeier,
	pointAt,
	poolFollowUps,
	poolValues,
	restrict,
	sortFollowUp,
	sortPredictions,
} from "./follow-up.js";
import {
	type Cohort,
	copied,
	days,
	everywhere,
	slowIncidence,
	slowSurvival,
	slowUncensored,
	weightOf,
} from "./testing/cohorts.js";
import { golden } from "./testing/golden.js";

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

const curves = {
	any: (cohort: Cohort, weighted = true) =>
		kaplanMeier(sortFollowUp(cohort), "any", weighted ? cohort.weights : undefined),
	censoring: (cohort: Cohort, weighted = true) =>
		kaplanMeier(sortFollowUp(cohort), "censoring", weighted ? cohort.weights : undefined),
	onset: (cohort: Cohort, weighted = true) =>
		aalenJohansen(sortFollowUp(cohort), weighted ? cohort.weights : undefined),
};

describe("agrees with R's survival on", () => {
	const followUp = sortFollowUp(golden);
	test.each([
		["freedom from any event", kaplanMeier(followUp, "any"), golden.kaplanMeierAny],
		["censoring", kaplanMeier(followUp, "censoring"), golden.kaplanMeierCensoring],
		["onset with death competing", aalenJohansen(followUp), golden.aalenJohansenOnset],
	])("%s", (_, curve, expected) => {
		for (const [i, day] of golden.at.entries())
			expect(pointAt(curve, day)?.value).toBeCloseTo(expected[i], 11);
	});
});

describe("the remissions under 6-MP of Freireich and others (1963)", () => {
	const events = [6, 6, 6, 7, 10, 13, 16, 22, 23];
	const losses = [6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35];
	const curve = kaplanMeier(
		sortFollowUp({
			time: [...events, ...losses],
			status: [...events.map(() => 1), ...losses.map(() => 0)],
		}),
		"any",
	);

	test("have the published curve and limits", () => {
		// Days, patients at risk, the curve and its limits.
		const published = `
			0 21 1 1 1, 6 21 0.8571 0.6197 0.9516, 7 17 0.8067 0.5631 0.9228, 10 15 0.7529 0.5032 0.8894,
			13 12 0.6902 0.4316 0.8491, 16 11 0.6275 0.3675 0.8049, 22 7 0.5378 0.2678 0.7468,
			23 6 0.4482 0.1881 0.6801, 35 1 0.4482 0.1881 0.6801`;
		const expected = published.split(",").map((row) => row.trim().split(" ").map(Number));
		expect(rows(curve)).toEqual(
			expected.map(([day, _atRisk, ...row]) => [day, ...row.map((one) => expect.closeTo(one, 4))]),
		);
	});

	test("are unknown after the last day", () => {
		expect(curve.complete).toBe(false);
		expect(pointAt(curve, 35)?.value).toBeCloseTo(0.4482, 4);
		expect(pointAt(curve, 36)).toBeNull();
		expect(pointAt(curve, -1)).toBeNull();
		expect(pointAt(curve, 0)).toEqual({ value: 1, low: 1, high: 1 });
	});
});

describe("every curve", () => {
	const slow = { any: slowSurvival, censoring: slowUncensored, onset: slowIncidence };
	const kinds = ["any", "censoring", "onset"] as const;

	test.each(kinds)("is the slow one: %s", (kind) => {
		everywhere((cohort) => {
			const curve = curves[kind](cohort);
			for (let day = 0; day <= curve.days.at(-1)!; day++)
				expect(pointAt(curve, day)?.value).toBeCloseTo(slow[kind](cohort, day), 12);
		});
	});

	test.each(kinds)("counts a patient as often as the weight says: %s", (kind) => {
		everywhere((cohort) => {
			expect(curves[kind](cohort)).toEqual(curves[kind](copied(cohort), false));
		});
	});

	test.each(kinds)("starts with nobody at risk if all weights are 0: %s", (kind) => {
		const nobody = { time: [3, 4], status: [1, 0], predicted: [0, 0], weights: [0, 0] };
		const curve = curves[kind](nobody);
		const start = kind === "onset" ? 0 : 1;
		expect(rows(curve)).toEqual([[0, start, start, start]]);
		expect(pointAt(curve, 1)).toBeNull();
		expect(curves[kind]({ time: [], status: [], predicted: [], weights: [] })).toEqual(curve);
	});
});

describe("limits of the cumulative incidence", () => {
	const expectLimits = ({ low, high }: Curve, i: number, incidence: number, variance: number) => {
		const spread =
			(1.959963984540054 * Math.sqrt(variance)) / ((1 - incidence) * Math.log(1 - incidence));
		expect(low[i]).toBeCloseTo(1 - (1 - incidence) ** Math.exp(spread), 6);
		expect(high[i]).toBeCloseTo(1 - (1 - incidence) ** Math.exp(-spread), 6);
	};

	test("use the Greenwood-type variance", () => {
		everywhere((cohort) => {
			const curve = curves.onset(cohort);
			for (const [i, value] of curve.values.entries())
				if (value > 1e-9 && value < 1 - 1e-9)
					expectLimits(curve, i, value, slowVariance(cohort, curve.days[i]));
		});
	});

	test("are binomial if nobody is censored", () => {
		everywhere((cohort) => {
			const all = { ...cohort, status: cohort.status.map((one) => one || 2) };
			const curve = curves.onset(all);
			const patients = weightOf(all, [0, 1, 2], () => true);
			for (const [i, day] of curve.days.entries()) {
				const value = weightOf(all, [1], (time) => time <= day) / (patients || 1);
				expect(curve.values[i]).toBeCloseTo(value, 12);
				if (value === 0 || value === 1)
					expect([curve.low[i], curve.high[i]]).toEqual([value, value]);
				else expectLimits(curve, i, value, (value * (1 - value)) / patients);
			}
		});
	});

	test("are those of Kaplan–Meier if nobody dies", () => {
		everywhere((cohort) => {
			const alive = { ...cohort, status: cohort.status.map((one) => Math.min(one, 1)) };
			const [incidence, survival] = [curves.onset(alive), curves.any(alive)];
			expect(incidence.days).toEqual(survival.days);
			for (const [i, value] of survival.values.entries()) {
				expect(incidence.values[i]).toBeCloseTo(1 - value, 12);
				if (value < 1e-9) continue;
				expect(incidence.low[i]).toBeCloseTo(1 - survival.high[i], 6);
				expect(incidence.high[i]).toBeCloseTo(1 - survival.low[i], 6);
			}
		});
	});
});

const rows = ({ days: at, values, low, high }: Curve) =>
	Array.from(at, (day, i) => [day, values[i], low[i], high[i]]);

/** The three sums of the variance as written in the literature. */
function slowVariance(cohort: Cohort, day: number): number {
	const now = slowIncidence(cohort, day);
	let variance = 0;
	for (const at of days(cohort).filter((one) => one <= day)) {
		const atRisk = weightOf(cohort, [0, 1, 2], (time) => time >= at);
		const events = weightOf(cohort, [1, 2], (time) => time === at);
		const onsets = weightOf(cohort, [1], (time) => time === at);
		if (events === 0) continue;
		const before = slowSurvival(cohort, at - 0.5);
		const later = now - slowIncidence(cohort, at);
		if (atRisk > events) variance += (later ** 2 * events) / (atRisk * (atRisk - events));
		variance += (before ** 2 * onsets * (atRisk - onsets)) / atRisk ** 3;
		variance -= (2 * later * before * onsets) / atRisk ** 2;
	}
	return Math.max(0, variance);
}
