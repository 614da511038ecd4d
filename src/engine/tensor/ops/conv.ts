import { type FixedShape, indicesOf } from "../dims.js";
import {
	apply,
	fail,
	isFloat,
	type Operation,
	type PoolWindow,
	type Sweep,
	size,
	type Tensor,
} from "../tensor.js";
import { add } from "./elementwise.js";
import { gather, scatterAdd } from "./gather.js";
import { concat, stack } from "./shape.js";
import { constant, filled } from "./sources.js";

/** Sizes of the spatial axes of the result. */
const swept = (sizes: FixedShape, kernel: FixedShape, sweep: Omit<Sweep, "groups">): FixedShape =>
	sizes.map((n, i) => {
		const [before, after] = sweep.padding[i] as readonly [number, number];
		const reach = sweep.dilations[i] * (kernel[i] - 1) + 1;
		return Math.floor((n + before + after - reach) / sweep.strides[i]) + 1;
	});

const convOperation: Operation<"conv"> = {
	name: "conv",
	types: (inputs, sweep) => {
		const [x, w] = inputs;
		if (x.dtype !== w.dtype || !isFloat(x.dtype))
			fail("conv", "needs two float tensors of one dtype", inputs);
		const rank = sweep.strides.length + 2;
		if (x.shape.length !== rank || w.shape.length !== rank)
			fail("conv", "needs x [batch, in, …] and weights [out, in / groups, …]", inputs);
		const [batch, channels, ...sizes] = x.shape as [number, number, ...number[]];
		const [out, inside, ...kernel] = w.shape as [number, number, ...number[]];
		if (channels !== inside * sweep.groups || out % sweep.groups !== 0)
			fail("conv", `${channels} channels in ${sweep.groups} groups do not fit the weights`, inputs);
		const result = swept(sizes, kernel, sweep);
		if (result.some((n) => n < 1)) fail("conv", "the kernel reaches beyond the input", inputs);
		return [{ shape: [batch, out, ...result], dtype: x.dtype }];
	},
	pullback: ({ inputs: [x, w], attributes: sweep }, g) => {
		return [
			inputGradient(g, w, x.shape.slice(2) as FixedShape, sweep),
			weightGradient(x, g, w.shape as FixedShape, sweep),
		];
	},
};

/** n − 1 zeros between the elements of an axis. */
function spread(x: Tensor, axis: number, n: number): Tensor {
	if (n === 1) return x;
	const count = x.shape[axis] as number;
	const [before, after] = [x.shape.slice(0, axis), x.shape.slice(axis + 1)];
	const wide = x.reshape([...before, count, 1, ...after]).pad(axis + 1, 0, n - 1);
	return wide.reshape([...before, count * n, ...after]).slice(axis, 0, (count - 1) * n + 1);
}

function reversed(x: Tensor, axis: number): Tensor {
	const n = x.shape[axis] as number;
	const order = Array.from({ length: n }, (_, i) => n - 1 - i);
	return n === 1 ? x : gather(x, constant(order, [n], "int32"), axis);
}

/**
 * The gradient with respect to x: g, with zeros between its elements for the stride, convolved with the reversed
 * kernel with in- and output channels swapped. (ConvTranspose computes the same, but its CPU kernel is slower,
 * above all on one spatial axis.)
 */
function inputGradient(g: Tensor, w: Tensor, sizes: FixedShape, sweep: Sweep): Tensor {
	const { groups, strides, dilations } = sweep;
	const [out, inside, ...kernel] = w.shape as [number, number, ...number[]];
	const grouped = w.reshape([groups, out / groups, inside, ...kernel]);
	const swapped = grouped.transpose([0, 2, 1, ...kernel.map((_, i) => i + 3)]);
	const back = kernel.reduce(
		(t, _, i) => reversed(t, i + 2),
		swapped.reshape([groups * inside, out / groups, ...kernel]),
	);
	const margins = kernel.map((n, i) => {
		const before = dilations[i] * (n - 1) - sweep.padding[i]?.[0];
		const [seen, size] = [g.shape[i + 2] as number, sizes[i]];
		const wide = (seen - 1) * strides[i] + 1;
		return [before, size + dilations[i] * (n - 1) - before - wide] as const;
	});
	const whole = margins.reduce((t, [before, after], i) => {
		const wide = spread(t, i + 2, strides[i]);
		// A negative margin: the part that lies in the padding only.
		return wide.slice(
			i + 2,
			Math.max(-before, 0),
			(wide.shape[i + 2] as number) - Math.max(-after, 0),
		);
	}, g);
	return apply(convOperation, [whole, back], {
		groups,
		dilations,
		strides: strides.map(() => 1),
		padding: margins.map(([before, after]) => [Math.max(before, 0), Math.max(after, 0)] as const),
	});
}

/**
 * dW[o, c, k] = Σ g[n, o, l] x[n, c, l·stride + k·dilation − before]. One product per position of a small kernel;
 * for a large one, a convolution of x with g in which batch and channels are swapped, and stride and dilation too.
 */
