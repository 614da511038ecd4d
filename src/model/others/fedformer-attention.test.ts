import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input, type Tensor } from "../../engine/tensor/index.js";
import { fourierAttention } from "./fedformer.js";
import { by, type Complex, coefficient, plus, seriesOf, zero } from "./testing/complex.js";

const draw = random(6);
const numbers = (count: number) => Array.from({ length: count }, () => draw.normal());
const [rows, heads, size] = [2, 2, 3];
const dim = heads * size;
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
						.map((c) => by(of(values.q, places, row, c, mode), of(values.k, memory, row, c, other)))
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
	const y = fourierAttention(...given, options);
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
