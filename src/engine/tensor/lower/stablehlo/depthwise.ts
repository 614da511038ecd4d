import type { FixedShape } from "../../dims.js";
import type { Sweep } from "../../operations.js";
import { size } from "../../tensor.js";
import type { Value, ValueType } from "./types.js";
import type { StableHloWriter } from "./writer.js";

/** A convolution whose groups have one output channel each. */
export interface Depthwise {
	readonly x: Value; // [batch, groups × inside, …]
	readonly weights: Value; // [groups, inside, …]
	readonly sweep: Sweep;
	readonly result: ValueType; // [batch, groups, …]
}

/** With more terms the program gets too long, and the convolution of the library is used instead. */
const mostTerms = 64;

const placesOf = (sizes: FixedShape): number[][] =>
	sizes.reduce<number[][]>(
		(list, n) => list.flatMap((place) => Array.from({ length: n }, (_, k) => [...place, k])),
		[[]],
	);

/**
 * Writes a depthwise convolution as multiplications and additions if these are few, because GPU libraries are slow with
 * many groups. Otherwise returns undefined.
 */
export function depthwise(given: Depthwise, write: StableHloWriter): Value | undefined {
	const { weights, sweep, result } = given;
	const [out, inside, ...kernel] = weights.shape as [number, number, ...number[]];
	if (sweep.groups === 1 || out !== sweep.groups) return undefined;
	if (inside === 1 && size(kernel) <= mostTerms) return sumOfTaps(given, write);
	const [batch, , ...positions] = result.shape as [number, number, ...number[]];
	return batch === 1 && size(positions) <= mostTerms ? sumPerPosition(given, write) : undefined;
}

function padded({ x, sweep }: Depthwise, write: StableHloWriter): Value {
	const sides = (i: 0 | 1) => [0, 0, ...sweep.padding.map((pair) => pair[i])];
	return write.pad(x, 0, sides(0), sides(1));
}

/** A strided slice of the spatial axes: `counts` elements from `start`, `steps` apart. */
function stridedSlice(
	x: Value,
	start: FixedShape,
	steps: FixedShape,
	counts: FixedShape,
	write: StableHloWriter,
): Value {
	const ends = start.map((from, i) => from + steps[i] * (counts[i] - 1) + 1);
	const [first, second] = x.shape as [number, number];
	return write.slices(x, [0, 0, ...start], [first, second, ...ends], [1, 1, ...steps]);
}

const times = (a: FixedShape, b: FixedShape) => a.map((n, i) => n * b[i]);

/** One term for each position of the kernel; groups have one input channel. */
function sumOfTaps(given: Depthwise, write: StableHloWriter): Value {
	const { weights, sweep, result } = given;
	const x = padded(given, write);
	const ones = sweep.strides.map(() => 1);
	const terms = placesOf(weights.shape.slice(2)).map((place) => {
		const start = times(place, sweep.dilations);
		const seen = stridedSlice(x, start, sweep.strides, result.shape.slice(2), write);
		const tap = write.reshape(stridedSlice(weights, place, ones, ones, write), [sweep.groups]);
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
		const seen = stridedSlice(x, times(place, sweep.strides), sweep.dilations, kernel, write);
		const terms = write.elementwise("multiply", [seen, weights], weights.shape);
		return write.reshape(write.reduce("add", terms, axes), [groups, 1]);
	});
	return write.reshape(write.concatenate(sums, 1), result.shape);
}
