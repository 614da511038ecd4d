import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import * as sequences from "./sequence-metrics.js";
import { golden } from "./testing/golden.js";

test.each(golden.tmap.map((one, i) => [i, one] as const))(
	"agrees with the HoTPP benchmark: %d",
	(_, { horizon, delta, classes, ...windows }) => {
		const settings = { horizon, delta, labels: classes, targets: 100 };
		const collector = sequences.collectTmap(settings);
		for (const [i, start] of windows.initialTimes.entries()) {
			const isTarget = (_: unknown, at: number) => windows.targetMask[i][at] === 1;
			const isPrediction = (_: unknown, at: number) => windows.predictedMask[i][at] === 1;
			const observed = {
				times: windows.targetTimes[i].filter(isTarget),
				labels: windows.targetLabels[i].filter(isTarget),
			};
			const predicted = {
				times: windows.predictedTimes[i].filter(isPrediction),
				scores: windows.predictedScores[i].filter(isPrediction).flat(),
			};
			collector.add(sequences.matchWindow(settings, { start, observed, predicted }));
		}
		expect(collector.score()).toBeCloseTo(windows.tmap, 6);
	},
);

const settings = { horizon: 5, delta: 1, labels: 2, targets: 3 };
const event = fc.integer({ min: 1, max: 6 });
const windows: fc.Arbitrary<sequences.FutureWindow[]> = fc.array(
	fc
		.record({
			observed: fc.array(fc.tuple(event, fc.integer({ min: 0, max: 1 })), { maxLength: 4 }),
			predicted: fc.array(fc.tuple(event, fc.tuple(fc.nat(4), fc.nat(4))), { maxLength: 4 }),
		})
		.map(({ observed, predicted }) => ({
			start: 0,
			observed: {
				times: observed.map(([time]) => time),
				labels: observed.map(([, label]) => label),
			},
			predicted: {
				times: predicted.map(([time]) => time),
				scores: predicted.flatMap(([, scores]) => scores.map((score) => score - 2)),
			},
		})),
	{ maxLength: 4 },
);

/** The largest set of predictions that can be matched, and among those the one with the highest scores. */
function slowMatches(
	targets: readonly number[],
	predictions: readonly (readonly [number, number])[],
) {
	let best: readonly number[] = [];
	const total = (set: readonly number[]) => set.reduce((sum, at) => sum + predictions[at][1], 0);
	const search = (at: number, set: readonly number[]) => {
		if (at === targets.length) {
			if (set.length > best.length || (set.length === best.length && total(set) > total(best)))
				best = set;
			return;
		}
		search(at + 1, set);
		for (const [other, [time]] of predictions.entries())
			if (!set.includes(other) && Math.abs(time - targets[at]) <= settings.delta)
				search(at + 1, [...set, other]);
	};
	search(0, []);
	return best;
}

function slowScore(all: readonly sequences.FutureWindow[]) {
	const labels = Array.from({ length: settings.labels }, (_, label) => {
		let count = 0;
		const pooled: { score: number; matched: boolean }[] = [];
		for (const { observed, predicted } of all) {
			const targets = Array.from(observed.times)
				.slice(0, settings.targets)
				.filter((time, at) => time < settings.horizon && observed.labels[at] === label);
			const predictions = Array.from(
				predicted.times,
				(time, at) => [time, predicted.scores[at * settings.labels + label]] as const,
			).filter(([time]) => time < settings.horizon);
			const best = slowMatches(targets, predictions);
			count += targets.length;
			for (const [at, [, score]] of predictions.entries())
				pooled.push({ score, matched: best.includes(at) });
		}
		const positive = pooled.filter(({ matched }) => matched);
		const precisions = positive.map(({ score }) => {
			const above = pooled.filter((other) => other.score >= score);
			return above.filter(({ matched }) => matched).length / above.length;
		});
		return {
			targets: count,
			// Average precision times maximum recall.
			value: count > 0 ? precisions.reduce((a, b) => a + b, 0) / count : 0,
		};
	});
	if (labels.every(({ targets }) => targets === 0)) return null;
	return labels.reduce((sum, { value }) => sum + value, 0) / settings.labels;
}

