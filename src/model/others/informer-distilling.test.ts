import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import { distil } from "./informer.js";

const width = 3;
const draw = random(5);
const numbers = (count: number) => Array.from({ length: count }, () => draw.normal());

/** One place and one channel at a time: x [places][width] of which the first `padding` are padding. */
function plain(x: number[][], padding: number, weight: number[], bias: number[]): number[][] {
	const places = x.length;
	const conv = x.map((_, t) =>
		bias.map((b, out) => {
			let y = b;
			for (let tap = 0; tap < 3; tap++) {
				const from = t + tap - 1;
				if (from < padding || from >= places) continue;
				for (let c = 0; c < width; c++) y += weight[(out * width + c) * 3 + tap] * x[from][c];
			}
			return y > 0 ? y : Math.exp(y) - 1;
		}),
	);
	return Array.from({ length: Math.ceil(places / 2) }, (_, j) =>
		bias.map((_, c) => {
			const around = [2 * j - 1, 2 * j, 2 * j + 1].filter((t) => t >= padding && t < places);
			return Math.max(-1, ...around.map((t) => conv[t][c]));
		}),
	);
}

test.each([
	[1, 0],
	[2, 1],
	[5, 0],
	[5, 1],
	[8, 0],
	[8, 3],
	[8, 4],
])("%i places, %i of them padding, are halved", async (places, padding) => {
	const x = Array.from({ length: places }, () => numbers(width));
	const [weight, bias] = [numbers(width * width * 3), numbers(width)];
	const mask = x.map((_, t) => Number(t >= padding));
	const shapes: Record<string, number[]> = { weight: [width, width, 3], bias: [width] };
	const half = distil((name) => input(name, shapes[name], "float64"), {
		x: input("x", [1, places, width], "float64"),
		mask: input("mask", [1, places], "float64"),
	});
	const got = await evaluate({ y: half.x, known: half.mask }, { x: x.flat(), mask, weight, bias });
	expect(half.x.shape).toEqual([1, Math.ceil(places / 2), width]);
	expect(relativeError(got.y, plain(x, padding, weight, bias).flat())).toBeLessThan(1e-12);
	expect(got.known).toEqual(
		Array.from({ length: Math.ceil(places / 2) }, (_, j) =>
			Math.max(...[2 * j - 1, 2 * j, 2 * j + 1].map((t) => mask[t] ?? 0)),
		),
	);
});
