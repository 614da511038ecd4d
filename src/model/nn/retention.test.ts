import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, evaluatorOf, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { type FloatType, gradients, input, parameter } from "../../engine/tensor/index.js";
import { rotate } from "./positions.js";
import { headDecays, readingOf, retention, retentionWeights, xpos } from "./retention.js";
import { type Matrix, matrix } from "./testing/plain.js";
import { type PlainRetention, plainRetention } from "./testing/plain-retention.js";
import { drawWeights } from "./weights.js";

const size = 6;

/** q at one time, k at another; both turned and scaled. */
function pair(dtype: FloatType, factor?: number) {
	const at = (name: "q" | "k") => xpos(input(`${name}.time`, [1, 1], dtype), size, factor);
	return {
		query: rotate(input("q", [1, 1, 1, size], dtype), at("q").queries),
		key: rotate(input("k", [1, 1, 1, size], dtype), at("k").keys),
	};
}

const q = [0.5, -1, 2, 1.5, -0.25, 0.75];
const k = [1, 0.5, -1, 0.25, 2, -1.5];

test("pair i is turned by t · 10000^(−2i / size), and scaled by ζ_i to the power of t / 512 or −t / 512", async () => {
	const built = pair("float64", 0.5);
	const got = await evaluate(built, { q, k, "q.time": [700], "k.time": [300] });
	const expected = (x: readonly number[], time: number, sign: number) => {
		const out: number[] = [];
		for (let i = 0; i < 3; i++) {
			const angle = time * 10000 ** (-i / 3);
			const scale = ((2 * i + 0.4 * 6) / (1.4 * 6)) ** ((sign * time) / 512);
			const [a, b] = [x[i], x[i + 3]];
			out[i] = scale * (a * Math.cos(angle) - b * Math.sin(angle));
			out[i + 3] = scale * (a * Math.sin(angle) + b * Math.cos(angle));
		}
		return out;
	};
	expect(
		relativeError(
			got.query,
			expected(q, 700, 1).map((x) => 0.5 * x),
		),
	).toBeLessThan(1e-10);
	expect(relativeError(got.key, expected(k, 300, -1))).toBeLessThan(1e-10);
});

test("q · k depends on the time between them alone, and fades with it", async () => {
	const built = pair("float32");
	const { run, dispose } = await evaluatorOf({ score: built.query.mul(built.key).sum() });
	const score = async (from: number, to: number) =>
		(await run({ q, k, "k.time": [from], "q.time": [to] })).score[0];
	for (const elapsed of [0, 3, 250, 1200])
		expect(await score(5000, 5000 + elapsed)).toBeCloseTo(await score(0, elapsed), 3);
	expect(await score(0, 0)).toBeCloseTo(
		q.reduce((total, x, i) => total + x * k[i], 0),
		5,
	);
	expect(Math.abs(await score(0, 1e6))).toBeLessThan(1e-2);
	await dispose();
});

test("scales stop before they overflow: a century in days, a million units", async () => {
	const built = pair("float32");
	const { run, dispose } = await evaluatorOf({ ...built, score: built.query.mul(built.key).sum() });
	for (const [from, to] of [
		[0, 36525],
		[36525, 0], // what the mask takes away
		[1e6, 0],
		[1e6, 1e6],
	] as const) {
		const got = await run({ q, k, "k.time": [from], "q.time": [to] });
		for (const values of Object.values(got)) expect(values.every(Number.isFinite)).toBe(true);
	}
	await dispose();
});

const [heads, dim, decayUnitDays] = [2, 8, 30];

/** Weights as symbols, as values to feed and as the reference wants them. */
function drawn() {
	const values = drawWeights(retentionWeights(dim), random(3));
	const names = ["query", "key", "value", "gate", "out"] as const;
	return {
		p: (name: string) => parameter(name, values.get(name)?.shape ?? [], "float64"),
		feeds: Object.fromEntries([...values].map(([name, { data }]) => [name, data])),
		plain: Object.fromEntries(
			names.map((name) => [name, matrix(values.get(`${name}.weight`)?.data ?? [], dim)]),
		) as PlainRetention["weights"],
	};
}

const gapsOf = (days: readonly number[], mask: readonly number[]) =>
	days.map((day, n) => (mask[n] && mask[n - 1] ? day - days[n - 1] : 0));

test("heads keep 1 − 1/64 to 1 − 1/512 of what they hold in a unit of time, in equal ratios of what they lose", () => {
	const decays = headDecays(4);
	expect(decays[0]).toBeCloseTo(1 - 1 / 64, 12);
	expect(decays[3]).toBeCloseTo(1 - 1 / 512, 12);
	const lost = decays.map((decay) => Math.log(1 - decay));
	expect(lost[1] - lost[0]).toBeCloseTo(Math.log(1 / 8) / 3, 9);
	expect(headDecays(1)).toEqual([1 - 1 / 64]);
});

test.each([
	["irregular times, some alike", [0, 0, 12, 12, 400.5, 9000, 9001], [1, 1, 1, 1, 1, 1, 1]],
	["padding before", [0, 0, 0, 40, 40, 3000], [0, 0, 1, 1, 1, 1]],
	["padding after", [0, 40, 3000, 3000], [1, 1, 1, 0]],
	["one place", [0], [1]],
	[
		"more than a chunk",
		Array.from({ length: 70 }, (_, n) => 90 * n + (n % 3)),
		new Array(70).fill(1),
	],
])("every pair of places is weighed by the time between them: %s", async (_, days, mask) => {
	const places = days.length;
	const { p, feeds, plain } = drawn();
	const draw = random(5);
	const values = Array.from({ length: places * dim }, () => draw.normal());
	const cotangent = Array.from({ length: places * dim }, (_, at) =>
		mask[Math.floor(at / dim)] ? draw.normal() : 0,
	);
	const x = input("x", [1, places, dim], "float64");
	const row = (name: string) => input(name, [1, places], "float64");
	const reading = readingOf(
		{ days: row("days"), gaps: row("gaps"), mask: row("mask") },
		{ heads, dim, decayUnitDays },
	);
	const { output: y } = retention(p, x, reading);
	const weighted = y.mul(input("cotangent", [1, places, dim], "float64")).sum();
	const [slope] = gradients(weighted, [x]);
	const got = await evaluate(
		{ y, slope: slope },
		{ ...feeds, x: values, days, gaps: gapsOf(days, mask), mask, cotangent },
	);

	const reference = (inputs: readonly number[]): Matrix =>
		plainRetention({
			...{ x: matrix(inputs, dim), days, mask, weights: plain, heads, decayUnitDays },
			direction: "forwards",
		});
	const onlyReal = (flat: readonly number[]) =>
		flat.filter((_, at) => mask[Math.floor(at / dim)] === 1);
	expect(relativeError(onlyReal(got.y), onlyReal(reference(values).flat()))).toBeLessThan(1e-6);

	const step = 1e-5;
	const total = (inputs: readonly number[]) =>
		reference(inputs)
			.flat()
			.reduce((sum, value, at) => sum + value * cotangent[at], 0);
	const some = [0, 3, dim * (places - 1), Math.floor((places * dim) / 2)];
	const slopes = some.map((at) => {
		const moved = (by: number) => values.map((value, i) => (i === at ? value + by : value));
		return (total(moved(step)) - total(moved(-step))) / (2 * step);
	});
	expect(
		relativeError(
			some.map((at) => got.slope[at]),
			slopes,
		),
	).toBeLessThan(1e-5);
});
