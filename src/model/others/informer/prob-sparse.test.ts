import { describe, expect, test } from "vitest";
import { random } from "../../../base/random.js";
import { evaluate, evaluatorOf, relativeError } from "../../../engine/runtime/testing/evaluate.js";
import { gradients, input, mul, sum, type Tensor } from "../../../engine/tensor/index.js";
import { fewOf, probSparseAttention, sampledKeys } from "./prob-sparse.js";

const [places, size, factor] = [9, 4, 1.3];
type Matrix = number[][];

const draw = random(17);
const matrix = (): Matrix =>
	Array.from({ length: places }, () => Array.from({ length: size }, () => draw.normal()));
const dot = (a: readonly number[], b: readonly number[]) =>
	a.reduce((total, x, i) => total + x * (b[i] as number), 0);

/** The paper's algorithm 1, one query at a time: also which queries looked. */
function plain(
	q: Matrix,
	k: Matrix,
	v: Matrix,
	visible: boolean[][],
	causal: boolean,
): { y: Matrix; active: number[] } {
	const sampled = sampledKeys(places, places, factor, causal);
	const scores = q.map((query) => k.map((key) => dot(query, key) / Math.sqrt(size)));
	const measure = scores.map((own, i) => {
		const chosen = own.filter((_, j) => visible[i]![j] && sampled[i * places + j] === 1);
		if (chosen.length === 0) return Number.NEGATIVE_INFINITY;
		const keys = visible[i]!.filter(Boolean).length;
		return Math.max(...chosen) - chosen.reduce((a, b) => a + b) / keys;
	});
	const active = measure
		.map((_, i) => i)
		.sort((a, b) => measure[b]! - measure[a]!)
		.slice(0, Math.ceil(factor * Math.log(places)));
	const y = scores.map((own, i) => {
		const seen = own.flatMap((_, j) => (visible[i]![j] ? [j] : []));
		const weights = active.includes(i) ? seen.map((j) => Math.exp(own[j]!)) : seen.map(() => 1);
		const total = active.includes(i) || !causal ? weights.reduce((a, b) => a + b, 0) : 1;
		return v[0]!.map((_, c) =>
			seen.reduce((sum, j, at) => sum + (weights[at]! / total) * v[j]![c]!, 0),
		);
	});
	return { y, active };
}

describe.each([false, true])("causal: %s", (causal) => {
	// Two rows: one is whole, the other begins with three positions of padding.
	const padding = [0, 3];
	const rows = padding.map(() => ({ q: matrix(), k: matrix(), v: matrix() }));
	const visible = padding.map((first) =>
		Array.from({ length: places }, (_, i) =>
			Array.from({ length: places }, (_, j) => i >= first && j >= first && (!causal || j <= i)),
		),
	);
	const shape = [2, 1, places, size];
	const [q, k, v] = ["q", "k", "v"].map((name) => input(name, shape, "float64")) as [
		Tensor,
		Tensor,
		Tensor,
	];
	const out = probSparseAttention(q, k, v, {
		...{ factor, causal, visible: input("visible", [2, 1, places, places], "float64") },
	});
	const feedsOf = (own: typeof rows) => ({
		q: own.flatMap(({ q }) => q.flat()),
		k: own.flatMap(({ k }) => k.flat()),
		v: own.flatMap(({ v }) => v.flat()),
		visible: visible.flat(2).map(Number),
	});
	const wanted = rows.map(({ q, k, v }, row) => plain(q, k, v, visible[row]!, causal));
	const isEvent = (row: number, i: number) => i >= padding[row]!;

	test("matches the plain algorithm at every event", async () => {
		const { y } = await evaluate({ y: out }, feedsOf(rows));
		for (const [row, { y: own }] of wanted.entries())
			for (let i = 0; i < places; i++) {
				if (!isEvent(row, i)) continue;
				const from = (row * places + i) * size;
				expect(relativeError(y.slice(from, from + size), own[i]!)).toBeLessThan(1e-12);
			}
		// Some look for themselves, and not all.
		expect(wanted[0]!.active.length).toBe(3);
	});

	test("a query learns where it looks, and nothing where it does not", async () => {
		const loss = sum(mul(out, out));
		const [slope] = gradients(loss, [q]) as [Tensor];
		const { run, dispose } = await evaluatorOf({ slope, loss });
		const { slope: got } = await run(feedsOf(rows));
		const step = 1e-6;
		for (const [row, { active }] of wanted.entries())
			for (let i = 0; i < places; i++) {
				if (!isEvent(row, i)) continue;
				const own = got.slice((row * places + i) * size, (row * places + i + 1) * size);
				if (!active.includes(i)) expect(own).toEqual([0, 0, 0, 0]);
				const lossAt = async (by: number) => {
					const moved = structuredClone(rows);
					moved[row]!.q[i]![1]! += by;
					return (await run(feedsOf(moved))).loss[0]!;
				};
				const difference = ((await lossAt(step)) - (await lossAt(-step))) / (2 * step);
				expect(own[1]).toBeCloseTo(difference, 5);
			}
		await dispose();
	});
});

test("the keys by which queries are measured are drawn once and for all", () => {
	const keys = sampledKeys(40, 52, 2, false);
	expect(sampledKeys(40, 52, 2, false)).toEqual(keys);
	expect(fewOf(52, 2)).toBe(8);
	const countOf = (query: number, all: readonly number[], of: number) =>
		all.slice(query * of, (query + 1) * of).reduce((a, b) => a + b);
	for (let query = 0; query < 40; query++) expect(countOf(query, keys, 52)).toBe(8);
	const firsts = new Set(
		Array.from({ length: 40 }, (_, i) => keys.slice(i * 52, i * 52 + 52).join()),
	);
	expect(firsts.size).toBe(40);
	const causal = sampledKeys(52, 52, 2, true);
	for (let query = 0; query < 52; query++) {
		expect(countOf(query, causal, 52)).toBe(Math.min(8, query + 1));
		expect(causal.slice(query * 52 + query + 1, (query + 1) * 52)).not.toContain(1);
	}
});

test("one place, or more asked for than there are, is full attention", async () => {
	expect(fewOf(1, 5)).toBe(1);
	expect(fewOf(9, 100)).toBe(9);
	const q = input("x", [1, 1, 1, 2], "float64");
	const visible = input("visible", [1, 1, 1, 1], "float64");
	const { y } = await evaluate(
		{ y: probSparseAttention(q, q, q, { factor: 5, visible }) },
		{ x: [3, 4], visible: [1] },
	);
	expect(y).toEqual([3, 4]);
});
