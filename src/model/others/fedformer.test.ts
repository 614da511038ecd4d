import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input, type Tensor } from "../../engine/tensor/index.js";
import { weightsOf } from "../nn/weights.js";
import { conformance } from "../testing/conformance.js";
import * as fedformer from "./fedformer.js";
import { by, type Complex, coefficient, plus, seriesOf, zero } from "./testing/complex.js";

conformance("fedformer");

const draw = random(5);
const numbers = (count: number) => Array.from({ length: count }, () => draw.normal());
const [rows, heads, size] = [2, 2, 3];
const dim = heads * size;

interface Values {
	readonly x: readonly number[];
	readonly real: readonly number[];
	readonly imaginary: readonly number[];
}

/** One channel of one head at a time. */
function plain({ x, real, imaginary }: Values, places: number, modes: readonly number[]): number[] {
	const out = new Array<number>(x.length);
	for (let row = 0; row < rows; row++)
		for (let head = 0; head < heads; head++)
			for (let o = 0; o < size; o++) {
				const kept = new Map<number, Complex>();
				for (const [i, mode] of modes.entries()) {
					let total = zero;
					for (let e = 0; e < size; e++) {
						const channel = Array.from(
							{ length: places },
							(_, t) => x[(row * places + t) * dim + head * size + e],
						);
						const at = ((i * heads + head) * size + e) * size + o;
						const weight = { re: real[at], im: imaginary[at] };
						total = plus(total, by(coefficient(channel, mode), weight));
					}
					kept.set(mode, total);
				}
				for (const [t, value] of seriesOf(kept, places).entries())
					out[(row * places + t) * dim + head * size + o] = value;
			}
	return out;
}

test.each([
	[7, [0, 2]],
	[12, [1, 3, 4]],
	[12, [0, 1, 2, 3, 4, 5]],
])("of %i places, the modes %j are changed and stay where they are", async (places, modes) => {
	const values = {
		x: numbers(rows * places * dim),
		real: numbers(modes.length * heads * size ** 2),
		imaginary: numbers(modes.length * heads * size ** 2),
	};
	const weight = [modes.length, heads, size, size];
	const x = input("x", [rows, places, dim], "float64");
	const [real, imaginary] = [
		input("real", weight, "float64"),
		input("imaginary", weight, "float64"),
	];
	const y = fedformer.fourierBlock((name) => (name === "real" ? real : imaginary), x, modes);
	const pull = numbers(values.x.length);
	const [dx, dr, di] = gradients(y.mul(input("pull", y.shape, "float64")).sum(), [
		...[x, real, imaginary],
	]) as [Tensor, Tensor, Tensor];
	const got = await evaluate({ y, dx, dr, di }, { ...values, pull });
	expect(relativeError(got.y, plain(values, places, modes))).toBeLessThan(1e-12);

	// It is linear in each: a slope along a direction is the value there.
	const along = (changed: Partial<Values>) =>
		plain({ ...values, ...changed }, places, modes).reduce((total, v, i) => total + v * pull[i], 0);
	const dot = (a: readonly number[], b: readonly number[]) =>
		a.reduce((total, v, i) => total + v * b[i], 0);
	const step = numbers(values.real.length);
	const none = values.real.map(() => 0);
	expect(dot(got.dx, values.x)).toBeCloseTo(along({}), 9);
	expect(dot(got.dr, step)).toBeCloseTo(along({ real: step, imaginary: none }), 9);
	expect(dot(got.di, step)).toBeCloseTo(along({ real: none, imaginary: step }), 9);
});

test("modes are drawn once, in order, below half the length", () => {
	const modes = fedformer.drawnModes(126, 32, 1);
	expect(modes).toEqual(fedformer.drawnModes(126, 32, 1));
	expect(modes).not.toEqual(fedformer.drawnModes(126, 32, 2));
	expect(new Set(modes).size).toBe(32);
	expect(modes).toEqual([...modes].sort((a, b) => a - b));
	expect(modes.every((mode) => mode >= 0 && mode < 63)).toBe(true);
	expect(fedformer.drawnModes(8, 32, 1)).toEqual([0, 1, 2, 3]);
	expect(fedformer.drawnModes(1, 32, 1)).toEqual([0]);
});

