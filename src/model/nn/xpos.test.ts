import { expect, test } from "vitest";
import { evaluate, evaluatorOf, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { type FloatType, input, mul, sum } from "../../engine/tensor/index.js";
import { rotate } from "./rotary-time.js";
import { xpos } from "./xpos.js";

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
			const [a, b] = [x[i] as number, x[i + 3] as number];
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
	const { run, dispose } = await evaluatorOf({ score: sum(mul(built.query, built.key)) });
	const score = async (from: number, to: number) =>
		(await run({ q, k, "k.time": [from], "q.time": [to] })).score[0] as number;
	for (const elapsed of [0, 3, 250, 1200])
		expect(await score(5000, 5000 + elapsed)).toBeCloseTo(await score(0, elapsed), 3);
	expect(await score(0, 0)).toBeCloseTo(
		q.reduce((total, x, i) => total + x * (k[i] as number), 0),
		5,
	);
	expect(Math.abs(await score(0, 1e6))).toBeLessThan(1e-2);
	await dispose();
});

test("scales stop before they overflow: a century in days, a million units", async () => {
	const built = pair("float32");
	const { run, dispose } = await evaluatorOf({ ...built, score: sum(mul(built.query, built.key)) });
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
