import { describe, expect, test } from "vitest";
import { commonLearningRate, learningRateOf, modelById, models } from "./index.js";

describe("the learning rate", () => {
	const rate = (id: string, preset: string) => learningRateOf(modelById(id), preset);

	test("is that of the preset, or else of the model, or else common", () => {
		const model = { learningRate: 1e-2, learningRates: { large: 1e-4 } };
		expect(learningRateOf(model, "large")).toBe(1e-4);
		expect(learningRateOf(model, "tiny")).toBe(1e-2);
		expect(learningRateOf({}, "tiny")).toBe(commonLearningRate);
	});

	test("of TrajGPT is 5e-3 for tiny and 3e-3 for the larger presets", () => {
		const { presets } = modelById("trajgpt");
		expect(
			Object.fromEntries(Object.keys(presets).map((name) => [name, rate("trajgpt", name)])),
		).toEqual({ tiny: 5e-3, default: 3e-3, large: 3e-3, paper: 3e-3, "paper-7m": 3e-3 });
	});

	test("is given for presets that there are", () => {
		for (const { id, presets, learningRates = {} } of models)
			for (const name of Object.keys(learningRates))
				expect(Object.keys(presets), id).toContain(name);
	});
});
