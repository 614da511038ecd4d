import { expect, test } from "vitest";
import { evaluate, evaluatorOf, relativeError } from "../../../engine/runtime/testing/evaluate.js";
import { drawnWeights, oneWindow, windowFeeds } from "../../testing/windows.js";
import { config } from "./config.js";
import { decoder, encoder, weights } from "./network.js";

const tokens = [3, 3, 3, 5, 6, 7, 8, 5, 6];
const dim = 4;
const settings = (more: Record<string, unknown> = {}) =>
	config.parse({
		...{ vocab: 12, window: tokens.length, ahead: 5, layers: 2, decoderLayers: 2, start: 7 },
		...{ heads: 2, dim, ff: 6, average: 5, ...more },
	});

function built(config: ReturnType<typeof settings>) {
	const { p, values } = drawnWeights(weights(config), config.dim);
	const { window, queries } = oneWindow(config.window, config.ahead);
	const series = encoder(config, p, window);
	const answers = decoder(config, p, series, window, queries);
	return { series, answers, values };
}

test.each([
	["longer than", 7, 5],
	["shorter than", 2, 3],
])("padding has no effect; the decoder is %s the window", async (_, start, ahead) => {
	const { series, answers, values } = built(settings({ start, ahead }));
	expect(answers.shape).toEqual([1, ahead, dim]);
	const { seasonal, trend } = series;
	const { run, dispose } = await evaluatorOf({ seasonal, trend, answers });
	const at = (junk: number) => run({ ...values, ...windowFeeds(tokens, ahead, 3, junk) });
	const [one, two] = [await at(0), await at(900)];
	expect(relativeError(two.answers, one.answers)).toBeLessThan(1e-5);
	for (const part of ["seasonal", "trend"] as const)
		expect(relativeError(two[part].slice(3 * dim), one[part].slice(3 * dim))).toBeLessThan(1e-5);
	await dispose();
});

test("with weights of 0, the prediction is the mean of the window", async () => {
	const { answers, values } = built(settings());
	const nothing = Object.fromEntries(
		Object.entries(values).map(([name, data]) => [
			name,
			name === "embedding" ? data : data.map(() => 0),
		]),
	);
	const got = await evaluate({ answers }, { ...nothing, ...windowFeeds(tokens, 5, 3) });
	const events = tokens.slice(3);
	const mean = Array.from(
		{ length: dim },
		(_, c) =>
			events.reduce((sum, token) => sum + values.embedding![token * dim + c]!, 0) / events.length,
	);
	expect(relativeError(got.answers, Array.from({ length: 5 }, () => mean).flat())).toBeLessThan(
		1e-6,
	);
});

test("each layer of the decoder adds the trends of its three parts", async () => {
	const { answers, values } = built(settings());
	// One code all along has no season. The parts add a constant each: all of it is trend.
	const kept = /embedding|decoder.*(out\.bias|down\.bias|trend\.weight)/;
	const some = Object.fromEntries(
		Object.entries(values).map(([name, data]) => [
			name,
			kept.test(name) && name !== "decoder.out.bias" ? data : data.map(() => 0),
		]),
	);
	const same = tokens.map(() => 6);
	const got = await evaluate({ answers }, { ...some, ...windowFeeds(same, 5, 0) });
	const wanted = values.embedding!.slice(6 * dim, 7 * dim);
	for (const i of [0, 1]) {
		const layer = (name: string) => values[`decoder.layers.${i}.${name}`]!;
		const trends = [
			...layer("self.out.bias"),
			...layer("cross.out.bias"),
			...layer("feedForward.down.bias"),
		];
		for (let c = 0; c < dim; c++)
			for (const [j, trend] of trends.entries())
				wanted[c]! += layer("trend.weight")[c * 3 * dim + j]! * trend;
	}
	expect(relativeError(got.answers, Array.from({ length: 5 }, () => wanted).flat())).toBeLessThan(
		1e-5,
	);
});

test("the trends that the encoder took off are kept: what is seasonal has next to no mean", async () => {
	const { series, values } = built(settings());
	const { seasonal, trend } = series;
	const got = await evaluate({ seasonal, trend }, { ...values, ...windowFeeds(tokens, 5, 0) });
	const meanSize = (data: number[]) =>
		Array.from({ length: dim }, (_, c) =>
			Math.abs(data.filter((_, at) => at % dim === c).reduce((a, b) => a + b)),
		).reduce((a, b) => a + b);
	expect(meanSize(got.trend)).toBeGreaterThan(5 * meanSize(got.seasonal));
});
