import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../data/records/testing/temporary-folder.js";
import { modelById } from "../../../model/index.js";
import { refusal } from "../testing/captured.js";
import { checkMemory, presetAdvice, trainingNeeds } from "./training.js";

const model = modelById("trajgpt");
const config = (settings: object) => model.config.parse({ vocab: 241, ...settings });

test("what cannot fit is refused, with the need, what there is and what to lower", () => {
	const needs = { "weights and their moments": 2 ** 30, "one batch": 3 * 2 ** 30 };
	expect(() => checkMemory("training", needs, "lower --batch-slots", 4 * 2 ** 30)).not.toThrow();
	expect(() => checkMemory("training", needs, "lower --batch-slots", 2 ** 31)).toThrow(
		"training needs at least 4.0 GiB of memory (weights and their moments 1.0 GiB, one batch 3.0 GiB), and this machine has 2.0 GiB; lower --batch-slots",
	);
});

test("training needs follow from preset and batch", () => {
	expect(trainingNeeds(model, config({}), 2048)).toEqual({
		"weights and their moments": (241 * 96 + 4 * 2 * 96 * 192) * 7 * 4,
		"one batch": 2048 * (3 * 241 + 8 * 4 * 96) * 4,
	});
	const large = trainingNeeds(model, config({ vocab: 1_000_000, dim: 4096 }), 2048);
	expect(large["weights and their moments"]).toBeGreaterThan(100e9);
	expect(trainingNeeds(modelById("informer"), config({}), 10_000_000)["one batch"]).toBe(0);
});

test("a population that does not fit on the disk is refused before it is begun", async () => {
	const out = join(await temporaryFolder(), "population");
	expect(await refusal`simulate --patients 2000000000 --out ${out}`).toMatch(
		/^error: --patients needs about 10000\.0 GB on the disk, and [\d.]+ GB are free at .*; lower --patients/,
	);
	expect(existsSync(out)).toBe(false);
});

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
