import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate } from "../../engine/runtime/testing/evaluate.js";
import { constant, input } from "../../engine/tensor/index.js";
import { presets, trajgptConfig } from "./config.js";
import { initialDecay } from "./decay.js";
import { trajgpt } from "./index.js";
import type { Reading } from "./layer.js";
import { gapFeatureCount, gapFeatures, positionsOf, trajgptWeights } from "./network.js";

/** The paper's vocabulary with our special tokens is about this large. */
const vocab = 200;

const count = (preset: keyof typeof presets) =>
	Object.values(trajgptWeights(trajgptConfig.parse({ vocab, ...presets[preset] }))).reduce(
		(total, { shape }) => total + shape.reduce((a, b) => a * b, 1),
		0,
	);

describe("how many parameters a preset has, with 200 tokens", () => {
	test.each([
		["tiny", 125_971],
		["default", 484_539],
		["paper", 3_926_432],
		["paper-7m", 7_779_296],
	] as const)("%s: %i", (preset, expected) => {
		expect(count(preset)).toBe(expected);
	});
});

describe("at the start", () => {
	const config = trajgptConfig.parse({ vocab, ...presets.tiny });
	const values = trajgpt.init(config, random(1));

	test("a weight does not depend on which others there are", () => {
		const fixed = trajgpt.init({ ...config, decay: "fixed" }, random(1));
		expect(fixed.get("layers.1.down")).toEqual(values.get("layers.1.down"));
		expect([...fixed.keys()].filter((name) => /^layers.*decay/.test(name))).toEqual([]);
	});

	test("absolute positions have a vector each, which starts small", () => {
		const absolute = { ...config, position: "absolute", positions: 128 } as const;
		const own = trajgpt.init(absolute, random(1));
		const { shape, data } = own.get("positions") ?? { shape: [], data: new Float32Array() };
		expect(shape).toEqual([128, 64]);
		expect(Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length)).toBeCloseTo(0.02, 3);
		expect(own.get("layers.1.down")).toEqual(values.get("layers.1.down"));
		expect(values.has("positions")).toBe(false);
	});

	test("weights keep the size of what passes through; branches start smaller", () => {
		const deviation = (name: string) => {
			const data = values.get(name)?.data ?? new Float32Array();
			return Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length);
		};
		expect(deviation("embedding")).toBeCloseTo(1, 1);
		expect(deviation("layers.0.query")).toBeCloseTo(1 / 8, 2);
		expect(deviation("layers.0.out")).toBeCloseTo(1 / Math.sqrt(128) / 2, 2);
	});

	test("heads forget at rates from quick to slow, whatever the data", () => {
		expect(initialDecay(1)).toEqual([1]);
		expect(initialDecay(6)).toEqual([1, 2, 3, 4, 5, 6]);
		expect(values.get("layers.0.decayBias")?.data).toEqual(Float32Array.from(initialDecay(4)));
		expect(values.get("layers.0.decay")?.data.every((x) => x === 0)).toBe(true);
	});
});

test("a gap becomes its logarithm, sines and cosines of it, and whether there is one", async () => {
	const days = [0, 1, 365.25, 36525, -40];
	const { waves } = await evaluate({ waves: gapFeatures(constant(days, [1, 5], "float64")) }, {});
	const row = (i: number) => waves.slice(i * gapFeatureCount, (i + 1) * gapFeatureCount);
	for (const [i, gap] of days.entries()) {
		const since = Math.max(0, gap);
		const level = Math.log1p(since) / Math.log1p(36525);
		const [first, none, sine, cosine] = row(i);
		expect(first).toBeCloseTo(level, 12);
		expect(none).toBeCloseTo(Math.exp(-since), 12);
		expect(sine).toBeCloseTo(Math.sin(Math.PI * level), 12);
		expect(cosine).toBeCloseTo(Math.cos(Math.PI * level), 12);
		expect(row(i).at(-1)).toBeCloseTo(Math.cos(8 * Math.PI * level), 12);
	}
	expect(row(4)).toEqual(row(0)); // backwards counts as no time at all
});

const dtype = "float64";

/** Two rows of four slots, and three queries per row. */
async function positionsFor(
	read: Reading,
	queries: number,
	given: { mask?: number[]; seen?: number[] },
) {
	const { positions, seen } = positionsOf({
		...{ batch: 2, slots: 4, dtype },
		mask: given.mask && input("mask", [2, 4], dtype),
		seen: given.seen && input("seen", [2, 1], dtype),
		queries: { tokens: input("tokens", [2, queries], "int32"), read },
	});
	return evaluate({ at: positions, after: seen }, { ...given, positions: [0, 1, 4, 4, 2, 3] });
}

test("counts slots up; queries take the position of their slot, or all that after the last", async () => {
	expect(await positionsFor("before", 4, {})).toEqual({
		at: [0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3],
		after: [4, 4],
	});
	expect(await positionsFor("after", 3, { seen: [10, 0] })).toEqual({
		at: [10, 11, 12, 13, 14, 14, 14, 0, 1, 2, 3, 4, 4, 4],
		after: [14, 4],
	});
});

test("padding is not counted, and a row ends after its last event", async () => {
	const mask = [1, 0, 1, 1, 1, 1, 0, 0];
	expect(await positionsFor("after", 1, { mask, seen: [0, 5] })).toEqual({
		at: [0, 1, 1, 2, 3, 5, 6, 7, 7, 7],
		after: [3, 7],
	});
	const between = { positions: input("positions", [2, 3], "int32") };
	expect(await positionsFor(between, 3, { mask: [1, 1, 1, 1, 1, 1, 0, 0] })).toEqual({
		at: [0, 1, 2, 3, 0, 1, 4, 0, 1, 2, 2, 2, 2, 2],
		after: [4, 2],
	});
});
