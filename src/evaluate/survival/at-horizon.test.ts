import { describe, expect, test } from "vitest";
import { calibrationCurve, evenShares } from "../calibration.js";
import { decisionCurve, highRiskShares, onsetCalibration, outcomeAt } from "./at-horizon.js";
import { aalenJohansen, pointAt, poolFollowUps, poolValues, sortFollowUp } from "./follow-up.js";
import {
	type Cohort,
	close,
	copied,
	everywhere,
	slowDefined,
	slowIncidence,
	slowWeights,
	sum,
} from "./testing/cohorts.js";
import { golden } from "./testing/golden.js";

const thresholds = [0.4, 0, 0.2, 0.5, 0.2];

describe("counts a patient as often as the weight says", () => {
	type Weighted = (cohort: Cohort, horizon: number) => (weights?: readonly number[]) => unknown;
	const calibration = (cohort: Cohort, horizon: number) =>
		// One bin: edges depend on the entries, not on their weights.
		onsetCalibration(sortFollowUp(cohort), horizon, cohort.predicted, []);
	test.each<readonly [string, Weighted]>([
		["bins", (cohort, at) => calibration(cohort, at).bins],
		["calibration error", (cohort, at) => calibration(cohort, at).error],
		[
			"net benefit",
			(cohort, at) => decisionCurve(sortFollowUp(cohort), at, cohort.predicted, thresholds),
		],
	])("%s", (_, of) =>
		everywhere((cohort, horizon) =>
			expect(of(cohort, horizon)(cohort.weights)).toEqual(close(of(copied(cohort), horizon)())),
		),
	);
});

describe("the outcome at a horizon", () => {
	test("weights are those of the definition", () => {
		everywhere((cohort, horizon) => {
			const sorted = sortFollowUp(cohort);
			const { labels, weigh } = outcomeAt(sorted, horizon);
			const weighed = weigh(cohort.weights);
			expect(weighed !== null).toBe(slowDefined(cohort, horizon));
			if (!weighed) return;
			const expected = slowWeights(cohort, horizon);
			for (const [at, entry] of sorted.entry.entries()) {
				expect(weighed.weights[at]).toBeCloseTo(expected[entry], 10);
				expect(weighed.counts[at]).toBe(cohort.weights[entry]);
				expect(labels[at]).toBe(
					Number(cohort.status[entry] === 1 && cohort.time[entry] <= horizon),
				);
			}
		});
	});

	test("weights sum to the patients, and those of onsets to the Aalen–Johansen estimate", () => {
		everywhere((cohort, horizon) => {
			const sorted = sortFollowUp(cohort);
			const weighed = outcomeAt(sorted, horizon).weigh(cohort.weights);
			if (weighed === null) return;
			const total = cohort.weights.reduce((a, b) => a + b);
			expect(weighed.total).toBe(total);
			expect(weighed.weights.reduce((a, b) => a + b)).toBeCloseTo(total, 10);
			expect(weighed.observed).toBeCloseTo(slowIncidence(cohort, horizon), 12);
			const curve = aalenJohansen(sorted, cohort.weights);
			expect(weighed.observed).toBeCloseTo(pointAt(curve, horizon)!.value, 12);
		});
	});

	test("weights that are not whole numbers leave no remainder", () => {
		const followUp = sortFollowUp({ time: [1, 2, 3], status: [0, 0, 0] });
		expect(outcomeAt(followUp, 9).weigh([0.1, 0.2, 0.7])).toBeNull();
	});
});

describe("net benefit", () => {
	test("is the slow one", () => {
		everywhere((cohort, horizon) => {
			const { time, status, predicted, weights: counts } = cohort;
			const curve = decisionCurve(sortFollowUp(cohort), horizon, predicted, thresholds)(counts);
			expect(curve !== null).toBe(slowDefined(cohort, horizon));
			if (!curve) return;
			const weights = slowWeights(cohort, horizon);
			const total = counts.reduce((a, b) => a + b);
			const benefit = (threshold: number, treated: (risk: number) => boolean) =>
				predicted.reduce((sum, risk, at) => {
					if (!treated(risk)) return sum;
					const gain = status[at] === 1 && time[at]! <= horizon ? 1 : -threshold / (1 - threshold);
					return sum + (gain * weights[at]!) / total;
				}, 0);
			expect(curve).toEqual(
				thresholds.map((threshold) => ({
					threshold,
					model: close(benefit(threshold, (risk) => risk >= threshold)),
					all: close(benefit(threshold, () => true)),
				})),
			);
		});
	});

	test("of perfect predictions is the incidence at every threshold", () => {
		const followUp = sortFollowUp({ time: [1, 9, 2, 9], status: [1, 0, 2, 0] });
		const curve = decisionCurve(followUp, 5, [1, 0, 0, 0], [0.1, 0.9])();
		expect(curve).toEqual([
			{ threshold: 0.1, model: 0.25, all: expect.closeTo(0.25 - 0.75 / 9, 12) },
			{ threshold: 0.9, model: 0.25, all: expect.closeTo(0.25 - 0.75 * 9, 12) },
		]);
	});

	test.each([1, -0.1, Number.NaN])("rejects a threshold of %d", (threshold) => {
		const followUp = sortFollowUp({ time: [1], status: [0] });
		expect(() => decisionCurve(followUp, 5, [0.1], [threshold])).toThrow(`threshold ${threshold}`);
	});
});