function weightGradient(x: Tensor, g: Tensor, shape: FixedShape, sweep: Sweep): Tensor {
	const { groups, strides, dilations } = sweep;
	const [batch, channels, ...sizes] = x.shape as [number, number, ...number[]];
	const [, inside, ...kernel] = shape as [number, number, ...number[]];
	if (size(kernel) <= 8 && groups < channels) return tapwiseWeights(x, g, shape, sweep);
	const spatial = (first: number) => sizes.map((_, i) => first + i);
	const grouped = x.reshape([batch, groups, inside, ...sizes]);
	const images = grouped
		.transpose([2, 1, 0, ...spatial(3)])
		.reshape([inside, groups * batch, ...sizes]);
	const kernels = g.transpose([1, 0, ...spatial(2)]);
	const swapped = { ...sweep, strides: dilations, dilations: strides };
	const wide = apply(convOperation, [images, kernels], swapped); // [in / groups, out, ≥ kernel]
	const cut = kernel.reduce((t, n, i) => t.slice(i + 2, 0, n), wide);
	return cut.transpose([1, 0, ...spatial(2)]);
}

type Pair<T> = T | readonly [T, T];

export interface Conv1dOptions {
	readonly bias?: Tensor;
	readonly stride?: number;
	readonly dilation?: number;
	/** Zeros on both sides, or [before, after]; [dilation (kernel − 1), 0] makes it causal. */
	readonly padding?: Pair<number>;
	/** As many groups as channels make it depthwise. */
	readonly groups?: number;
}

const sides = (padding: Pair<number>): readonly [number, number] =>
	typeof padding === "number" ? [padding, padding] : padding;

function withBias(y: Tensor, bias: Tensor | undefined): Tensor {
	return bias ? y.add(bias.reshape([-1, ...y.shape.slice(2).map(() => 1)])) : y;
}

/** x [batch, in, length] by weights [out, in / groups, kernel], giving [batch, out, length']. */
export function conv1d(x: Tensor, weights: Tensor, options: Conv1dOptions = {}): Tensor {
	const { bias, stride = 1, dilation = 1, padding = 0, groups = 1 } = options;
	const sweep = { strides: [stride], dilations: [dilation], padding: [sides(padding)], groups };
	return withBias(apply(convOperation, [x, weights], sweep), bias);
}

export interface Conv2dOptions {
	readonly bias?: Tensor;
	readonly stride?: Pair<number>;
	readonly dilation?: Pair<number>;
	/** Zeros on all sides, or a number or [before, after] per axis. */
	readonly padding?: number | readonly [Pair<number>, Pair<number>];
	readonly groups?: number;
}

/** x [batch, in, height, width] by weights [out, in / groups, …kernel], giving [batch, out, …]. */
export function conv2d(x: Tensor, weights: Tensor, options: Conv2dOptions = {}): Tensor {
	const { bias, stride = 1, dilation = 1, padding = 0, groups = 1 } = options;
	const sweep = {
		strides: sides(stride),
		dilations: sides(dilation),
		padding: typeof padding === "number" ? [sides(padding), sides(padding)] : padding.map(sides),
		groups,
	};
	return withBias(apply(convOperation, [x, weights], sweep), bias);
}

/** Convolutions as matrix products, one per kernel position. */

/** Every n-th element of an axis, from the first. */
function everyNth(x: Tensor, axis: number, n: number): Tensor {
	if (n === 1) return x;
	const count = Math.ceil((x.shape[axis] as number) / n);
	const full = x.pad(axis, 0, count * n - (x.shape[axis] as number));
	const [before, after] = [x.shape.slice(0, axis), x.shape.slice(axis + 1)];
	const first = full.reshape([...before, count, n, ...after]).slice(axis + 1, 0, 1);
	return first.reshape([...before, count, ...after]);
}

/** Per kernel position, the values of x that it is multiplied with: [batch, groups, in / groups, positions]. */
function met(
	x: Tensor,
	kernel: FixedShape,
	sweep: Sweep,
): { place: number[]; columns: Tensor; result: FixedShape }[] {
	const [batch, channels] = x.shape as [number, number];
	const padded = sweep.padding.reduce((t, [before, after], i) => t.pad(i + 2, before, after), x);
	return indicesOf(kernel).map((place) => {
		const seen = place.reduce((t, k, i) => {
			const [stride, dilation] = [sweep.strides[i], sweep.dilations[i]];
			const reach = dilation * (kernel[i] - 1);
			const steps = Math.floor(((t.shape[i + 2] as number) - reach - 1) / stride);
			const start = k * dilation;
			return everyNth(t.slice(i + 2, start, start + steps * stride + 1), i + 2, stride);
		}, padded);
		const result = seen.shape.slice(2) as FixedShape;
		const shape = [batch, sweep.groups, channels / sweep.groups, size(result)];
		return { place, columns: seen.reshape(shape), result };
	});
}

