import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { presets, trajgptConfig } from "./config.js";
import { initialDecay } from "./decay.js";
import { trajgpt } from "./index.js";
import { trajgptWeights } from "./network.js";

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

	test("the same seed gives the same weights, another gives others", () => {
		expect(trajgpt.init(config, random(1))).toEqual(values);
		const other = trajgpt.init(config, random(2));
		expect(other.get("head")?.data).not.toEqual(values.get("head")?.data);
	});

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
