import type { PoolWindow, Sweep } from "../../operations.js";
import { depthwise } from "./depthwise.js";
import { long, longs, matrix, type Value, type ValueType } from "./types.js";
import type { StableHloWriter } from "./writer.js";

/** A convolution of [batch, in, …] with [out, in / groups, …]. */
export function convolution(
	x: Value,
	weights: Value,
	sweep: Sweep,
	result: ValueType,
	write: StableHloWriter,
): Value {
	const written = depthwise({ x, weights, sweep, result }, write);
	if (written) return written;
	const { strides, dilations, padding, groups } = sweep;
	const spatial = strides.map((_, i) => i).join(", ");
	const ones = longs(strides.map(() => 1));
	return write.convolution(x, weights, result, {
		window_strides: longs(strides),
		padding: matrix(padding),
		lhs_dilation: ones,
		rhs_dilation: longs(dilations),
		window_reversal: `array<i1: ${strides.map(() => "false").join(", ")}>`,
		dimension_numbers: `#stablehlo.conv<[b, f, ${spatial}]x[o, i, ${spatial}]->[b, f, ${spatial}]>`,
		feature_group_count: long(groups),
		batch_group_count: long(1),
	});
}

/** The largest of each window, the first of equal ones, and its place in the flattened x. */
export function largestInWindows(
	x: Value,
	{ kernel, strides, padding }: PoolWindow,
	write: StableHloWriter,
): readonly Value[] {
	const before = [0, 0, ...padding.map(([n]) => n)];
	const after = [0, 0, ...padding.map(([, n]) => n)];
	const count = x.shape.reduce((n, m) => n * m, 1);
	const places = write.reshape(write.iota({ shape: [count], type: "i32" }, 0), x.shape);
	const values = write.pad(x, Number.NEGATIVE_INFINITY, before, after);
	const indices = write.pad(places, 0, before, after);
	/** What the windows see at one position of the kernel. */
	const seen = (t: Value, place: readonly number[]) => {
		const starts = [0, 0, ...place];
		const ends = t.shape.map((n, i) => {
			if (i < 2) return n;
			const [width, stride] = [kernel[i - 2], strides[i - 2]];
			const steps = Math.floor((n - width) / stride);
			return starts[i] + steps * stride + 1;
		});
		return write.slices(t, starts, ends, [1, 1, ...strides]);
	};
	const positions = kernel.reduce<number[][]>(
		(list, n) => list.flatMap((place) => Array.from({ length: n }, (_, k) => [...place, k])),
		[[]],
	);
	const taps = positions.map((place) => [seen(values, place), seen(indices, place)] as const);
	return taps.reduce(([best, at], [value, index]) => {
		const isLarger = write.compare(value, best, "GT");
		return [write.select(isLarger, value, best), write.select(isLarger, index, at)];
	});
}
