import { expect, test } from "vitest";
import { evaluate, evaluatorOf, relativeError } from "../../../engine/runtime/testing/evaluate.js";
import { drawnWeights, oneWindow, windowFeeds } from "../../testing/windows.js";
import { config } from "./config.js";
import type { Places } from "./distilling.js";
import { decoder, encoder, views, weights } from "./network.js";

const tokens = [3, 3, 3, 5, 6, 7, 8, 5, 6];
const settings = (more: Record<string, unknown> = {}) =>
	config.parse({
		...{ vocab: 12, window: tokens.length, ahead: 4, layers: 3, decoderLayers: 2, start: 7 },
		...{ heads: 2, dim: 6, ff: 8, factor: 1, ...more },
	});

function built(config: ReturnType<typeof settings>) {
	const { p, values } = drawnWeights(weights(config), config.dim);
	const { window, queries } = oneWindow(config.window, config.ahead);
	const stages = encoder(config, p, window);
	const answers = decoder(config, p, stages.at(-1) as Places, window, queries);
	return { stages, views: views(p, stages), answers, values };
}

test("each layer of the encoder has half the places, each place one view", () => {
	const { stages, views, answers } = built(settings());
	expect(stages.map(({ x }) => x.shape[1])).toEqual([9, 5, 3]);
	expect(views.shape).toEqual([1, 9, 6]);
	expect(answers.shape).toEqual([1, 4, 6]);
});

test("padding does not change the encoder, the hidden states or the predictions", async () => {
	const { views, answers, values } = built(settings());
	const { run, dispose } = await evaluatorOf({ views, answers });
	const at = (junk: number) => run({ ...values, ...windowFeeds(tokens, 4, 3, junk) });
	const [one, two] = [await at(0), await at(900)];
	expect(relativeError(two.answers, one.answers)).toBeLessThan(1e-5);
	expect(relativeError(two.views.slice(3 * 6), one.views.slice(3 * 6))).toBeLessThan(1e-5);
	await dispose();
});

test("with full attention, no prediction depends on a later query", async () => {
	const { answers, values } = built(settings({ factor: 100 }));
	const feeds = windowFeeds(tokens, 4, 3);
	const later = {
		...feeds,
		"seen.queryDays": feeds["seen.queryDays"]!.map((days, i) => days + (i > 1 ? 500 : 0)),
		"seen.queryGaps": feeds["seen.queryGaps"]!.map((gap, i) => gap + (i > 1 ? 500 : 0)),
	};
	const one = await evaluate({ answers }, { ...values, ...feeds });
	const two = await evaluate({ answers }, { ...values, ...later });
	expect(relativeError(two.answers.slice(0, 12), one.answers.slice(0, 12))).toBeLessThan(1e-5);
	expect(relativeError(two.answers.slice(12), one.answers.slice(12))).toBeGreaterThan(1e-3);
});
