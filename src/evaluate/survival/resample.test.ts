import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { bootstrap, type Drawn, difference, measureOf, resampleCodes } from "../bootstrap.js";
import { onsetScores } from "./at-horizon.js";
import { sortFollowUp } from "./follow-up.js";

const measured = (drawn: Drawn | null) => drawn && measureOf(drawn);

const options = { draws: 40, seed: 3 };

/** Follow-up of `patients` with a prediction that carries some information, and one with less. */
function simulated(patients: number, seed: number) {
	const { uniform, normal } = random(seed);
	const all = Array.from({ length: patients }, () => {
		const risk = normal();
		const rate = Math.exp(risk) / 3000;
		const times = [
			uniform() * 3000,
			-Math.log(1 - uniform()) / rate,
			-Math.log(1 - uniform()) * 5000,
		];
		const time = Math.min(...times);
		return { time, status: times.indexOf(time), risk };
	});
	const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
	return {
		time: all.map(({ time }) => time),
		status: all.map(({ status }) => status),
		good: all.map(({ risk }) => sigmoid(risk - 2 + normal())),
		poor: all.map(({ risk }) => sigmoid(risk - 2 + 4 * normal())),
	};
}

describe("codes on the same draws of patients", () => {
	const patients = 150;
	const codes = [1, 2, 3].map((seed) => {
		const { good, poor, ...followUp } = simulated(patients, seed);
		return onsetScores(sortFollowUp(followUp), 800, [good, poor]);
	});
	const resampled = resampleCodes(patients, codes, options);
	const auroc = (weights: ArrayLike<number>, model: number, code: number) =>
		codes[code]!(weights)[model]!.auroc!;
	const mean = (weights: ArrayLike<number>, model: number) =>
		[0, 1, 2].reduce((sum, code) => sum + auroc(weights, model, code) / 3, 0);

	const better = difference(resampled.mean(0, "auroc")!, resampled.mean(1, "auroc")!);

	test("give the values and intervals of the bootstrap over patients", () => {
		const slow = bootstrap(
			patients,
			{
				code: (weights) => auroc(weights, 1, 2),
				mean: (weights) => mean(weights, 0),
				difference: (weights) => mean(weights, 0) - mean(weights, 1),
				ratio: (weights) => {
					const all = codes.map((score) => score(weights)[0]!);
					return (
						all.reduce((sum, one) => sum + one.observedOnsets!, 0) /
						all.reduce((sum, one) => sum + one.expectedOnsets!, 0)
					);
				},
			},
			options,
		);
		const fast = {
			code: measured(resampled.ofCode(2, 1, "auroc")),
			mean: measured(resampled.mean(0, "auroc")),
			difference: measured(better),
			ratio: measured(resampled.ratio(0, "observedOnsets", "expectedOnsets")),
		};
		for (const [name, { value, low, high }] of Object.entries(slow))
			expect(fast[name as keyof typeof fast]).toEqual({
				value: expect.closeTo(value, 12),
				low: expect.closeTo(low, 12),
				high: expect.closeTo(high, 12),
			});
	});

	test("find the better model", () => {
		expect(measureOf(better).low).toBeGreaterThan(0);
	});
});

test("codes that are undefined are left out, in a draw or altogether", () => {
	const of = (value: number | null, drawn: number | null) => (weights?: ArrayLike<number>) => [
		{ score: weights ? drawn : value },
	];
	const two = resampleCodes(2, [of(1, 2), of(3, null), of(null, null)], options);
	expect(measured(two.mean(0, "score"))).toEqual({ value: 2, low: 2, high: 2 });
	expect(measured(two.ratio(0, "score", "score"))).toEqual({ value: 1, low: 1, high: 1 });
	expect(measured(two.ofCode(1, 0, "score"))).toEqual({ value: 3, low: 3, high: 3 });
	expect(two.ofCode(2, 0, "score")).toBeNull();
	const none = resampleCodes(2, [of(null, 1)], options);
	expect(none.mean(0, "score")).toBeNull();
	expect(none.ratio(0, "score", "score")).toBeNull();
	expect(resampleCodes<"score">(2, [], options).mean(0, "score")).toBeNull();
	expect(() => resampleCodes(0, [], options)).toThrow("there are no patients");
});
