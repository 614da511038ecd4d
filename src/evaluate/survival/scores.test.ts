import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { restrict, sortFollowUp } from "./follow-up.js";
import { recalibration } from "./recalibration.js";
import { type OnsetScores, onsetScores } from "./scores.js";
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

interface Expected {
	readonly nats: number;
	readonly onsets: number;
	readonly auroc: number;
	readonly averagePrecision: number;
	readonly brier: number;
	readonly slope: number;
	readonly slopeError: number;
	readonly intercept: number;
	readonly interceptError: number;
}
/** Values of scikit-learn. */
const expectedAt = JSON.parse(
	readFileSync(new URL("./fixtures/scores.json", import.meta.url), "utf8"),
) as Readonly<Record<365 | 1096, Expected>>;
const cases = [
	[365, golden.predicted365],
	[1096, golden.predicted1096],
] as const;

test.each(cases)("agrees with scikit-learn and R within %d days", (horizon, predicted) => {
	const followUp = sortFollowUp(golden);
	const [scores] = onsetScores(followUp, horizon, [predicted])();
	const expected = expectedAt[horizon];
	expect(scores!.nats).toBeCloseTo(expected.nats, 8);
	expect(scores!.auroc).toBeCloseTo(expected.auroc, 10);
	expect(scores!.averagePrecision).toBeCloseTo(expected.averagePrecision, 10);
	expect(scores!.squaredError! / 120).toBeCloseTo(expected.brier, 10);
	expect(scores!.observedOnsets).toBeCloseTo(expected.onsets, 8);
	const { slope, intercept } = recalibration(followUp, horizon, predicted);
	expect(slope!.value).toBeCloseTo(expected.slope, 5);
	expect(slope!.high).toBeCloseTo(slope!.value + 1.959964 * expected.slopeError, 4);
	expect(intercept!.value).toBeCloseTo(expected.intercept, 8);
	expect(intercept!.low).toBeCloseTo(intercept!.value - 1.959964 * expected.interceptError, 6);
	// R's riskRegression.
	const column = horizon === 365 ? 0 : 1;
	expect(scores!.auroc).toBeCloseTo(golden.auc[column]!, 10);
	expect(scores!.squaredError! / 120).toBeCloseTo(golden.brier[column]!, 10);
});

test("expected onsets are the sum of the risks, observed ones follow from Aalen–Johansen", () => {
	const [scores] = onsetScores(sortFollowUp(golden), 365, [golden.predicted365])();
	expect(scores!.expectedOnsets).toBeCloseTo(sum(golden.predicted365), 10);
	expect(scores!.observedOnsets).toBeCloseTo(golden.aalenJohansenOnset[2]! * 120, 8);
});

describe("every score", () => {
	test("is the slow one", () => {
		everywhere((cohort, horizon) => {
			const score = onsetScores(sortFollowUp(cohort), horizon, [cohort.predicted]);
			expect(score(cohort.weights)).toEqual([close(slowScores(cohort, horizon))]);
		});
	});

	test("counts a patient as often as the weight says", () =>
		everywhere((cohort, horizon) => {
			const of = ({ predicted, ...followUp }: Cohort) =>
				onsetScores(sortFollowUp(followUp), horizon, [predicted]);
			expect(of(cohort)(cohort.weights)).toEqual(close(of(copied(cohort))()));
		}));

	test("of a subgroup is that of its patients alone", () => {
		everywhere((cohort, horizon) => {
			const mask = cohort.weights.map((weight) => weight % 2);
			const sorted = sortFollowUp(cohort);
			const selected = restrict(sorted, (patient) => mask[patient] === 1);
			const restricted = onsetScores(selected, horizon, [cohort.predicted])();
			const masked = onsetScores(sorted, horizon, [cohort.predicted])(mask);
			expect(restricted).toEqual(close(masked));
		});
	});
});

const nothing = {
	nats: null,
	auroc: null,
	averagePrecision: null,
	squaredError: null,
	incidenceError: null,
	observedOnsets: null,
	expectedOnsets: null,
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
	const incidence = slowIncidence(cohort, horizon);
	const expectedOnsets = sum(entries.map(({ count, risk }) => count * risk));
	return {
		nats: sum(
			entries.map(({ weight, risk, ...one }) => {
				const bounded = Math.min(Math.max(risk, 1e-6), 1 - 1e-6);
				return -weight * Math.log(one.case ? bounded : 1 - bounded);
			}),
		),
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
		squaredError: sum(entries.map((one) => one.weight * (Number(one.case) - one.risk) ** 2)),
		incidenceError: total * incidence * (1 - incidence),
		observedOnsets: incidence * total,
		expectedOnsets,
	};
}

describe("recalibration", () => {
	const labels = Array.from({ length: 400 }, (_, i) => Number(i % 5 === 0 || i % 7 === 0));
	const followUp = sortFollowUp({ time: labels.map((label) => (label ? 1 : 9)), status: labels });
	const risks = labels.map((_, i) => 0.1 + 0.6 * (i % 5 === 0 ? 0.9 : (i % 11) / 20));
	const shifted = (slope: number, intercept: number) =>
		risks.map((risk) => 1 / (1 + Math.exp(-(intercept + slope * Math.log(risk / (1 - risk))))));

	test("takes back what was done to the log-odds", () => {
		const right = recalibration(followUp, 5, risks);
		const steeper = recalibration(followUp, 5, shifted(2, 0.5));
		expect(steeper.slope!.value).toBeCloseTo(right.slope!.value / 2, 8);
		const higher = recalibration(followUp, 5, shifted(1, 0.5));
		expect(higher.intercept!.value).toBeCloseTo(right.intercept!.value - 0.5, 8);
		expect(higher.slope!.value).toBeCloseTo(right.slope!.value, 8);
	});

	test("is undefined where nothing can be told", () => {
		const same = recalibration(followUp, 5, new Float64Array(400).fill(0.2));
		expect(same.slope).toBeNull();
		expect(same.intercept!.value).toBeCloseTo(
			Math.log(sum(labels) / (400 - sum(labels))) - Math.log(0.2 / 0.8),
			8,
		);
		const perfect = labels.map((label) => 0.1 + 0.8 * label);
		expect(recalibration(followUp, 5, perfect).slope).toBeNull();
		const none = sortFollowUp({ time: [9, 9], status: [0, 0] });
		expect(recalibration(none, 5, [0.1, 0.2])).toEqual({ slope: null, intercept: null });
	});
});
