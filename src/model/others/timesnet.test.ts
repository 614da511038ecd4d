import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input } from "../../engine/tensor/index.js";
import { plainGelu } from "../nn/testing/plain.js";
import { drawWeights, weightsOf } from "../nn/weights.js";
import { conformance } from "../testing/conformance.js";
import { strongest, timesBlock, timesBlockWeights } from "./timesnet.js";

conformance("timesnet");

type Values = Readonly<Record<string, ArrayLike<number>>>;
/** [height][width][channels] */
type Picture = number[][][];

const config = { dim: 4, ff: 3, periods: 3, kernels: 3 };

/** The mean of a picture's convolutions by kernels [columns, rows, in, out], zeros beyond its edges. */
function inception(picture: Picture, p: Values, prefix: string, out: number): Picture {
	return picture.map((line, r) =>
		line.map((_, c) =>
			Array.from({ length: out }, (_, o) => {
				let total = 0;
				for (let i = 0; i < config.kernels; i++) {
					const side = 2 * i + 1;
					const kernel = p[`${prefix}.kernels.${i}`];
					for (let dc = -i; dc <= i; dc++)
						for (let dr = -i; dr <= i; dr++) {
							const seen = picture[r + dr]?.[c + dc] ?? [];
							for (const [n, value] of seen.entries())
								total += value * kernel[(((dc + i) * side + dr + i) * seen.length + n) * out + o];
						}
				}
				return total / config.kernels + p[`${prefix}.bias`]?.[o];
			}),
		),
	);
}

/** Frequencies by falling amplitude, the mean over the channels. */
function spectrum(x: number[][]): { frequency: number; amplitude: number }[] {
	const length = x.length;
	return Array.from({ length: Math.floor(length / 2) }, (_, i) => {
		const frequency = i + 1;
		const amplitudes = x[0].map((_, channel) => {
			let [re, im] = [0, 0];
			for (const [t, values] of x.entries()) {
				re += values[channel] * Math.cos((2 * Math.PI * frequency * t) / length);
				im -= values[channel] * Math.sin((2 * Math.PI * frequency * t) / length);
			}
			return Math.hypot(re, im);
		});
		return { frequency, amplitude: amplitudes.reduce((a, b) => a + b) / amplitudes.length };
	}).sort((a, b) => b.amplitude - a.amplitude);
}

/** The block as the paper says it: pad with zeros, fold, two Inception blocks, unfold, cut. */
function slowly(x: number[][], p: Values): number[][] {
	const length = x.length;
	const top = spectrum(x).slice(0, config.periods);
	const total = top.reduce((sum, { amplitude }) => sum + Math.exp(amplitude), 0);
	const result = x.map((values) => [...values]);
	for (const { frequency, amplitude } of top) {
		const period = Math.floor(length / frequency);
		const folded = Array.from({ length: Math.ceil(length / period) }, (_, r) =>
			Array.from({ length: period }, (_, c) => x[r * period + c] ?? Array(config.dim).fill(0)),
		);
		const inside = inception(folded, p, "in", config.ff).map((line) =>
			line.map((cell) => cell.map(plainGelu)),
		);
		const flat = inception(inside, p, "out", config.dim).flat();
		for (let t = 0; t < length; t++)
			for (let d = 0; d < config.dim; d++)
				result[t][d] += (Math.exp(amplitude) / total) * flat[t][d];
	}
	return result;
}

const specs = timesBlockWeights(config);
const values: Record<string, Float64Array> = {};
for (const [name, { data }] of drawWeights(specs, random(4))) {
	const draw = random(8).fork(name);
	values[name] = Float64Array.from(data, (v) => v + (name.endsWith("bias") ? draw.normal() : 0));
}
const series = (rows: number, length: number) => {
	const draw = random(length);
	return Float64Array.from({ length: rows * length * config.dim }, () => 0.5 * draw.normal());
};
const placesOf = (flat: ArrayLike<number>, row: number, length: number) =>
	Array.from({ length }, (_, t) =>
		Array.from({ length: config.dim }, (_, d) => flat[(row * length + t) * config.dim + d]),
	);

const built = (rows: number, length: number) => {
	const x = input("x", [rows, length, config.dim], "float64");
	const parameters = Object.fromEntries(
		Object.entries(specs).map(([name, { shape }]) => [name, input(name, shape, "float64")]),
	);
	return { x, parameters, y: timesBlock(config, weightsOf(parameters), x) };
};

test.each([2, 3, 7, 12, 17, 23])(
	"folds each series of %i places by its own periods, as the paper does",
	async (length) => {
		const rows = 3;
		const x = series(rows, length);
		const { y } = await evaluate({ y: built(rows, length).y }, { ...values, x });
		const wanted = Array.from({ length: rows }, (_, row) =>
			slowly(placesOf(x, row, length), values),
		).flat(2);
		expect(relativeError(y, wanted)).toBeLessThan(1e-7);
	},
);

test("gradients reach the kernels, and the series through its amplitudes too", async () => {
	const [rows, length] = [1, 13];
	const x = series(rows, length);
	const { y, x: symbol, parameters } = built(rows, length);
	const draw = random(3);
	const pull = Float64Array.from({ length: length * config.dim }, () => draw.normal());
	const wanted = { x: symbol, ...parameters };
	const names = Object.keys(wanted);
	const found = gradients(y.mul(input("pull", y.shape, "float64")).sum(), Object.values(wanted));
	const got = await evaluate(Object.fromEntries(names.map((name, i) => [`d.${name}`, found[i]])), {
		...{ ...values, x, pull },
	});
	const value = (changed: Values) =>
		slowly(placesOf(changed.x, 0, length), changed)
			.flat()
			.reduce((total, v, i) => total + v * pull[i], 0);
	for (const name of names) {
		const all: Values = { ...values, x };
		const own = Float64Array.from(all[name]);
		for (let tries = 0; tries < 4; tries++) {
			const at = draw.integer(own.length);
			const moved = (by: number) => {
				const copy = own.slice();
				copy[at] += by;
				return value({ ...all, [name]: copy });
			};
			const slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
			expect(got[`d.${name}`]?.[at], `${name} ${at}`).toBeCloseTo(slope, 5);
		}
	}
});

test("the period of a wave is its strongest", async () => {
	const [length, period] = [24, 6];
	const wave = Array.from({ length }, (_, t) =>
		Array.from({ length: config.dim }, (_, d) => Math.cos((2 * Math.PI * t) / period + d)),
	).flat();
	const { frequencies, weights } = strongest(input("x", [1, length, config.dim], "float64"), 3);
	const found = await evaluate({ frequencies, weights }, { x: wave });
	expect(found.frequencies[0]).toBe(length / period - 1); // counted from 0
	expect(found.weights[0]).toBeGreaterThan(0.99);
	expect(found.weights.reduce((a, b) => a + b)).toBeCloseTo(1, 10);
});
