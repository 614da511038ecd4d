import { describe, expect, test } from "vitest";
import { commonLearningRate, learningRateOf, modelById, models, suggestedPreset } from "./index.js";

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

	test("names only presets that exist", () => {
		for (const { id, presets, learningRates = {}, suggestedFrom = {} } of models)
			for (const name of [...Object.keys(learningRates), ...Object.keys(suggestedFrom)])
				expect(Object.keys(presets), id).toContain(name);
	});
});

test("larger presets are suggested for more patients, where there are curves", () => {
	const suggested = (patients: number) => suggestedPreset(modelById("trajgpt"), patients);
	expect([1, 7999, 8000, 31_999, 32_000, 1e6].map(suggested)).toEqual([
		...["tiny", "tiny", "default", "default", "large", "large"],
	]);
	expect(suggestedPreset(modelById("gru-d"), 100_000)).toBeUndefined();
});
