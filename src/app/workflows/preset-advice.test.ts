import { expect, test } from "vitest";
import { modelById } from "../../model/index.js";
import { presetAdvice } from "./preset-advice.js";

const advice = (preset: string, patients: number) =>
	presetAdvice(modelById("trajgpt"), preset, patients);

test("a preset that is far too large or too small gets a line of advice", () => {
	expect(advice("large", 2000)).toBe(
		"with 2,000 training patients, `preset` tiny is suggested, not large: it trains faster (docs/models.md#which-size)",
	);
	expect(advice("tiny", 32_000)).toBe(
		"with 32,000 training patients, `preset` large is suggested, not tiny: it predicted better on simulated patients (docs/models.md#which-size)",
	);
});

test("others get none", () => {
	expect(advice("large", 8000)).toBeUndefined();
	expect(advice("tiny", 31_999)).toBeUndefined();
	expect(advice("default", 10)).toBeUndefined();
	expect(advice("default", 1_000_000)).toBeUndefined();
	// Nothing was measured for the paper's sizes, nor for other models.
	expect(advice("paper-7m", 10)).toBeUndefined();
	expect(presetAdvice(modelById("gru-d"), "tiny", 1_000_000)).toBeUndefined();
});
