import { apply, fail, isFloat, type Operation, type Sweep, size, type Tensor } from "../tensor.js";
import { add } from "./elementwise.js";
import { scatterAdd } from "./gather.js";
import { flip, stack } from "./shape.js";

const sizesOf = ({ shape }: Tensor) => shape as readonly [number, number, number];

const convOperation: Operation<"conv"> = {
	name: "conv",
	types: (inputs, { padding: [before, after], groups }) => {
		const [x, w] = inputs;
		if (x.dtype !== w.dtype || !isFloat(x.dtype))
			fail("conv", "needs two float tensors of one dtype", inputs);
		if (x.shape.length !== 3 || w.shape.length !== 3)
			fail("conv", "needs x [batch, in, length] and weights [out, in / groups, kernel]", inputs);
		const [batch, channels, length] = sizesOf(x);
		const [out, inside, kernel] = sizesOf(w);
		if (channels !== inside * groups || out % groups !== 0)
			fail("conv", `${channels} channels in ${groups} groups do not fit the weights`, inputs);
		const result = before + length + after - kernel + 1;
		if (result < 1) fail("conv", "the kernel reaches beyond the input", inputs);
		return [{ shape: [batch, out, result], dtype: x.dtype }];
	},
	pullback: ({ inputs: [x, w], attributes: sweep }, g) => [
		inputGradient(g, w, sizesOf(x)[2], sweep),
		weightGradient(x, g, w, sweep),
	],
};

/**
 * The gradient with respect to x: g convolved with the reversed kernel, with in- and output channels swapped.
 * (ConvTranspose computes the same, but its CPU kernel is slower.)
 */
function inputGradient(g: Tensor, w: Tensor, length: number, { padding, groups }: Sweep): Tensor {
	const [out, inside, kernel] = sizesOf(w);
	const seen = sizesOf(g)[2];
	const grouped = w.reshape([groups, out / groups, inside, kernel]).transpose([0, 2, 1, 3]);
	const back = flip(grouped.reshape([groups * inside, out / groups, kernel]), 2);
	const before = kernel - 1 - padding[0];
	const after = length + kernel - 1 - before - seen;
	// A negative margin: the part that lies in the padding only.
	const kept = g.slice(2, Math.max(-before, 0), seen - Math.max(-after, 0));
	return apply(convOperation, [kept, back], {
		padding: [Math.max(before, 0), Math.max(after, 0)],
		groups,
	});
}

/**
 * dW[o, c, k] = Σ g[n, o, l] x[n, c, l + k − before]. One product per position of a small kernel; for a large one, a
 * convolution of x with g in which batch and channels are swapped.
 */
function weightGradient(x: Tensor, g: Tensor, w: Tensor, sweep: Sweep): Tensor {
	const { groups } = sweep;
	const [batch, channels, length] = sizesOf(x);
	const [out, inside, kernel] = sizesOf(w);
	if (kernel <= 8 && groups < channels) {
		const rows = g.reshape([batch, groups, out / groups, -1]);
		const parts = met(x, kernel, sweep).map((columns) =>
			rows.matmul(columns, { transposeB: true }).sum(0).reshape([out, inside]),
		);
		return stack(parts, -1);
	}
	const images = x
		.reshape([batch, groups, inside, length])
		.transpose([2, 1, 0, 3])
		.reshape([inside, groups * batch, length]);
	return apply(convOperation, [images, g.transpose([1, 0, 2])], sweep).transpose([1, 0, 2]);
}

/** Per kernel position, the values of x that it is multiplied with: [batch, groups, in / groups, positions]. */
function met(x: Tensor, kernel: number, { padding: [before, after], groups }: Sweep): Tensor[] {
	const [batch, channels, length] = sizesOf(x);
	const padded = x.pad(2, before, after);
	const positions = before + length + after - kernel + 1;
	return Array.from({ length: kernel }, (_, k) =>
		padded.slice(2, k, k + positions).reshape([batch, groups, channels / groups, positions]),
	);
}

/** The convolution as matrix products, one per kernel position. */
export function tapwise(x: Tensor, w: Tensor, sweep: Sweep): Tensor {
	const [out, inside, kernel] = sizesOf(w);
	const parts = met(x, kernel, sweep).map((columns, k) =>
		w
			.slice(2, k, k + 1)
			.reshape([sweep.groups, out / sweep.groups, inside])
			.matmul(columns),
	);
	return parts.reduce(add).reshape([x.shape[0], out, -1]);
}

type Sides = number | readonly [before: number, after: number];

const sides = (padding: Sides): readonly [number, number] =>
	typeof padding === "number" ? [padding, padding] : padding;

export interface Conv1dOptions {
	readonly bias?: Tensor;
	/** Zeros on both sides, or [before, after]; [kernel − 1, 0] makes it causal. */
	readonly padding?: Sides;
	/** As many groups as channels make it depthwise. */
	readonly groups?: number;
}

/** x [batch, in, length] by weights [out, in / groups, kernel], giving [batch, out, length']. */
export function conv1d(x: Tensor, weights: Tensor, options: Conv1dOptions = {}): Tensor {
	const { bias, padding = 0, groups = 1 } = options;
	const y = apply(convOperation, [x, weights], { padding: sides(padding), groups });
	return bias ? y.add(bias.reshape([-1, 1])) : y;
}

const maxPoolOperation: Operation<"maxPool"> = {
	name: "maxPool",
	types: ([x], { kernel, stride, padding }) => {
		if (!isFloat(x.dtype)) fail("maxPool", "needs a float tensor", [x]);
		if (x.shape.length !== 3) fail("maxPool", "needs [batch, channels, length]", [x]);
		const [batch, channels, length] = sizesOf(x);
		const result = Math.floor((padding[0] + length + padding[1] - kernel) / stride) + 1;
		if (result < 1) fail("maxPool", "the window is wider than the input", [x]);
		// A window entirely in the padding would have no largest element.
		if (padding.some((n) => n >= kernel))
			fail("maxPool", `padding must be less than the window of ${kernel}`, [x]);
		const shape = [batch, channels, result];
		return [
			{ shape, dtype: x.dtype },
			{ shape, dtype: "int32" },
		];
	},
	pullback: ({ inputs: [{ shape }], outputs: [, chosen] }, g) => [
		scatterAdd(g.reshape([-1]), chosen.reshape([-1]), size(shape)).reshape(shape),
	],
};

export interface PoolOptions {
	readonly kernel: number;
	/** Default: the kernel's width. */
	readonly stride?: number;
	/** Positions beyond both ends, or [before, after]. */
	readonly padding?: Sides;
}

/** The largest of each window of x [batch, channels, length]. */
export const maxPool1d = (
	x: Tensor,
	{ kernel, stride = kernel, padding = 0 }: PoolOptions,
): Tensor => apply(maxPoolOperation, [x], { kernel, stride, padding: sides(padding) });
