import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import { plainWeights, range } from "../nn/testing/plain.js";
import { conformance } from "../testing/conformance.js";
import * as contiformer from "./contiformer.js";
import { clockAfter, clockOf, timesOf } from "./contiformer-curves.js";
import { plainMeans } from "./testing/plain-attention.js";

conformance("contiformer");

const sizes: contiformer.Sizes = { dim: 4, heads: 2, flow: 5, steps: 6, points: 4 };
const [rows, places, questions] = [2, 6, 3];
const draw = random(5);
// The second row is padded before its third place.
const starts = [0, 2];
const gaps = starts.flatMap((start) =>
	Array.from({ length: places }, (_, i) => (i <= start || i === 4 ? 0 : 900 * draw.uniform())),
);
const mask = starts.flatMap((start) =>
	Array.from({ length: places }, (_, i) => Number(i >= start)),
);
const x = Array.from({ length: rows * places * sizes.dim }, () => draw.normal());
const later = Array.from({ length: rows * questions * sizes.dim }, () => draw.normal());
const laterGaps = Array.from({ length: rows * questions }, () => 2000 * draw.uniform());

// As after some training: the flows move.
const { p, values } = plainWeights(contiformer.continuousWeights(sizes), { noise: 0.4 });
const observed = { gaps: input("gaps", [rows, places]), mask: input("mask", [rows, places]) };
const clock = clockOf(observed);
const times = timesOf(clock, observed.mask, sizes);
const inputs = input("x", [rows, places, sizes.dim]);
const after = clockAfter(clock, input("laterGaps", [rows, questions]));
const asked = { x: input("later", [rows, questions, sizes.dim]), after };
const fed = { ...values, gaps, mask, x, later, laterGaps };

/** The clock by its definition. */
function plainClock(row: number): number[] {
	let ticks = 0;
	const all = Array.from({ length: places }, (_, i) => {
		if (i <= starts[row]) return 0;
		ticks += 1 + Math.log1p(gaps[row * places + i]);
		return ticks;
	});
	return all.map((tick) => tick / Math.max(ticks, places));
}
const vectors = (list: readonly number[], from: number, count: number) =>
	Array.from({ length: count }, (_, i) =>
		list.slice((from + i) * sizes.dim, (from + i + 1) * sizes.dim),
	);

describe("mean products and values are those of the paper, pair by pair", () => {
	/** Means from the places of a row to one of `columns` times. */
	function expectMeans(
		got: Readonly<Record<"products" | "values", readonly number[]>>,
		row: number,
		columns: number,
		column: number,
		wanted: ReturnType<typeof plainMeans>,
	) {
		const from = range(places - starts[row], (i) => row * places + starts[row] + i);
		const products = from.flatMap((i) =>
			[0, 1].map((head) => got.products[(i * sizes.heads + head) * columns + column]),
		);
		const means = from.flatMap((i) => vectors(got.values, i * columns + column, 1).flat());
		expect(relativeError(products, wanted.products.flat())).toBeLessThan(2e-3);
		expect(relativeError(means, wanted.values.flat())).toBeLessThan(2e-3);
	}

	test("among places, earlier and later, with padding before the first", async () => {
		const got = await evaluate({ ...contiformer.meansAtPositions(p, sizes, inputs, times) }, fed);
		for (const [row, start] of starts.entries()) {
			const t = plainClock(row).slice(start);
			const own = vectors(x, row * places + start, places - start);
			for (let to = start; to < places; to++) {
				const wanted = plainMeans(values, sizes.heads, t, own, places - start, to - start);
				expectMeans(got, row, places, to, wanted);
			}
		}
	});

	test("at queries after the last position, each with a spline through itself", async () => {
		const got = await evaluate(
			{ ...contiformer.meansAtQueries(p, sizes, inputs, times, asked), after },
			fed,
		);
		for (const [row, start] of starts.entries())
			for (let question = 0; question < questions; question++) {
				const cell = row * questions + question;
				const t = plainClock(row).slice(start);
				const own = vectors(x, row * places + start, places - start);
				const wanted = plainMeans(
					values,
					sizes.heads,
					[...t, t.at(-1)! + got.after[cell]],
					[...own, ...vectors(later, cell, 1)],
					places - start,
					places - start,
				);
				expectMeans(got, row, questions, question, wanted);
			}
	});
});

test("straight curves have means in closed form", async () => {
	// q(τ) = a + b τ, k_i(τ) = k_i + c (τ − t_i) in every number; v the same way.
	const [a, b, c] = [0.7, -1.3, 0.9];
	const still = Object.fromEntries(
		Object.entries(values).map(([name, data]) => [name, data.map(() => 0)]),
	);
	still["keyFlow.out.bias"]?.fill(c);
	still["valueFlow.out.bias"]?.fill(c);
	for (let i = 0; i < sizes.dim; i++) {
		still["query.weight"][i * sizes.dim] = b; // what a place holds first is its time
		still["key.weight"][i * sizes.dim + 1] = 1;
		still["value.weight"][i * sizes.dim + 1] = 1;
	}
	still["query.bias"]?.fill(a);
	const t = plainClock(0);
	const held = x.map((value, i) => {
		const place = Math.floor(i / sizes.dim);
		return i % sizes.dim === 0 ? plainClock(Math.floor(place / places))[place % places] : value;
	});
	const got = await evaluate(
		{ ...contiformer.meansAtPositions(p, sizes, inputs, times) },
		{ ...fed, ...still, x: held },
	);
	const each = sizes.dim / sizes.heads;
	for (let i = 0; i < places; i++)
		for (let j = 0; j < places; j++) {
			const [k, d] = [held[i * sizes.dim + 1], t[j] - t[i]];
			// ∫ (k + c s)(a + b tᵢ + b s) ds / d from 0 to d
			const start = a + b * t[i];
			const wanted = k * start + ((k * b + c * start) * d) / 2 + (c * b * d * d) / 3;
			expect(got.products[i * sizes.heads * places + j]).toBeCloseTo(each * wanted, 4);
			expect(got.values[(i * places + j) * sizes.dim]).toBeCloseTo(k + (c * d) / 2, 4);
		}
});

test("places are weighted by the softmax of their mean products over √(dim / heads); hidden ones are not seen", async () => {
	const means = contiformer.meansAtPositions(p, sizes, inputs, times);
	const hidden = input("hidden", [rows, places]);
	const shown = mask.map((value, i) => (i % places === 3 ? 0 : value));
	const bare = {
		...fed,
		hidden: shown,
		"out.weight": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
	};
	const { got, ...of } = await evaluate(
		{ got: contiformer.attend(p, sizes, means, hidden), ...means },
		{ ...bare, "out.bias": [0, 0, 0, 0] },
	);
	for (let row = 0; row < rows; row++)
		for (let to = 0; to < places; to++)
			for (let i = 0; i < sizes.dim; i++) {
				const head = Math.floor(i / 2);
				const from = Array.from({ length: places }, (_, n) => row * places + n);
				const weight = from.map((n) =>
					shown[n] ? Math.exp(of.products[(n * 2 + head) * places + to] / Math.SQRT2) : 0,
				);
				const whole = weight.reduce((sum, w) => sum + w, 0);
				const wanted = from.reduce(
					(sum, n, at) => sum + (weight[at] / whole) * of.values[(n * places + to) * 4 + i],
					0,
				);
				expect(got[(row * places + to) * 4 + i]).toBeCloseTo(wanted, 4);
			}
});
