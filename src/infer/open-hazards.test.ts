import { afterAll, expect, test } from "vitest";
import { hazardSettings } from "../models/hazards/settings.js";
import { drawnModel } from "../models/hazards/testing/drawn-model.js";
import { testHistory } from "../models/testing/histories.js";
import { nodeRuntime } from "../runtime/node.js";
import { hazardModel } from "./hazards.js";
import { openHazards } from "./open-hazards.js";

const vocab = 12;
const settings = hazardSettings.parse({ groups: [{ name: "pair", tokens: [5, 6] }] });
const learned = drawnModel("trajgpt", vocab, settings);
const runtime = { ...nodeRuntime({ threads: 1 }), opensSizes: true };
const [fixed, open] = [
	hazardModel({ ...runtime, opensSizes: false }, learned),
	hazardModel(runtime, learned),
];

/** Of lengths in several calls and around the length of a chunk, one without a birth, and an empty one. */
const histories = [
	...Array.from({ length: 40 }, (_, i) => testHistory((i * 13) % 70, i)),
	{ tokens: [5, 7, 5], times: [100, 200.5, 300] },
	{ tokens: [], times: [] },
].map(({ tokens, times }) => ({
	tokens: Array.from(tokens, (token) => (token < 5 ? token : 5 + (token % 7))),
	times,
}));

afterAll(async () => {
	await fixed.dispose();
	await open.dispose();
	await runtime.dispose?.();
});

test("one program of open sizes gives the hazards of programs of fixed sizes", async () => {
	const days = histories.map(({ times }, i) => [
		Math.ceil(times[Math.floor(((times.length - 1) * (i % 4)) / 3)] ?? 50) + (i % 3) * 400,
	]);
	const [expected, found] = [await fixed.rows(histories, days), await open.rows(histories, days)];
	expect(found).toHaveLength(expected.length);
	const most = found.reduce((a, value, i) => Math.max(a, Math.abs(value - expected[i]!)), 0);
	expect(most).toBeLessThan(1e-4);
});

test("is left to fixed sizes where a runtime or a model needs them", () => {
	expect(openHazards({ ...runtime, opensSizes: false }, learned, settings)).toBeUndefined();
	expect(openHazards(runtime, drawnModel("gpt2", vocab, settings), settings)).toBeUndefined();
});
