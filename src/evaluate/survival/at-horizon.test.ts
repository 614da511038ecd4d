import fc from "fast-check";
import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { outcomeAt } from "./at-horizon.js";
import { aalenJohansen, pointAt } from "./curves.js";
import { sortFollowUp } from "./follow-up.js";
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

test("is undefined where observation ends by the horizon, or nobody counts", () => {
	const { weigh } = outcomeAt(sortFollowUp({ time: [3, 5], status: [1, 0] }), 5);
	expect(weigh()).toBeNull();
	expect(weigh([0, 0])).toBeNull();
	expect(weigh([2, 0])).toMatchObject({ total: 2, observed: 1 });
	expect(outcomeAt(sortFollowUp({ time: [], status: [] }), 5).weigh()).toBeNull();
});

test("weights that are not whole numbers leave no remainder", () => {
	const followUp = sortFollowUp({ time: [1, 2, 3], status: [0, 0, 0] });
	expect(outcomeAt(followUp, 9).weigh([0.1, 0.2, 0.7])).toBeNull();
});

test("weights of a whole cohort sum to its patients", () => {
	const { integer } = random(4);
	const patients = 20_000;
	const draw = (bound: number) => Int32Array.from({ length: patients }, () => integer(bound));
	const followUp = sortFollowUp({ time: draw(4000), status: draw(3) });
	for (const horizon of [365, 1096, 3652]) {
		const weighed = outcomeAt(followUp, horizon).weigh(draw(4))!;
		expect(weighed.weights.reduce((a, b) => a + b) / weighed.total).toBeCloseTo(1, 10);
	}
});
