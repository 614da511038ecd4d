import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type OnsetScores, onsetScores } from "./at-horizon.js";
import { restrict, sortFollowUp } from "./follow-up.js";
import {
	type Cohort,
	cohorts,
	copied,
	horizons,
	slowDefined,
	slowIncidence,
	slowWeights,
} from "./testing/cohorts.js";
import { golden } from "./testing/golden.js";

test("agrees with R's riskRegression", () => {
	const followUp = sortFollowUp(golden);
	const horizons = [
		[365, golden.predicted365],
		[1096, golden.predicted1096],
	] as const;
	for (const [i, [horizon, predicted]] of horizons.entries()) {
		const [scores] = onsetScores(followUp, horizon, [predicted])();
		expect(scores!.auroc).toBeCloseTo(golden.auc[i]!, 10);
		expect(scores!.brier).toBeCloseTo(golden.brier[i]!, 10);
	}
	const [scores] = onsetScores(followUp, 365, [golden.predicted365])();
	const expected = golden.predicted365.reduce((a, b) => a + b);
	expect(scores!.expectedOnsets).toBeCloseTo(expected, 10);
	expect(scores!.observedOnsets).toBeCloseTo(golden.aalenJohansenOnset[2]! * 120, 8);
	expect(scores!.observedToExpected).toBeCloseTo((0.280276177731 * 120) / expected, 8);
});

describe("every score", () => {
	test("is the slow one", () => {
		fc.assert(
			fc.property(cohorts, horizons, (cohort, horizon) => {
				const score = onsetScores(sortFollowUp(cohort), horizon, [cohort.predicted]);
				expect(score(cohort.weights)).toEqual([close(slowScores(cohort, horizon))]);
			}),
		);
	});

	test("counts a patient as often as the weight says", () => {
		fc.assert(
			fc.property(cohorts, horizons, (cohort, horizon) => {
				const copies = copied(cohort);
				const weighted = onsetScores(sortFollowUp(cohort), horizon, [cohort.predicted]);
				const repeated = onsetScores(sortFollowUp(copies), horizon, [copies.predicted]);
				expect(weighted(cohort.weights)).toEqual(repeated().map(close));
			}),
		);
	});

	test("of a subgroup is that of its patients alone", () => {
		fc.assert(
			fc.property(cohorts, horizons, (cohort, horizon) => {
				const mask = cohort.weights.map((weight) => weight % 2);
				const sorted = sortFollowUp(cohort);
				const own = restrict(sorted, (patient) => mask[patient] === 1);
				const restricted = onsetScores(own, horizon, [cohort.predicted])();
				const masked = onsetScores(sorted, horizon, [cohort.predicted])(mask);
				expect(restricted).toEqual(masked.map(close));
			}),
		);
	});
});

const nothing = {
	auroc: null,
	averagePrecision: null,
	brier: null,
	observedOnsets: null,
	expectedOnsets: null,
	observedToExpected: null,
};

describe("undefined scores are null", () => {
	const predicted = [0.2, 0.4, 0.6];
	test("if everybody is censored, all weights are 0, or there are no patients", () => {
		const censored = onsetScores(sortFollowUp({ time: [1, 2, 3], status: [0, 0, 0] }), 5, [
			predicted,
			predicted,
		]);
		expect(censored()).toEqual([nothing, nothing]);
		const followUp = sortFollowUp({ time: [1, 9, 9], status: [1, 0, 0] });
		expect(onsetScores(followUp, 5, [predicted])([0, 0, 0])).toEqual([nothing]);
		const nobody = sortFollowUp({ time: [], status: [] });
		expect(onsetScores(nobody, 5, [[]])()).toEqual([nothing]);
	});
});

const close = (scores: OnsetScores) =>
	Object.fromEntries(
		Object.entries(scores).map(([name, value]) => [
			name,
			value === null ? null : expect.closeTo(value as number, 9),
		]),
	);

/** Every score by its definition, over pairs and distinct risks. */
function slowScores(cohort: Cohort, horizon: number): OnsetScores {
	if (!slowDefined(cohort, horizon)) return nothing;
	const { time, status, predicted, weights: counts } = cohort;
	const weights = slowWeights(cohort, horizon);
	const entries = time.map((_, at) => ({
		case: status[at] === 1 && time[at]! <= horizon,
		risk: predicted[at]!,
		weight: weights[at]!,
		count: counts[at]!,
	}));
	const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);
	const weightOf = (some: typeof entries) => sum(some.map(({ weight }) => weight));
	const cases = entries.filter((one) => one.case);
	const controls = entries.filter((one) => !one.case);
	const both = weightOf(cases) > 0 && weightOf(controls) > 0;
	const pairs = cases.flatMap((one) =>
		controls.map((other) => ({
			weight: one.weight * other.weight,
			won: (1 + Math.sign(one.risk - other.risk)) / 2,
		})),
	);
	const total = sum(counts);
	const brier = sum(entries.map((one) => one.weight * (Number(one.case) - one.risk) ** 2)) / total;
	const incidence = slowIncidence(cohort, horizon);
	const expectedOnsets = sum(entries.map(({ count, risk }) => count * risk));
	return {
		auroc: both
			? sum(pairs.map(({ weight, won }) => weight * won)) / sum(pairs.map(({ weight }) => weight))
			: null,
		averagePrecision: both
			? sum(
					cases.map(({ risk, weight }) => {
						const above = entries.filter((other) => other.risk >= risk);
						const precision = weightOf(above.filter((other) => other.case)) / weightOf(above);
						return weight > 0 ? weight * precision : 0;
					}),
				) / weightOf(cases)
			: null,
		brier,
		observedOnsets: incidence * total,
		expectedOnsets,
		observedToExpected: expectedOnsets > 0 ? (incidence * total) / expectedOnsets : null,
	};
}
