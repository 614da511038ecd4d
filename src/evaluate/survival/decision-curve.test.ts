import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decisionCurve } from "./at-horizon.js";
import { sortFollowUp } from "./follow-up.js";
import { cohorts, copied, horizons, slowDefined, slowWeights } from "./testing/cohorts.js";

const thresholds = [0.4, 0, 0.2, 0.5, 0.2];

describe("net benefit", () => {
	test("is the slow one", () => {
		fc.assert(
			fc.property(cohorts, horizons, (cohort, horizon) => {
				const { time, status, predicted, weights: counts } = cohort;
				const curve = decisionCurve(sortFollowUp(cohort), horizon, predicted, thresholds)(counts);
				expect(curve !== null).toBe(slowDefined(cohort, horizon));
				if (!curve) return;
				const weights = slowWeights(cohort, horizon);
				const total = counts.reduce((a, b) => a + b);
				const benefit = (threshold: number, treated: (risk: number) => boolean) =>
					predicted.reduce((sum, risk, at) => {
						if (!treated(risk)) return sum;
						const gain =
							status[at] === 1 && time[at]! <= horizon ? 1 : -threshold / (1 - threshold);
						return sum + (gain * weights[at]!) / total;
					}, 0);
				expect(curve).toEqual(
					thresholds.map((threshold) => ({
						threshold,
						model: expect.closeTo(
							benefit(threshold, (risk) => risk >= threshold),
							9,
						),
						all: expect.closeTo(
							benefit(threshold, () => true),
							9,
						),
					})),
				);
			}),
		);
	});

	test("counts a patient as often as the weight says", () => {
		fc.assert(
			fc.property(cohorts, horizons, (cohort, horizon) => {
				const copies = copied(cohort);
				const weighted = decisionCurve(sortFollowUp(cohort), horizon, cohort.predicted, thresholds);
				const repeated = decisionCurve(sortFollowUp(copies), horizon, copies.predicted, thresholds);
				expect(weighted(cohort.weights)).toEqual(
					repeated()?.map((point) => ({
						threshold: point.threshold,
						model: expect.closeTo(point.model, 9),
						all: expect.closeTo(point.all, 9),
					})) ?? null,
				);
			}),
		);
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
