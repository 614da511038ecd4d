import type { FixedShape } from "../dims.js";
import type { Sweep } from "../operations.js";
import { apply, fail, isFloat, type Operation, size, type Tensor } from "../tensor.js";
import { tapwiseWeights } from "./conv-taps.js";
import { gather } from "./gather.js";
import { constant } from "./sources.js";

/** Sizes of the spatial axes of the result. */
export const swept = (
	sizes: FixedShape,
	kernel: FixedShape,
	sweep: Omit<Sweep, "groups">,
): FixedShape =>
	sizes.map((n, i) => {
		const [before, after] = sweep.padding[i] as readonly [number, number];
		const reach = sweep.dilations[i] * (kernel[i] - 1) + 1;
		return Math.floor((n + before + after - reach) / sweep.strides[i]) + 1;
	});

const convOperation: Operation<"conv"> = {
	name: "conv",
	types: (inputs, sweep) => {
		const [x, w] = inputs as [Tensor, Tensor];
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
	pullback: ({ inputs, attributes: sweep }, [g]) => {
		const [x, w] = inputs as [Tensor, Tensor];
		if (!g) return [null, null];
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
