import { expect, test } from "vitest";
import { random } from "../base/random.js";
import { nodeRuntime } from "../engine/runtime/node.js";
import { modelById } from "./index.js";
import { vocab } from "./testing/histories.js";
import { smallSettings } from "./testing/small-settings.js";

test("rejects predictions that are not finite, from every method", async () => {
	const model = modelById("trajgpt");
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
