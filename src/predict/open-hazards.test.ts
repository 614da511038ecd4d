import { afterAll, expect, test } from "vitest";
import { nodeRuntime } from "../engine/runtime/node.js";
import { hazardSettings } from "../model/hazards/settings.js";
import { drawnModel } from "../model/hazards/testing/drawn-model.js";
import { testHistory } from "../model/testing/histories.js";
import { hazardModel, openHazards, rowsOfCall } from "./hazards.js";

const vocab = 12;
const settings = hazardSettings.parse({ groups: [{ name: "pair", tokens: [5, 6] }] });
const learned = drawnModel("trajgpt", vocab, settings);
const runtime = { ...nodeRuntime({ threads: 1 }), opensSizes: true };
const [fixed, open] = [
	hazardModel({ ...runtime, opensSizes: false }, learned),
	hazardModel(runtime, learned),
];

const rowsBy = async (model: typeof open, ...query: Parameters<typeof open.at>) =>
	(await model.at(...query)).values;

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
	const [expected, found] = [
		await rowsBy(fixed, histories, days),
		await rowsBy(open, histories, days),
	];
	expect(found).toHaveLength(expected.length);
	const most = found.reduce((a, value, i) => Math.max(a, Math.abs(value - expected[i])), 0);
	expect(most).toBeLessThan(1e-4);
});

test("several days of a history, and long histories, give the hazards of programs of fixed sizes", async () => {
	const long = testHistory(1300, 7);
	const days = [3, 1100, 20, 21, 560, 1299].map((n) => Math.ceil(long.times[n]));
	const short = histories[29]; // of 27 events
	for (const [history, own] of [
		[long, days],
		[long, days.slice(-1)],
		[short, short.times.filter((_, n) => n % 2 === 0).map(Math.ceil)],
	] as const) {
		const [expected, found] = [
			await rowsBy(fixed, [history], [own]),
			await rowsBy(open, [history], [own]),
		];
		expect(found).toHaveLength(expected.length);
		const most = found.reduce((a, value, i) => Math.max(a, Math.abs(value - expected[i])), 0);
		expect(most).toBeLessThan(1e-4);
	}
});

test("a history is read from a state on, with the same hazards", async () => {
	const predictor = learned.model.predictor(runtime, learned.config, learned.weights);
	const history = histories[29]; // of 27 events
	const state = async (events: number) => ({
		events,
		state: await predictor.observe(predictor.start(1), [
			{ tokens: history.tokens.slice(0, events), times: history.times.slice(0, events) },
		]),
	});
	const last = Math.ceil(history.times.at(-1)!);
	const starts = [null, await state(1), await state(12), await state(history.times.length)];
	const again = starts.map(() => history);
	const days = starts.map(() => [last + 40]);
	const found = await rowsBy(open, again, days, starts);
	const width = found.length / starts.length;
	const rowOf = (at: number) => found.subarray(at * width, (at + 1) * width);
	for (const at of [1, 2, 3])
		for (const [i, value] of rowOf(at).entries()) expect(value).toBeCloseTo(rowOf(0)[i], 4);

	// A state of another history is read: the events before it are not.
	const other = { tokens: history.tokens.with(3, 11), times: history.times };
	expect(await rowsBy(open, [other], [[last]], [await state(12)])).not.toEqual(
		await rowsBy(open, [other], [[last]]),
	);
	// One with events that are not known yet is not.
	const early = [Math.floor(history.times[5])];
	expect(await rowsBy(open, [history], [early], [await state(12)])).toEqual(
		await rowsBy(open, [history], [early]),
	);
	await predictor.dispose();
});

test("histories of like length share a call", () => {
	expect(rowsOfCall([9, 10, 12, 13, 200])).toBe(1);
	expect(rowsOfCall([9, 10, 12, 13])).toBe(4);
	expect(rowsOfCall([100, 120, 121, 200])).toBe(2);
	expect(rowsOfCall(Array(50).fill(20))).toBe(32);
	expect(rowsOfCall(Array(50).fill(1000))).toBe(4);
	expect(rowsOfCall([5000])).toBe(1);
});

test("is left to fixed sizes where a runtime or a model needs them", () => {
	expect(openHazards({ ...runtime, opensSizes: false }, learned, settings)).toBeUndefined();
	expect(openHazards(runtime, drawnModel("gpt2", vocab, settings), settings)).toBeUndefined();
});
