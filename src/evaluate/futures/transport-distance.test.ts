import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type LabelledEvents, transportDistance } from "./sequence-metrics.js";
import { golden } from "./testing/golden.js";

const settings = { insertCost: 1, deleteCost: 2 };

const distance = (observed: LabelledEvents, predicted: LabelledEvents, events = 10) =>
	transportDistance(observed, predicted, { ...settings, events });

test.each(golden.otd.map((one, i) => [i, one] as const))(
	"agrees with the HoTPP benchmark: %d",
	(_, { insertCost, deleteCost, ...windows }) => {
		const distances = windows.targetTimes.map((times, i) =>
			transportDistance(
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
	function slowDistance(observed: LabelledEvents, predicted: LabelledEvents): number {
		const from = (at: number, left: readonly number[]): number => {
			if (at === observed.times.length) return left.length * settings.deleteCost;
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
			return Math.min(settings.insertCost + from(at + 1, left), ...moves);
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