export function tapwise(x: Tensor, w: Tensor, sweep: Sweep): Tensor {
	const [out, inside, ...kernel] = w.shape as [number, number, ...number[]];
	const taps = met(x, kernel, sweep);
	const parts = taps.map(({ place, columns }) => {
		const tap = place.reduce((t, k, i) => t.slice(i + 2, k, k + 1), w);
		return tap.reshape([sweep.groups, out / sweep.groups, inside]).matmul(columns);
	});
	return parts.reduce(add).reshape([x.shape[0] as number, out, ...(taps[0]?.result ?? [])]);
}

function tapwiseWeights(x: Tensor, g: Tensor, shape: FixedShape, sweep: Sweep): Tensor {
	const [out, inside, ...kernel] = shape as [number, number, ...number[]];
	const rows = g.reshape([g.shape[0] as number, sweep.groups, out / sweep.groups, -1]);
	const parts = met(x, kernel, sweep).map(({ columns }) => {
		const product = rows.matmul(columns, { transposeB: true });
		return product.sum(0).reshape([out, inside]);
	});
	return stack(parts, -1).reshape(shape);
}

const maxPoolOperation: Operation<"maxPool"> = {
	name: "maxPool",
	types: ([input], window) => {
		const x = input;
		if (!isFloat(x.dtype)) fail("maxPool", "needs a float tensor", [x]);
		if (x.shape.length !== window.kernel.length + 2)
			fail("maxPool", `needs [batch, channels, …] with ${window.kernel.length} more axes`, [x]);
		const dilations = window.kernel.map(() => 1);
		const sizes = swept(x.shape.slice(2) as FixedShape, window.kernel, { ...window, dilations });
		if (sizes.some((n) => n < 1)) fail("maxPool", "the window is wider than the input", [x]);
		// A window entirely in the padding would have no largest element.
		if (window.padding.some((sides, i) => sides.some((n) => n >= window.kernel[i])))
			fail("maxPool", `padding must be less than the window of ${window.kernel.join(" × ")}`, [x]);
		const shape = [...x.shape.slice(0, 2), ...sizes];
		return [
			{ shape, dtype: x.dtype },
			{ shape, dtype: "int32" },
		];
	},
	pullback: ({ inputs: [x], outputs: [, chosen] }, g) => {
		const { shape } = x;
		const flat = scatterAdd(g.reshape([-1]), chosen.reshape([-1]), size(shape));
		return [flat.reshape(shape)];
	},
};

export interface PoolOptions {
	readonly kernel: number;
	/** Default: the kernel's width. */
	readonly stride?: number;
	/** Positions beyond both ends, or [before, after]. */
	readonly padding?: number | readonly [number, number];
}

function windowOf({ kernel, stride = kernel, padding = 0 }: PoolOptions, axes: number): PoolWindow {
	const sides = typeof padding === "number" ? ([padding, padding] as const) : padding;
	const each = <T>(value: T): T[] => Array<T>(axes).fill(value);
	return { kernel: each(kernel), strides: each(stride), padding: each(sides) };
}

/** The largest of each window of x [batch, channels, length]. */
export const maxPool1d = (x: Tensor, options: PoolOptions): Tensor =>
	apply(maxPoolOperation, [x], windowOf(options, 1));

/** The largest of each square window of x [batch, channels, height, width]. */
export const maxPool2d = (x: Tensor, options: PoolOptions): Tensor =>
	apply(maxPoolOperation, [x], windowOf(options, 2));

/** The mean of each window of x [batch, channels, length]; positions beyond the ends count as zeros. */
export function avgPool1d(x: Tensor, options: PoolOptions): Tensor {
	if (x.shape.length !== 3) fail("avgPool1d", "needs [batch, channels, length]", [x]);
	const { kernel, stride = kernel, padding = 0 } = options;
	const [batch, channels, length] = x.shape as [number, number, number];
	const weights = filled(1 / kernel, [1, 1, kernel], x.dtype);
	const rows = x.reshape([batch * channels, 1, length]);
	return conv1d(rows, weights, { stride, padding }).reshape([batch, channels, -1]);
}

/** The mean of the `width` positions around each position along the last axis; the ends repeat. */
export function movingAverage(x: Tensor, width: number): Tensor {
	const before = Math.floor((width - 1) / 2);
	const ends = (part: Tensor, count: number) =>
		count > 0 ? [part.expand([...x.shape.slice(0, -1), count])] : [];
	const first = ends(x.slice(-1, 0, 1), before);
	const last = ends(x.slice(-1, -1), width - 1 - before);
	const wide = concat([...first, x, ...last], -1);
	const rows = wide.reshape([1, -1, wide.shape.at(-1) as number]);
	return avgPool1d(rows, { kernel: width, stride: 1 }).reshape(x.shape);
}