/** The entries with predictions in (low, high]. */
function between(cohort: Cohort, low: number, high: number): Cohort {
	const kept = cohort.predicted.map((risk) => risk > low && risk <= high);
	const keep = (values: readonly number[]) => values.filter((_, at) => kept[at]);
	return {
		time: keep(cohort.time),
		status: keep(cohort.status),
		predicted: keep(cohort.predicted),
		weights: keep(cohort.weights),
	};
}

/** Halves of the predictions: the median is an edge. */
const halves = [0.5];
const medianOf = (values: readonly number[]) => {
	const sorted = values.toSorted((a, b) => a - b);
	const [low, high] = [(sorted.length - 1) >> 1, sorted.length >> 1];
	return (sorted[low] + sorted[high]) / 2;
};

describe("bins of predicted risk", () => {
	test("are the Aalen–Johansen estimates of their patients", () => {
		everywhere((cohort, horizon) => {
			const sorted = sortFollowUp(cohort);
			const { bins, error } = onsetCalibration(sorted, horizon, cohort.predicted, halves);
			const median = medianOf(cohort.predicted);
			const parts = [between(cohort, -1, median), between(cohort, median, 2)].filter(
				({ weights }) => sum(weights) > 0,
			);
			const expected = parts.map((part) => {
				const count = sum(part.weights);
				const predicted = sum(part.predicted.map((risk, at) => risk * part.weights[at])) / count;
				const defined = slowDefined(part, horizon);
				return { count, predicted, observed: defined ? slowIncidence(part, horizon) : null };
			});
			expect(bins(cohort.weights)).toEqual(
				expected.map(({ count, predicted, observed }, i) => {
					const curve = aalenJohansen(sortFollowUp(parts[i]), parts[i].weights);
					const inside = observed !== null && observed > 1e-9 && observed < 1 - 1e-9;
					const limits = inside ? pointAt(curve, horizon) : null;
					const { low = null, high = null } = limits ?? {};
					return close({ count, predicted, observed, low, high });
				}),
			);
			const defined = expected.filter(({ observed }) => observed !== null);
			const onsets = sum(defined.map(({ count, predicted }) => count * predicted));
			const distance = sum(
				defined.map(
					({ count, predicted, observed }) => count * predicted * Math.abs(predicted - observed!),
				),
			);
			expect(error(cohort.weights)).toEqual(close(onsets > 0 ? distance / onsets : null));
		});
	});

	test("take a patient's entries of several codes as often as the patient counts", () => {
		everywhere((cohort, horizon) => {
			const { predicted } = cohort;
			const patient = cohort.time.map((_, entry) => entry % 3);
			const weights = [2, 0, 1];
			const shared = onsetCalibration(
				sortFollowUp({ ...cohort, patient }),
				horizon,
				predicted,
				halves,
			);
			const apart = onsetCalibration(sortFollowUp(cohort), horizon, predicted, halves);
			const copies = patient.map((one) => weights[one] as number);
			expect(shared.error(weights)).toEqual(close(apart.error(copies)));
			expect(shared.bins(weights)).toEqual(close(apart.bins(copies)));
		});
	});

	test("hold the same patients as without censoring", () => {
		const labels = golden.status.map((status) => status === 1);
		const time = golden.time.map((_, at) => (labels[at] ? 1 : 9));
		const followUp = sortFollowUp({ time, status: labels.map(Number) });
		const { bins } = onsetCalibration(followUp, 5, golden.predicted365, evenShares(10));
		const curve = calibrationCurve(labels, golden.predicted365, { binning: "quantile" });
		const shown = bins().map(({ predicted, observed, count }) => ({ predicted, observed, count }));
		expect(shown).toEqual(close(curve));
	});
});

test("deciles of the golden cohort have limits around the observed risk", () => {
	const followUp = sortFollowUp(golden);
	const bins = onsetCalibration(followUp, 365, golden.predicted365, evenShares(10)).bins();
	// Two equal predictions lie on an edge.
	expect(bins.map(({ count }) => count)).toEqual([12, 12, 12, 13, 11, 12, 12, 12, 12, 12]);
	for (const { low, observed, high } of bins) {
		if (observed === 0) continue;
		expect(low).toBeLessThan(observed!);
		expect(high).toBeGreaterThan(observed!);
	}
});

test("bins whose observation ends by the horizon have no observed risk", () => {
	const followUp = sortFollowUp({ time: [9, 9, 2, 3], status: [0, 0, 1, 0] });
	const { bins, error } = onsetCalibration(followUp, 5, [0.1, 0.1, 0.4, 0.4], halves);
	expect(bins().map(({ observed }) => observed)).toEqual([0, null]);
	expect(error()).toBeCloseTo(0.1, 12);
	expect(error([0, 0, 1, 1])).toBeNull();
	expect(error([0, 0, 0, 0])).toBeNull();
	expect(bins([0, 0, 0, 0])).toEqual([]);
});

test("codes are pooled, each patient with the weight in every code", () => {
	const codes = [
		{ time: [2, 9, 9], status: [1, 0, 0] },
		{ time: [3, 9], status: [1, 0], patient: [2, 0] },
	];
	const followUp = sortFollowUp(poolFollowUps(codes));
	const predicted = poolValues([
		[0.5, 0.25, 0.25],
		[0.25, 0.25],
	]);
	const { bins, error } = onsetCalibration(followUp, 5, predicted, highRiskShares);
	expect(bins([1, 1, 3]).map(({ count, observed }) => ({ count, observed }))).toEqual([
		{ count: 8, observed: 3 / 8 },
		{ count: 1, observed: 1 },
	]);
	expect(error([1, 1, 3])).toBeCloseTo((2 * (1 / 8) + 0.5 * 0.5) / 2.5, 12);
});
