import fc from "fast-check";
import { expect, test } from "vitest";
import { outcomeAt } from "./at-horizon.js";
import { aalenJohansen, pointAt, sortFollowUp } from "./follow-up.js";
import { cohorts, horizons, slowDefined, slowIncidence, slowWeights } from "./testing/cohorts.js";

test("weights are those of the definition", () => {
	fc.assert(
		fc.property(cohorts, horizons, (cohort, horizon) => {
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
		}),
	);
});

test("weights sum to the patients, and those of onsets to the Aalen–Johansen estimate", () => {
	fc.assert(
		fc.property(cohorts, horizons, (cohort, horizon) => {
			const sorted = sortFollowUp(cohort);
			const weighed = outcomeAt(sorted, horizon).weigh(cohort.weights);
			fc.pre(weighed !== null);
			const total = cohort.weights.reduce((a, b) => a + b);
			expect(weighed.total).toBe(total);
			expect(weighed.weights.reduce((a, b) => a + b)).toBeCloseTo(total, 10);
			expect(weighed.observed).toBeCloseTo(slowIncidence(cohort, horizon), 12);
			const curve = aalenJohansen(sorted, cohort.weights);
			expect(weighed.observed).toBeCloseTo(pointAt(curve, horizon)!.value, 12);
		}),
	);
});

test("weights that are not whole numbers leave no remainder", () => {
	const followUp = sortFollowUp({ time: [1, 2, 3], status: [0, 0, 0] });
	expect(outcomeAt(followUp, 9).weigh([0.1, 0.2, 0.7])).toBeNull();
});
