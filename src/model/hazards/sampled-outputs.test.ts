import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input, type Tensor } from "../../engine/tensor/index.js";
import { drawWeights, parametersOf, weightsOf } from "../nn/weights.js";
import { featureInputs, logHazards } from "./head.js";
import { landmarkValues } from "./landmarks.js";
import { columnsOf, sampleOutputs, sampleSize } from "./sampled-outputs.js";
import { hazardSettings, mostDirectCodes, outputsOf } from "./settings.js";
import { hazardWeights } from "./weights.js";

const settings = hazardSettings.parse({ groups: [{ name: "some", tokens: [5, 6] }] });

test("up to 2,000 codes a batch learns from all outputs, beyond from 2,000, groups and death", () => {
	expect(sampleSize(settings, mostDirectCodes)).toBeUndefined();
	expect(sampleSize(settings, mostDirectCodes + 1)).toBe(mostDirectCodes + 2);
});

describe("sampled outputs", () => {
	const vocab = 105;
	const { count, death } = outputsOf(settings, vocab);
	// Two landmarks; codes 5 to 24 are recorded after the first.
	const risk = new Float32Array(2 * count).fill(100);
	risk.fill(-10, 5, 25);
	const draw = (size: number, seed: number) =>
		sampleOutputs(settings, vocab, risk, size, random(seed));

	test("are distinct codes, with all groups and death", () => {
		const { outputs, weights } = draw(32, 1);
		expect(outputs).toHaveLength(32);
		expect(new Set(outputs).size).toBe(32);
		expect([...outputs].slice(-2)).toEqual([death - 1, death]);
		expect([...weights].slice(-2)).toEqual([1, 1]);
		expect(outputs.every((output) => output >= 5)).toBe(true);
		expect(outputs.filter((output) => output < 25)).toHaveLength(15);
	});

	test("take all that are recorded where there is room for them", () => {
		const { outputs, weights } = draw(62, 1);
		const recorded = [...outputs.keys()].filter((i) => (outputs[i] as number) < 25);
		expect(recorded).toHaveLength(20);
		for (const i of recorded) expect(weights[i]).toBe(1);
		expect(weights[20]).toBeCloseTo(80 / 40, 6);
	});

	test("estimate sums over all outputs without bias", () => {
		const value = (output: number) => Math.sin(output) + (output < 25 ? 3 : 0);
		let whole = 0;
		for (let output = 5; output < count; output++) whole += value(output);
		const draws = 4000;
		let sum = 0;
		for (let seed = 0; seed < draws; seed++) {
			const { outputs, weights } = draw(32, seed);
			for (const [i, output] of outputs.entries()) sum += (weights[i] as number) * value(output);
		}
		expect(Math.abs(sum / draws / whole - 1)).toBeLessThan(0.01);
	});

	test("columns of a matrix", () => {
		const matrix = Float32Array.of(1, 2, 3, 4, 5, 6);
		expect([...columnsOf(matrix, 3, Int32Array.of(2, 0))]).toEqual([3, 1, 6, 4]);
	});
});

test("hazards of sampled outputs are those among all", async () => {
	const [vocab, landmarks] = [12, 3];
	const config = { vocab, dim: 4, hazards: settings };
	const { count } = outputsOf(settings, vocab);
	const stream = random(4);
	const drawn = (length: number) => Float32Array.from({ length }, () => stream.normal());
	const weights = drawWeights(hazardWeights(settings, "queries", config), random(1));
	for (const { data } of weights.values()) data.set(drawn(data.length));
	const { features: values } = landmarkValues(settings, vocab, landmarks);
	for (const field of [values.counts, values.recent])
		field.set(drawn(field.length).map((value) => Math.round(value ** 2)));
	values.since.set(drawn(values.since.length).map((value) => Math.round(100 * value)));
	const outputs = Int32Array.of(7, 5, count - 1);
	const { length: size } = outputs;
	const bins = settings.binDays.length;
	const hidden = input("hidden", [landmarks, bins, config.dim]);
	const hazards = (sampled?: Tensor) =>
		logHazards(
			...([config, weightsOf(parametersOf(weights)), hidden] as const),
			featureInputs(settings, vocab, landmarks, "float32", sampled && size),
			sampled,
		).codes;
	const feeds = {
		...Object.fromEntries([...weights].map(([name, { data }]) => [name, data])),
		...Object.fromEntries(Object.entries(values).map(([name, data]) => [`hazards.${name}`, data])),
		hidden: drawn(landmarks * bins * config.dim),
	};
	const all = Float32Array.from((await evaluate({ codes: hazards() }, feeds)).codes as number[]);
	const sampled = await evaluate(
		{ codes: hazards(input("outputs", [size], "int32")) },
		{ ...feeds, outputs, "hazards.since": columnsOf(values.since, count, outputs) },
	);
	expect(relativeError(sampled.codes as number[], columnsOf(all, count, outputs))).toBeLessThan(
		1e-6,
	);
});
