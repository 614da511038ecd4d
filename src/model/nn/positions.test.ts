import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, evaluatorOf, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { type FloatType, input, parameter } from "../../engine/tensor/index.js";
import * as nn from "./positions.js";

test("pairs of sine and cosine, each slower than the one before", async () => {
	const { y } = await evaluate({ y: nn.sinusoids(3, 5, "float64") }, {});
	const angles = [1, 10000 ** -0.4, 10000 ** -0.8];
	const wanted = [0, 1, 2].flatMap((place) =>
		angles.flatMap((a) => [Math.sin(place * a), Math.cos(place * a)]).slice(0, 5),
	);
	expect(y).toEqual(wanted.map((value) => expect.closeTo(value, 12)));
});

test("a time is the sines and cosines of it at scales in equal ratios", async () => {
	const encoded = nn.timeEncoding(parameter("t", [1, 2], "float64"), { width: 6, longest: 10_000 });
	expect(encoded.shape).toEqual([1, 2, 6]);
	const { y } = await evaluate({ y: encoded }, { t: [0, 250] });
	const wave = (t: number) => [
		...[1, 100, 10_000].map((scale) => Math.sin(t / scale)),
		...[1, 100, 10_000].map((scale) => Math.cos(t / scale)),
	];
	for (const [i, value] of [...wave(0), ...wave(250)].entries())
		expect(y[i]).toBeCloseTo(value, 10);
});

const level = (days: number) => Math.log1p(Math.max(0, days)) / Math.log1p(36525);

test("places that go before the last and those that follow are marked in one way", async () => {
	const [days, gaps] = [
		[0, 3, 3, 40],
		[0, 3, 0, 37],
	];
	const before = nn.marksBefore({ days: input("days", [1, 4]), gaps: input("gaps", [1, 4]) });
	const after = nn.marksAfter({ days: input("asked", [1, 3]), gaps: input("since", [1, 3]) });
	expect(before.shape).toEqual([1, 4, nn.marks]);
	const got = await evaluate(
		{ before, after },
		{ ...{ days, gaps }, asked: [41, 50, 50], since: [1, 10, 10] },
	);
	const wanted = (rows: number[][]) => rows.flat().map((value) => expect.closeTo(value, 6));
	expect(got.before).toEqual(
		wanted(days.map((day, i) => [level(day), level(gaps[i]), -level(40 - day)])),
	);
	expect(got.after).toEqual(
		wanted([
			[level(41), level(1), level(1)],
			[level(50), level(9), level(10)],
			[level(50), level(0), level(10)],
		]),
	);
});

test("a time before the last place is as the last place", async () => {
	const after = nn.marksAfter({ days: input("asked", [1, 1]), gaps: input("since", [1, 1]) });
	const got = await evaluate({ after }, { asked: [-2], since: [-2] });
	expect(got.after).toEqual([0, 0, 0]);
});

interface Golden extends nn.Periods {
	readonly times: readonly number[];
	readonly dim: number;
	readonly x: readonly number[];
	readonly y: readonly number[];
}

const { cases }: { cases: readonly Golden[] } = JSON.parse(
	readFileSync(new URL("fixtures/rotary.json", import.meta.url), "utf8"),
);

const floatTypes = ["float64", "float32"] as const satisfies FloatType[];

/** x [length, size], turned by its times. */
function turned(name: string, length: number, size: number, range: nn.Periods, dtype: FloatType) {
	const times = input(`${name}.times`, [1, length], "float64");
	const x = input(name, [1, 1, length, size], dtype);
	return nn.rotate(x, nn.timeAngles(times, Math.floor(size / 2), range, dtype));
}

describe.each(floatTypes)("%s", (dtype) => {
	test.each(cases.map((golden, i) => [i, golden] as const))("golden %i", async (_, golden) => {
		const y = turned("x", golden.times.length, golden.dim, golden, dtype);
		const result = await evaluate({ y }, { x: golden.x, "x.times": golden.times });
		expect(relativeError(result.y, golden.y)).toBeLessThan(dtype === "float64" ? 1e-11 : 1e-6);
	});

	test("an odd last element stays as it is", async () => {
		const range = { shortestPeriod: 2, longestPeriod: 900 };
		const x = [0.5, -1, 2, 4, 8];
		const odd = turned("x", 1, 5, range, dtype);
		const even = turned("x", 1, 4, range, dtype);
		const both = await evaluate({ odd }, { x, "x.times": [17.25] });
		const four = await evaluate({ even }, { x: x.slice(0, 4), "x.times": [17.25] });
		expect(both.odd).toEqual([...four.even, 8]);
	});
});

test("periods are geometric, from the shortest to the longest", () => {
	const list = nn.periods(5, { shortestPeriod: 2, longestPeriod: 162 });
	[2, 6, 18, 54, 162].forEach((p, i) => {
		expect(list[i]).toBeCloseTo(p, 10);
	});
	expect(nn.periods(1, { shortestPeriod: 2, longestPeriod: 162 })).toEqual([2]);
});

test("q · k after turning depends on the difference of their times alone", async () => {
	const range = { shortestPeriod: 2, longestPeriod: 36500 };
	const of = (name: string) => turned(name, 1, 6, range, "float64");
	const { run, dispose } = await evaluatorOf({ score: of("q").mul(of("k")).sum() });
	const days = fc.double({ min: 0, max: 36500, noNaN: true });
	const vector = fc.array(fc.double({ min: -2, max: 2, noNaN: true }), {
		minLength: 6,
		maxLength: 6,
	});
	const score = async (q: number[], k: number[], at: number, before: number) =>
		(await run({ q, k, "q.times": [at], "k.times": [at - before] })).score[0];
	await fc.assert(
		fc.asyncProperty(vector, vector, days, days, days, async (q, k, first, second, before) => {
			const difference = (await score(q, k, first, before)) - (await score(q, k, second, before));
			expect(Math.abs(difference)).toBeLessThan(1e-8);
		}),
		{ numRuns: 100, seed: 1 },
	);
	await dispose();
});

test("a century in periods of two days keeps its digits in float32", async () => {
	const range = { shortestPeriod: 2, longestPeriod: 36525 };
	const [length, size] = [64, 8];
	const draw = random(3);
	const times = Array.from({ length }, () => 36525 * draw.uniform());
	const x = Array.from({ length: length * size }, () => Math.fround(2 * draw.uniform() - 1));
	const [exact, short] = await Promise.all(
		floatTypes.map((dtype) =>
			evaluate({ y: turned("x", length, size, range, dtype) }, { x, "x.times": times }),
		),
	);
	expect(relativeError(short?.y ?? [], exact?.y ?? [])).toBeLessThan(1e-6);
});

test("angles made outside the graph are those made in it, a century in 2-day periods too", async () => {
	const range = { shortestPeriod: 2, longestPeriod: 36500 };
	const times = Float64Array.of(0, 0.3, 17.25, 36499.9, -12.5, 1e6 + 0.1);
	const inside = nn.timeAngles(input("times", [1, 6], "float64"), 4, range, "float32");
	const outside = nn.timeAngles(input("angles", [1, 6, 4]), 4, range, "float32");
	const made = await evaluate({ cosine: inside.cosine, sine: inside.sine }, { times });
	const given = { angles: nn.anglesOf(times, 4, range) };
	const fed = await evaluate({ cosine: outside.cosine, sine: outside.sine }, given);
	for (const part of ["cosine", "sine"] as const)
		for (const [i, value] of made[part].entries()) expect(fed[part][i]).toBeCloseTo(value, 6);
});
