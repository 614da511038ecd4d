import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { historyOf } from "../../data/cohort/history.js";
import { linearPredictor, type Outcomes } from "../../model/glm.js";
import { ageFeatures } from "../../model/hazards/landmarks.js";
import { outcomeAt } from "../survival/at-horizon.js";
import { censored, death, sortFollowUp } from "../survival/follow-up.js";
import { labelsAt, regressionFeatures } from "./predicted-risks.js";
import { fitRegressions } from "./regressions.js";

const token = 5;
const landmarks = {
	features: regressionFeatures([], 6),
	// Row 1 has the code already; row 3 has an onset on day 40, and row 5 one on day 80.
	time: Float64Array.of(20, 30, 50, 60, 70, 90, 100),
	status: Uint8Array.of(censored, censored, death, censored, censored, censored, censored),
	known: [[], [], [], [], [], [1]],
	onsets: [
		[],
		[],
		[],
		[],
		[],
		[
			{ row: 3, after: 40 },
			{ row: 5, after: 80 },
		],
	],
};

describe("labelsAt", () => {
	test("weighs by the probability of being observed, the same for all codes", () => {
		const { events, exposure } = labelsAt(landmarks, 65)(token);
		// Of seven, one is lost on day 20 and one of six on day 30; four remain after the death, one is lost on day 60.
		const [at30, at60] = [5 / 7, (5 / 7) * (3 / 4)];
		const expected = [0, 0, 1 / at30, 1 / at30, 1 / at60, 1 / at60, 1 / at60];
		for (const [row, weight] of expected.entries()) {
			expect(exposure[row]).toBeCloseTo(weight, 12);
			expect(events[row]).toBe(row === 3 ? exposure[row] : 0);
		}
	});

	test("agrees with the weights of the evaluation where there are no onsets", () => {
		const { time, status } = landmarks;
		const none = {
			...landmarks,
			known: landmarks.known.map(() => []),
			onsets: [[], [], [], [], [], []],
		};
		const sorted = sortFollowUp({ time, status });
		const { weights } = outcomeAt(sorted, 65).weigh() as { weights: Float64Array };
		const { exposure } = labelsAt(none, 65)(token);
		for (const [at, row] of sorted.entry.entries())
			expect(exposure[row]).toBeCloseTo(weights[at], 12);
	});
});

/** Landmarks of people with or without code 5, which raises the log-odds by `effect`. */
function people(seed: number, count: number, effect: number) {
	const draw = random(seed);
	const given = Array.from({ length: count }, () => draw.uniform() < 0.5);
	return {
		features: regressionFeatures(
			given.map((has) => ({ history: withRecords(has ? [token] : []), day: 100 })),
			6,
		),
		outcome: {
			events: Float64Array.from(given, (has) =>
				Number(draw.uniform() < 1 / (1 + Math.exp(1 - (has ? effect : 0)))),
			),
			exposure: new Float64Array(count).fill(1),
		},
	};
}

const withRecords = (tokens: readonly number[]) =>
	historyOf(
		{ id: "p", sex: "male", birth: -50 * 365.25, death: null },
		{ tokens: Int32Array.from(tokens), times: Float64Array.from(tokens, (_, i) => 50 * i) },
	);

test("regressionFeatures: age by sex, and counts of all records and of the last year apart", () => {
	const history = withRecords([token, token, token]);
	const { all, ages } = regressionFeatures([{ history, day: 400 }], 6);
	const counts = [...all.columns.keys()].slice(ages.ends[0]);
	expect(counts.map((at) => all.columns[at])).toEqual([
		1 + ageFeatures + token,
		1 + ageFeatures + 6 + token,
	]);
	expect(all.values[counts[0]]).toBeCloseTo(Math.log(4), 6);
	expect(all.values[counts[1]]).toBeCloseTo(Math.log(3), 6);
	expect(all.columns[0]).toBe(0);
	const hats = [...all.values.subarray(1, ages.ends[0])];
	expect(hats.reduce((sum, hat) => sum + hat, 0)).toBeCloseTo(2, 6);
});

describe("fitRegression", () => {
	const effectIn = (coefficients: Float64Array) => {
		const { all } = regressionFeatures(
			[withRecords([token]), withRecords([])].map((history) => ({ history, day: 100 })),
			6,
		);
		const [having, not] = linearPredictor(all, coefficients) as unknown as [number, number];
		return having - not;
	};
	const fitted = (train: ReturnType<typeof people>, valid: ReturnType<typeof people>) =>
		effectIn(
			fitRegressions({ train: train.features, valid: valid.features, vocab: 6 })([
				{ train: train.outcome, valid: valid.outcome },
			])[0]!,
		);

	test("finds an effect that holds in validation", () => {
		const effect = fitted(people(1, 3000, 1.5), people(2, 1000, 1.5));
		expect(effect).toBeGreaterThan(1.1);
		expect(effect).toBeLessThan(1.9);
	});

	test("leaves counts out if they do not help in validation", () => {
		expect(fitted(people(1, 3000, 1.5), people(2, 1000, -1.5))).toBe(0);
	});

	test("other threads find the same coefficients", async () => {
		const [train, valid] = [people(1, 300, 1.5), people(2, 100, 1.5)];
		const features = { train: train.features, valid: valid.features, vocab: 6 };
		const opposite = ({ events, exposure }: Outcomes) => ({
			events: events.map((event) => 1 - event),
			exposure,
		});
		const outcomes = [
			{ train: train.outcome, valid: valid.outcome },
			{ train: opposite(train.outcome), valid: opposite(valid.outcome) },
		];
		// Threads need the built files.
		const built = new URL("../../../dist/evaluate/onset/regressions.js", import.meta.url).href;
		const { fittingThreads }: typeof import("./regressions.js") = await import(built);
		const { fit, end } = fittingThreads(features, 1e6, 2);
		try {
			const [first, second] = await Promise.all(outcomes.map((own) => fit([own])));
			expect([...first, ...second]).toEqual(fitRegressions(features)(outcomes));
			expect(first).not.toEqual(second);
		} finally {
			await end();
		}
	});
});
