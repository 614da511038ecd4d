import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input, type Tensor } from "../../engine/tensor/index.js";
import { fourier, inverseFourier, modesOf, timesConjugate } from "./series.js";

const draw = random(7);
const numbers = (count: number) => Array.from({ length: count }, () => draw.normal());

/** Σ_t x_t exp(−2πi m t / length), for a list of numbers. */
function plain(x: readonly number[], m: number): [real: number, imaginary: number] {
	let [real, imaginary] = [0, 0];
	for (const [t, value] of x.entries()) {
		real += value * Math.cos((2 * Math.PI * m * t) / x.length);
		imaginary -= value * Math.sin((2 * Math.PI * m * t) / x.length);
	}
	return [real, imaginary];
}

const series = (name: string, length: number) => input(name, [length, 1], "float64");

describe.each([1, 2, 5, 8, 52])("length %i", (length) => {
	test("is the plain transform, and back again", async () => {
		const x = input("x", [2, length, 3], "float64");
		const values = numbers(2 * length * 3);
		const spectrum = fourier(x);
		const back = inverseFourier(spectrum, length);
		const got = await evaluate({ ...spectrum, back }, { x: values });
		expect(relativeError(got.back, values)).toBeLessThan(1e-12);
		const wanted: { real: number[]; imaginary: number[] } = { real: [], imaginary: [] };
		for (let row = 0; row < 2; row++)
			for (const m of modesOf(length))
				for (let channel = 0; channel < 3; channel++) {
					const own = Array.from({ length }, (_, t) => values[(row * length + t) * 3 + channel]);
					const [real, imaginary] = plain(own, m);
					wanted.real.push(real);
					wanted.imaginary.push(imaginary);
				}
		expect(relativeError(got.real, wanted.real)).toBeLessThan(1e-12);
		const difference = got.imaginary.map((value, i) => value - wanted.imaginary[i]);
		expect(Math.max(...difference.map(Math.abs))).toBeLessThan(1e-11);
	});

	test("a b̄ is the correlation, around the end", async () => {
		const [a, b] = [numbers(length), numbers(length)];
		const [fa, fb] = [fourier(series("a", length)), fourier(series("b", length))];
		const got = await evaluate(
			{ correlation: inverseFourier(timesConjugate(fa, fb), length) },
			{ a, b },
		);
		const at = (values: number[], t: number) => values[((t % length) + length) % length];
		const correlation = Array.from({ length }, (_, delay) =>
			Array.from({ length }, (_, t) => at(a, t + delay) * at(b, t)).reduce((x, y) => x + y),
		);
		expect(relativeError(got.correlation, correlation)).toBeLessThan(1e-12);
	});
});

test("of some modes alone, the others are 0 on the way back", async () => {
	const [length, modes] = [9, [4, 1]];
	const x = series("x", length);
	const values = numbers(length);
	const some = fourier(x, modes);
	const got = await evaluate({ ...some, back: inverseFourier(some, length, modes) }, { x: values });
	expect(
		relativeError(
			got.real,
			modes.map((m) => plain(values, m)[0]),
		),
	).toBeLessThan(1e-12);
	expect(
		relativeError(
			got.imaginary,
			modes.map((m) => plain(values, m)[1]),
		),
	).toBeLessThan(1e-12);
	const wanted = Array.from({ length }, (_, t) =>
		modes.reduce((sum, m) => {
			const [real, imaginary] = plain(values, m);
			const angle = (2 * Math.PI * m * t) / length;
			return sum + (2 / length) * (real * Math.cos(angle) - imaginary * Math.sin(angle));
		}, 0),
	);
	expect(relativeError(got.back, wanted)).toBeLessThan(1e-12);
});

test("its gradient is that of finite differences", async () => {
	const length = 6;
	const x = series("x", length);
	const weights = numbers(4);
	const lossOf = (of: Tensor) => {
		const { real, imaginary } = fourier(of);
		const part = (t: Tensor, weight: number) => t.mul(t).mul(t).sum().mul(weight);
		return part(real, weights[0]).add(part(imaginary, weights[1]));
	};
	const loss = lossOf(x);
	const [dx] = gradients(loss, [x]) as [Tensor];
	const values = numbers(length);
	const { dx: got } = await evaluate({ dx }, { x: values });
	const step = 1e-5;
	const differences: number[] = [];
	for (let t = 0; t < length; t++) {
		const moved = (by: number) => values.map((value, i) => (i === t ? value + by : value));
		const [above, below] = [
			await evaluate({ loss }, { x: moved(step) }),
			await evaluate({ loss }, { x: moved(-step) }),
		];
		differences.push((above.loss[0] - below.loss[0]) / (2 * step));
	}
	expect(relativeError(got, differences)).toBeLessThan(1e-7);
});

test("float32 keeps its digits over long series", async () => {
	const length = 256;
	const x = input("x", [length, 1]);
	const values = numbers(length).map(Math.fround);
	const { back } = await evaluate({ back: inverseFourier(fourier(x), length) }, { x: values });
	expect(relativeError(back, values)).toBeLessThan(1e-5);
});
