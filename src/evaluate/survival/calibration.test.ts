import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calibrationCurve, evenShares } from "../calibration.js";
import { highRiskShares, onsetCalibration } from "./at-horizon.js";
import { aalenJohansen, pointAt, poolFollowUps, poolValues, sortFollowUp } from "./follow-up.js";
import {
	type Cohort,
	cohorts,
	copied,
	horizons,
	slowDefined,
	slowIncidence,
} from "./testing/cohorts.js";
import { golden } from "./testing/golden.js";

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

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
const close = (value: number | null) => (value === null ? null : expect.closeTo(value, 9));

/** Halves of the predictions: the median is an edge. */
const halves = [0.5];
const medianOf = (values: readonly number[]) => {
	const sorted = values.toSorted((a, b) => a - b);
	const [low, high] = [(sorted.length - 1) >> 1, sorted.length >> 1];
	return (sorted[low] + sorted[high]) / 2;
};

describe("bins of predicted risk", () => {
	test("are the Aalen–Johansen estimates of their patients", () => {
		fc.assert(
			fc.property(cohorts, horizons, (cohort, horizon) => {
				const { bins, error } = onsetCalibration(
					sortFollowUp(cohort),
					horizon,
					cohort.predicted,
					halves,
				);
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
						return {
							...{ count, predicted: close(predicted), observed: close(observed) },
							...{ low: close(limits?.low ?? null), high: close(limits?.high ?? null) },
						};
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
			}),
		);
	});

	test("count a patient as often as the weight says", () => {
		fc.assert(
			fc.property(cohorts, horizons, (cohort, horizon) => {
				// One bin: edges depend on the entries, not on their weights.
				const copies = copied(cohort);
				const weighted = onsetCalibration(sortFollowUp(cohort), horizon, cohort.predicted, []);
				const repeated = onsetCalibration(sortFollowUp(copies), horizon, copies.predicted, []);
				expect(weighted.bins(cohort.weights)).toEqual(
					repeated.bins().map((bin) => ({
						...{ count: bin.count, predicted: close(bin.predicted), observed: close(bin.observed) },
						...{ low: close(bin.low), high: close(bin.high) },
					})),
				);
				expect(weighted.error(cohort.weights)).toEqual(close(repeated.error()));
			}),
		);
	});

	test("hold the same patients as without censoring", () => {
		const labels = golden.status.map((status) => status === 1);
		const time = golden.time.map((_, at) => (labels[at] ? 1 : 9));
		const followUp = sortFollowUp({ time, status: labels.map(Number) });
		const { bins } = onsetCalibration(followUp, 5, golden.predicted365, evenShares(10));
		const curve = calibrationCurve(labels, golden.predicted365, { binning: "quantile" });
		expect(
			bins().map(({ predicted, observed, count }) => ({ predicted, observed, count })),
		).toEqual(
			curve.map(({ predicted, observed, count }) => ({
				...{ predicted: close(predicted), observed: close(observed), count },
			})),
		);
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
