import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import { nodeRuntime } from "../engine/runtime/node.js";
import * as rooms from "./index.js";
import { vocab } from "./testing/histories.js";
import { smallSettings } from "./testing/small-settings.js";

describe("the learning rate", () => {
	const rate = (id: string, preset: string) => rooms.learningRateOf(rooms.modelById(id), preset);

	test("is that of the preset, or else of the model, or else common", () => {
		const model = { learningRate: 1e-2, learningRates: { large: 1e-4 } };
		expect(rooms.learningRateOf(model, "large")).toBe(1e-4);
		expect(rooms.learningRateOf(model, "tiny")).toBe(1e-2);
		expect(rooms.learningRateOf({}, "tiny")).toBe(rooms.commonLearningRate);
	});

	test("of TrajGPT is 5e-3 for tiny and 3e-3 for the larger presets", () => {
		const { presets } = rooms.modelById("trajgpt");
		expect(
			Object.fromEntries(Object.keys(presets).map((name) => [name, rate("trajgpt", name)])),
		).toEqual({ tiny: 5e-3, default: 3e-3, large: 3e-3, paper: 3e-3, "paper-7m": 3e-3 });
	});

	test("names only presets that exist", () => {
		for (const { id, presets, learningRates = {}, suggestedFrom = {} } of rooms.models)
			for (const name of [...Object.keys(learningRates), ...Object.keys(suggestedFrom)])
				expect(Object.keys(presets), id).toContain(name);
	});
});

test("larger presets are suggested for more patients, where there are curves", () => {
	const suggested = (patients: number) =>
		rooms.suggestedPreset(rooms.modelById("trajgpt"), patients);
	expect([1, 7999, 8000, 31_999, 32_000, 1e6].map(suggested)).toEqual([
		...["tiny", "tiny", "default", "default", "large", "large"],
	]);
	expect(rooms.suggestedPreset(rooms.modelById("gru-d"), 100_000)).toBeUndefined();
});

test("rejects predictions that are not finite, from every method", async () => {
	const model = rooms.modelById("trajgpt");
	const config = model.config.parse({ vocab, ...smallSettings.trajgpt });
	const weights = model.init(config, random(1));
	weights.get("head")?.data.fill(Number.NaN);
	const predictor = model.predictor(
		nodeRuntime({ threads: 1, purpose: "inference" }),
		config,
		weights,
	);
	const [events, times] = [[{ tokens: [7], times: [1] }], [[2]]];
	const start = predictor.start(1);
	for (const asked of [
		() => predictor.score(events, times),
		() => predictor.queryWithin(start, events, times),
		() => predictor.advance(start, events, times),
		async () => predictor.query(await predictor.observe(start, events), times),
	])
		await expect(asked()).rejects.toThrow(
			"the model's prediction is NaN, expected a finite number; check that the times of the events",
		);
	await predictor.dispose();
});

test("every model has a conformance test", () => {
	const folder = new URL("./", import.meta.url);
	const tests = readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((file) => file.endsWith(".test.ts"))
		.map((file) => readFileSync(new URL(file, folder), "utf8"));
	const covers = (id: string) => tests.some((text) => text.includes(`conformance("${id}")`));
	for (const { id } of [...rooms.models, ...rooms.ablations]) expect(covers(id), id).toBe(true);
});
