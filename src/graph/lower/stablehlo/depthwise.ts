import type { FixedShape } from "../../dims.js";
import type { Sweep } from "../../operations.js";
import type { Value, ValueType } from "./types.js";
import type { StableHloWriter } from "./writer.js";

/** A convolution whose groups have one output channel each. */
export interface Depthwise {
	readonly x: Value; // [batch, groups × inside, …]
	readonly weights: Value; // [groups, inside, …]
	readonly sweep: Sweep;
	readonly result: ValueType; // [batch, groups, …]
}

/** Beyond, the program would be long. */
const mostTerms = 64;

const product = (sizes: FixedShape) => sizes.reduce((n, m) => n * m, 1);

const placesOf = (sizes: FixedShape): number[][] =>
	sizes.reduce<number[][]>(
		(list, n) => list.flatMap((place) => Array.from({ length: n }, (_, k) => [...place, k])),
		[[]],
	);

/**
 * Writes the convolution as products of elements, where that takes few: libraries of kernels are slow with many
 * groups. Otherwise undefined.
 */
export function depthwise(given: Depthwise, write: StableHloWriter): Value | undefined {
	const { weights, sweep, result } = given;
	const [out, inside, ...kernel] = weights.shape as [number, number, ...number[]];
	if (sweep.groups === 1 || out !== sweep.groups) return undefined;
	if (inside === 1 && product(kernel) <= mostTerms) return sumOfTaps(given, write);
	const [batch, , ...positions] = result.shape as [number, number, ...number[]];
	return batch === 1 && product(positions) <= mostTerms ? sumPerPosition(given, write) : undefined;
}

function padded({ x, sweep }: Depthwise, write: StableHloWriter): Value {
	const sides = (i: 0 | 1) => [0, 0, ...sweep.padding.map((pair) => pair[i])];
	return write.pad(x, 0, sides(0), sides(1));
}

/** Every so many elements of the spatial axes from a start, so many of them. */
function picked(
	x: Value,
	start: FixedShape,
	steps: FixedShape,
	counts: FixedShape,
	write: StableHloWriter,
): Value {
	const ends = start.map(
		(from, i) => from + (steps[i] as number) * ((counts[i] as number) - 1) + 1,
	);
	const [first, second] = x.shape as [number, number];
	return write.slices(x, [0, 0, ...start], [first, second, ...ends], [1, 1, ...steps]);
}

const times = (a: FixedShape, b: FixedShape) => a.map((n, i) => n * (b[i] as number));

/** One term for each position of the kernel; groups have one input channel. */
function sumOfTaps(given: Depthwise, write: StableHloWriter): Value {
	const { weights, sweep, result } = given;
	const x = padded(given, write);
	const ones = sweep.strides.map(() => 1);
	const terms = placesOf(weights.shape.slice(2)).map((place) => {
		const start = times(place, sweep.dilations);
		const seen = picked(x, start, sweep.strides, result.shape.slice(2), write);
		const tap = write.reshape(picked(weights, place, ones, ones, write), [sweep.groups]);
		return write.elementwise(
			"multiply",
			[seen, write.broadcast(tap, result.shape, [1])],
			result.shape,
		);
	});
	return terms.reduce((a, b) => write.elementwise("add", [a, b], result.shape));
}

/** One sum for each position of the result, of a batch of one: the gradient of the weights is such a convolution. */
function sumPerPosition(given: Depthwise, write: StableHloWriter): Value {
	const { weights, sweep, result } = given;
	const [groups, inside, ...kernel] = weights.shape as [number, number, ...number[]];
	const whole = padded(given, write);
	const x = write.reshape(whole, [groups, inside, ...whole.shape.slice(2)]);
	const axes = weights.shape.map((_, i) => i).slice(1);
	const sums = placesOf(result.shape.slice(2)).map((place) => {
		const seen = picked(x, times(place, sweep.strides), sweep.dilations, kernel, write);
		const terms = write.elementwise("multiply", [seen, weights], weights.shape);
		return write.reshape(write.reduce("add", terms, axes), [groups, 1]);
	});
	return write.reshape(write.concatenate(sums, 1), result.shape);
}