describe("T-mAP", () => {
	const scoreOf = (all: readonly sequences.FutureWindow[], given = settings) => {
		const collector = sequences.collectTmap(given);
		for (const window of all) collector.add(sequences.matchWindow(given, window));
		return collector.score();
	};

	test("is the slow one, with ties in time and score", () => {
		fc.assert(
			fc.property(windows, (all) => {
				const expected = slowScore(all);
				expect(scoreOf(all)).toEqual(expected === null ? null : expect.closeTo(expected, 9));
			}),
			{ numRuns: 300 },
		);
	});

	const window = (times: readonly number[], scores: readonly number[]): sequences.FutureWindow => ({
		start: 10,
		observed: { times: [11, 12, 13, 14], labels: [0, 1, 0, 1] },
		predicted: { times, scores },
	});

	test("counts what is within the horizon and among the first targets", () => {
		// Half of the two targets of one label are matched, and the one of the other.
		expect(scoreOf([window([11, 15], [0, 0, 0, 0])])).toBe(0.75);
	});

	test("is 0 without predictions, and null without targets", () => {
		expect(scoreOf([window([], [])])).toBe(0);
		expect(scoreOf([])).toBeNull();
		expect(scoreOf([{ ...window([11], [0, 0]), observed: { times: [], labels: [] } }])).toBeNull();
	});

	test("rejects a score of log 0", () => {
		const scored = () => scoreOf([window([11], [0, Number.NEGATIVE_INFINITY])]);
		expect(scored).toThrow(InputError);
		expect(scored).toThrow("score 1 is -Infinity");
	});

	test("leaves out a group of windows", () => {
		const [hit, miss] = [window([11], [9, 0]), window([19], [9, 0])];
		const collector = sequences.collectTmap(settings, 2);
		for (const [group, one] of [hit, miss].entries())
			collector.add(sequences.matchWindow(settings, one), group);
		expect([collector.score(1), collector.score(0)]).toEqual([scoreOf([hit]), scoreOf([miss])]);
		expect(collector.score()).toBe(scoreOf([hit, miss]));
	});
});

test("predictions are made every few events, where enough events follow", () => {
	expect(sequences.predictionPoints(45, 4, 32)).toEqual([4, 8, 12]);
	expect(sequences.predictionPoints(44, 4, 32)).toEqual([4, 8]);
	expect(sequences.predictionPoints(36, 4, 32)).toEqual([]);
});

const costs = { insertCost: 1, deleteCost: 2 };

const distance = (
	observed: sequences.LabelledEvents,
	predicted: sequences.LabelledEvents,
	events = 10,
) => sequences.transportDistance(observed, predicted, { ...costs, events });

test.each(golden.otd.map((one, i) => [i, one] as const))(
	"has the distances of the HoTPP benchmark: %d",
	(_, { insertCost, deleteCost, ...windows }) => {
		const distances = windows.targetTimes.map((times, i) =>
			sequences.transportDistance(
				{ times, labels: windows.targetLabels[i] },
				{ times: windows.predictedTimes[i], labels: windows.predictedLabels[i] },
				{ insertCost, deleteCost, events: 10 },
			),
		);
		const mean = distances.reduce((sum, one) => sum + one, 0) / distances.length;
		expect(mean).toBeCloseTo(windows.distance, 5);
	},
);

describe("the distance", () => {
	const events = fc
		.array(fc.tuple(fc.double({ min: 0, max: 6, noNaN: true }), fc.integer({ min: 0, max: 2 })), {
			maxLength: 4,
		})
		.map((all) => ({
			times: all.map(([time]) => time),
			labels: all.map(([, label]) => label),
		}));

	/** Tries to insert the first observed event, or to move each predicted one onto it. */
	function slowDistance(observed: sequences.LabelledEvents, predicted: sequences.LabelledEvents) {
		const from = (at: number, left: readonly number[]): number => {
			if (at === observed.times.length) return left.length * costs.deleteCost;
			const moves = left
				.filter((other) => predicted.labels[other] === observed.labels[at])
				.map(
					(other) =>
						Math.abs(predicted.times[other]! - observed.times[at]!) +
						from(
							at + 1,
							left.filter((one) => one !== other),
						),
				);
			return Math.min(costs.insertCost + from(at + 1, left), ...moves);
		};
		return from(
			0,
			Array.from(predicted.times, (_, at) => at),
		);
	}

	test("is the least cost of all ways", () => {
		fc.assert(
			fc.property(events, events, (observed, predicted) => {
				expect(distance(observed, predicted)).toBeCloseTo(slowDistance(observed, predicted), 9);
			}),
		);
	});

	test("compares the first events", () => {
		const observed = { times: [1, 2, 3], labels: [0, 0, 0] };
		const predicted = { times: [1.5, 2, 9, 10], labels: [0, 0, 0, 0] };
		expect(distance(observed, predicted, 2)).toBe(0.5);
		expect(distance(observed, predicted)).toBe(0.5 + 3 + 2);
	});
});