test("each position weights its own moving averages; padding has no effect", async () => {
	const [places, dim, widths, counts] = [6, 2, [1, 3, 7], [6, 4]];
	const rows = counts.length;
	const values = {
		x: numbers(rows * places * dim),
		weight: numbers(widths.length * dim),
		bias: numbers(widths.length),
		mask: counts.flatMap((n) => Array.from({ length: places }, (_, t) => Number(t >= places - n))),
	};
	const p = weightsOf({
		"mixture.weight": input("weight", [widths.length, dim], "float64"),
		"mixture.bias": input("bias", [widths.length], "float64"),
	});
	const averages = fedformer.mixedAverages(input("mask", [rows, places], "float64"), widths);
	const { seasonal, trend } = await evaluate(
		fedformer.decomposeMixed(p, input("x", [rows, places, dim], "float64"), averages) as Record<
			"seasonal" | "trend",
			Tensor
		>,
		values,
	);
	const at = (row: number, t: number, c: number) => values.x[(row * places + t) * dim + c];
	for (const [row, count] of counts.entries())
		for (let t = places - count; t < places; t++) {
			const scores = widths.map((_, n) => {
				const own = Array.from(
					{ length: dim },
					(_, c) => values.weight[n * dim + c] * at(row, t, c),
				);
				return Math.exp(own.reduce((a, b) => a + b, values.bias[n]));
			});
			const total = scores.reduce((a, b) => a + b);
			for (let c = 0; c < dim; c++) {
				const wanted = widths.reduce((sum, width, n) => {
					const around = Array.from({ length: width }, (_, i) => t + i - (width - 1) / 2);
					const mean = around.reduce((s, place) => {
						const inside = Math.min(Math.max(place, places - count), places - 1);
						return s + at(row, inside, c) / width;
					}, 0);
					return sum + (scores[n] / total) * mean;
				}, 0);
				const i = (row * places + t) * dim + c;
				expect(trend[i]).toBeCloseTo(wanted, 10);
				expect(seasonal[i]).toBeCloseTo(values.x[i] - wanted, 10);
			}
		}
	expect(relativeError(trend.slice(places * dim, (places + 2) * dim), [0, 0, 0, 0])).toBe(0);
});

describe("attention between modes", () => {
	const options = { heads, modes: [0, 2, 3], memoryModes: [1, 2] };

	interface Values {
		readonly q: readonly number[];
		readonly k: readonly number[];
		readonly v: readonly number[];
	}

	/** Mode by mode: how much each of the queries' looks at each of the keys', and what it sees there. */
	function plain(values: Values, places: number, memory: number): number[] {
		const out = new Array<number>(values.q.length);
		/** The unitary transform of one channel. */
		const of = (x: readonly number[], n: number, row: number, channel: number, mode: number) => {
			const series = Array.from({ length: n }, (_, t) => x[(row * n + t) * dim + channel]);
			return by(coefficient(series, mode), { re: 1 / Math.sqrt(n), im: 0 });
		};
		for (let row = 0; row < rows; row++)
			for (let head = 0; head < heads; head++) {
				const channels = Array.from({ length: size }, (_, e) => head * size + e);
				const kept = channels.map(() => new Map<number, Complex>());
				for (const mode of options.modes) {
					const scores = options.memoryModes.map((other) => {
						const product = channels
							.map((c) =>
								by(of(values.q, places, row, c, mode), of(values.k, memory, row, c, other)),
							)
							.reduce(plus, zero);
						return Math.exp(Math.hypot(product.re, product.im) / Math.sqrt(size));
					});
					const total = scores.reduce((a, b) => a + b);
					for (const [e, c] of channels.entries())
						kept[e].set(
							mode,
							options.memoryModes
								.map((other, i) =>
									by({ re: scores[i] / total, im: 0 }, of(values.v, memory, row, c, other)),
								)
								.reduce(plus, zero),
						);
				}
				for (const [e, c] of channels.entries())
					for (const [t, value] of seriesOf(kept[e], places).entries())
						out[(row * places + t) * dim + c] = Math.sqrt(places) * value;
			}
		return out;
	}

	test.each([
		[9, 6],
		[8, 11],
	])("%i places look at the modes of %i others, and see their values", async (places, memory) => {
		const values = {
			q: numbers(rows * places * dim),
			k: numbers(rows * memory * dim),
			v: numbers(rows * memory * dim),
		};
		const given = [
			input("q", [rows, places, dim], "float64"),
			input("k", [rows, memory, dim], "float64"),
			input("v", [rows, memory, dim], "float64"),
		] as const;
		const y = fedformer.fourierAttention(...given, options);
		const pull = numbers(values.q.length);
		const [dq, dk, dv] = gradients(y.mul(input("pull", y.shape, "float64")).sum(), given) as [
			...[Tensor, Tensor, Tensor],
		];
		const got = await evaluate({ y, dq, dk, dv }, { ...values, pull });
		expect(relativeError(got.y, plain(values, places, memory))).toBeLessThan(1e-9);

		const value = (changed: Partial<Values>) =>
			plain({ ...values, ...changed }, places, memory).reduce((sum, v, i) => sum + v * pull[i], 0);
		for (const [name, slopes] of Object.entries({ q: got.dq, k: got.dk, v: got.dv })) {
			const own = values[name as keyof Values];
			const direction = numbers(own.length);
			const moved = (step: number) => value({ [name]: own.map((x, i) => x + step * direction[i]) });
			const slope = slopes.reduce((total, g, i) => total + g * direction[i], 0);
			expect(slope, name).toBeCloseTo((moved(1e-5) - moved(-1e-5)) / 2e-5, 5);
		}
	});
});
