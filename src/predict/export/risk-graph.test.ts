import { afterAll, describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialCount, specialTokens } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { hazardSettings, outputsOf } from "../../model/hazards/settings.js";
import type { ParameterValues } from "../../model/index.js";
import { testHistory, vocab } from "../../model/testing/histories.js";
import { smallSettings } from "../../model/testing/small-settings.js";
import { trajgptConfig } from "../../model/trajgpt/config.js";
import { trajgpt } from "../../model/trajgpt/index.js";
import { hazardModel } from "../hazards.js";
import { exportGraphs, onnxOf } from "./graphs.js";
import { historyFeeds } from "./testing/history-feeds.js";
import { type EngineName, engineNames, openSession } from "./testing/sessions.js";

const settings = hazardSettings.parse({
	binDays: [30, 365, 1826],
	groups: [
		{ name: "first", tokens: [5, 6] },
		{ name: "second", tokens: [6, 9, 11] },
	],
});
const { count, death } = outputsOf(settings, vocab);
const config = trajgptConfig.parse({ vocab, ...smallSettings.trajgpt, hazards: settings });
const draw = random(7);
const weights: ParameterValues = new Map(
	[...trajgpt.init(config, random(3))].map(([name, { shape, data }]) => [
		name,
		{ shape, data: data.map((value) => value + 0.2 * draw.normal()) },
	]),
);

/** Histories with and without a birth, of both sexes, with several records on a day, and an empty one. */
const histories = [24, 7, 40, 2, 1].map((events, i) => testHistory(events, 3 * i + 1));
histories[1].tokens[0] = specialTokens.male;
histories[2].tokens.shift();
histories[2].times.shift();
histories.push({ tokens: [], times: [] });
const days = histories.map(({ times }, i) => Math.floor(times.at(-1) ?? 50) + [0, 3, 800][i % 3]);

const model = hazardModel(nodeRuntime({ threads: 1, purpose: "inference" }), {
	...{ model: trajgpt, config, weights },
});
afterAll(() => model.dispose());

describe.each(engineNames)("risk.onnx in onnxruntime-%s", (engine: EngineName) => {
	const graph = exportGraphs(trajgpt, config, weights)["risk.onnx"]!;
	const opened = openSession(engine, onnxOf(graph, weights).bytes);
	afterAll(async () => (await opened).release());

	test.each([7, 365, 1000])("gives the risks of the library within %d days", async (horizon) => {
		const expected = await model.at(
			histories,
			days.map((day) => [day]),
		);
		const { risk, recorded } = await (await opened).run({
			...historyFeeds(histories, days),
			days: { data: new Float32Array(histories.length).fill(horizon), dims: [histories.length] },
		});
		expect(risk?.dims).toEqual([histories.length, count]);
		for (const [row, { tokens }] of histories.entries()) {
			const own = expected.incidence(row, horizon);
			for (let output = 0; output < count; output++) {
				const found = risk?.data[row * count + output];
				if (output < specialCount) {
					expect(found).toBe(0);
					continue;
				}
				expect(Math.abs(found / own[output] - 1)).toBeLessThan(1e-4);
				const members = settings.groups[output - vocab]?.tokens ?? [output];
				const isRecorded = output !== death && tokens.some((token) => members.includes(token));
				expect(Boolean(recorded?.data[row * count + output])).toBe(isRecorded);
			}
		}
	});
});

test("a model without hazards has no risk.onnx", () => {
	const plain = trajgptConfig.parse({ vocab, ...smallSettings.trajgpt });
	expect(Object.keys(exportGraphs(trajgpt, plain, trajgpt.init(plain, random(3))))).toEqual([
		"step.onnx",
		"sequence.onnx",
	]);
});
