import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hash32, hashText, type Random, random } from "./random.js";

const draws = (count: number, draw: () => number) => Array.from({ length: count }, draw);
const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length;

/** Weights, orders and draws of every run come from here: if these change, no run can be repeated. */
test("the streams never change", () => {
	const stream = random(1);
	expect(draws(2, stream.uniform)).toEqual([0.08084367041740681, 0.25947412680891213]);
	expect(stream.integer(1000)).toBe(412);
	expect(stream.normal()).toBeCloseTo(1.0537036908485164, 12); // log and cos may differ in the last digit
	expect(random(1).fork("weights").uniform()).toBe(0.94765001914208);
	expect(random(1).fork("steps").fork(3).uniform()).toBe(0.0839681005658155);
	expect(random(7).shuffle([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])).toEqual([2, 3, 1, 0, 9, 5, 8, 6, 4, 7]);
	expect(hash32(1, 2)).toBe(2554644207);
	expect(hashText("abc")).toBe(1318545464);
});

test("seeds of more than 32 bits have streams of their own", () => {
	const seeds = [1, 2 ** 32 + 1, 2 ** 33 + 1, Number.MAX_SAFE_INTEGER, 2 ** 32 - 1];
	expect(new Set(seeds.map((seed) => random(seed).uniform())).size).toBe(seeds.length);
});

describe("uniform", () => {
	test("fills [0, 1) evenly", () => {
		const stream = random(11);
		const bins = new Array<number>(20).fill(0);
		const count = 40_000;
		const values = draws(count, stream.uniform);
		expect(values.every((u) => u >= 0 && u < 1)).toBe(true);
		for (const u of values) bins[Math.floor(u * 20)]!++;
		const expected = count / 20;
		const chiSquare = bins.reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0);
		expect(chiSquare).toBeLessThan(43.8); // 0.1 % at 19 degrees of freedom
	});

	test("successive draws, and first draws of successive seeds, are uncorrelated", () => {
		const correlation = (a: readonly number[], b: readonly number[]) =>
			12 * mean(a.map((u, i) => (u - 0.5) * ((b[i] as number) - 0.5)));
		const one = draws(10_000, random(5).uniform);
		expect(Math.abs(correlation(one.slice(1), one.slice(0, -1)))).toBeLessThan(0.04);
		const firsts = Array.from({ length: 10_001 }, (_, seed) => random(seed).uniform());
		expect(Math.abs(correlation(firsts.slice(1), firsts.slice(0, -1)))).toBeLessThan(0.04);
		expect(Math.abs(mean(firsts) - 0.5)).toBeLessThan(0.012);
	});
});

describe("forks", () => {
	test("are independent of their parent's draws, and do not advance it", () => {
		fc.assert(
			fc.property(fc.nat(), fc.string(), fc.nat(20), (seed, name, before) => {
				const parent = random(seed);
				draws(before, parent.uniform);
				const fork = draws(3, parent.fork(name).uniform);
				expect(fork).toEqual(draws(3, random(seed).fork(name).uniform));
				expect(parent.uniform()).toBe(draws(before + 1, random(seed).uniform).at(-1));
			}),
			{ seed: 1 },
		);
	});

	test("of different names, parents and seeds are different streams", () => {
		const streams = [1, 2].flatMap((seed) => [
			random(seed),
			...["a", "b", "", 1, 2].map((name) => random(seed).fork(name)),
			random(seed).fork("a").fork("b"),
			random(seed).fork("b").fork("a"),
		]);
		expect(new Set(streams.map((s) => s.uniform())).size).toBe(streams.length);
	});
});

describe("forks of large numbers", () => {
	/** First draws identify streams: each has 53 random bits. */
	const firsts = (count: number, streamOf: (number: number) => Random) => {
		const values = new Float64Array(count);
		for (let i = 0; i < count; i++) values[i] = streamOf(i + 1).uniform();
		return values;
	};
	const repeated = (values: Float64Array) => {
		const sorted = values.slice().sort();
		return sorted.filter((value, i) => i > 0 && value === sorted[i - 1]).length;
	};

	test("begin at 65,536, below which streams are as before", () => {
		expect(random(0).fork(65_535).fork("person").uniform()).toBe(0.28545142382261357);
		const text = (n: number) => random(0).fork(String(n)).uniform();
		expect(random(0).fork(65_535).uniform()).toBe(text(65_535));
		expect(random(0).fork(65_536).uniform()).not.toBe(text(65_536));
	});

	test("a million people have a million streams, and so do forks of those", () => {
		const people = random(0);
		expect(repeated(firsts(1_000_000, (n) => people.fork(String(n))))).toBe(56);
		expect(repeated(firsts(1_000_000, (n) => people.fork(n).fork("person")))).toBe(0);
	}, 30_000);

	test("numbers beyond 32 bits and nested numbers differ, too", () => {
		const numbers = [65_536, 65_537, 2 ** 32, 2 ** 32 + 65_536, 2 ** 33 + 65_536, 2 ** 52];
		const streams = numbers.flatMap((a) => [
			random(1).fork(a),
			...[1, ...numbers].map((b) => random(1).fork(a).fork(b)),
		]);
		expect(new Set(streams.map((s) => s.uniform())).size).toBe(streams.length);
	});

	test("streams that differ only in the second word are uncorrelated", () => {
		const same = [691_668, 943_932]; // as texts, these two have one key
		expect(new Set(same.map((n) => random(0).fork(String(n)).uniform())).size).toBe(1);
		const [a, b] = same.map((n) => draws(20_000, random(0).fork(n).uniform));
		const correlation = 12 * mean(a!.map((u, i) => (u - 0.5) * (b![i]! - 0.5)));
		expect(Math.abs(correlation)).toBeLessThan(0.03);
		const cells = new Array<number>(100).fill(0);
		for (const [i, u] of a!.entries()) cells[10 * Math.floor(10 * u) + Math.floor(10 * b![i]!)]!++;
		const chiSquare = cells.reduce((sum, n) => sum + (n - 200) ** 2 / 200, 0);
		expect(chiSquare).toBeLessThan(149); // 0.1 % at 99 degrees of freedom
	});
});

test("integer reaches every number below its bound, evenly", () => {
	const stream = random(2);
	const counts = new Array<number>(7).fill(0);
	for (const n of draws(14_000, () => stream.integer(7))) counts[n]!++;
	for (const count of counts) expect(Math.abs(count - 2000)).toBeLessThan(170); // 4 deviations
	expect(stream.integer(1)).toBe(0);
});

test("normal has the moments of a normal", () => {
	const values = draws(40_000, random(8).normal);
	const moment = (power: number) => mean(values.map((x) => x ** power));
	expect(Math.abs(moment(1))).toBeLessThan(0.02);
	expect(Math.abs(moment(2) - 1)).toBeLessThan(0.03);
	expect(Math.abs(moment(3))).toBeLessThan(0.08);
	expect(Math.abs(moment(4) - 3)).toBeLessThan(0.2);
	expect(values.every(Number.isFinite)).toBe(true);
});

test("shuffle keeps every item, does not change its input, and is uniform", () => {
	const items = ["a", "b", "c"];
	const stream = random(4);
	const counts = new Map<string, number>();
	for (let i = 0; i < 6000; i++) {
		const order = stream.shuffle(items).join("");
		counts.set(order, (counts.get(order) ?? 0) + 1);
	}
	expect(items).toEqual(["a", "b", "c"]);
	expect([...counts.keys()].sort()).toEqual(["abc", "acb", "bac", "bca", "cab", "cba"]);
	for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(120);
});
