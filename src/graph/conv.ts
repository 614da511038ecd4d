import { tapwise, tapwiseAdjoint } from "./conv-taps.js";
import { add } from "./elementwise.js";
import { reshape, slice, transpose } from "./shape.js";
import {
	apply,
	fail,
	isFloat,
	type Operation,
	type Shape,
	sameShape,
	type Tensor,
} from "./tensor.js";

/** How a kernel moves over its input, one entry for each spatial axis. */
export interface Sweep {
	readonly strides: readonly number[];
	readonly dilations: readonly number[];
	readonly padding: readonly (readonly [before: number, after: number])[];
	readonly groups: number;
}

/** Sizes of the spatial axes after a sweep. */
export const swept = (sizes: Shape, kernel: Shape, sweep: Omit<Sweep, "groups">): Shape =>
	sizes.map((n, i) => {
		const [before, after] = sweep.padding[i] as readonly [number, number];
		const reach = (sweep.dilations[i] as number) * ((kernel[i] as number) - 1) + 1;
		return Math.floor((n + before + after - reach) / (sweep.strides[i] as number)) + 1;
	});

const attributesOf = ({ strides, dilations, padding, groups }: Sweep) => ({
	strides,
	dilations,
	pads: [...padding.map(([before]) => before), ...padding.map(([, after]) => after)],
	group: groups,
});

const convOperation: Operation<Sweep> = {
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
		return [adjoint(g, w, x.shape.slice(2), sweep), weightGradient(x, g, w.shape, sweep)];
	},
	onnx: ({ inputs, attributes: sweep }, write) => {
		const [x, w] = inputs as [Tensor, Tensor];
		return [
			x.dtype === "float32"
				? write.node("Conv", [write.name(x), write.name(w)], attributesOf(sweep))
				: write.expression(tapwise(x, w, sweep)),
		];
	},
};

interface Adjoint extends Sweep {
	/** The spatial sizes of the convolution's input: several lead to the same result. */
	readonly sizes: Shape;
}

/** The convolution's transpose as a map of x: what its gradient is made of. */
const adjointOperation: Operation<Adjoint> = {
	name: "convAdjoint",
	types: (inputs, { sizes, groups, ...sweep }) => {
		const [y, w] = inputs as [Tensor, Tensor];
		const [batch, , ...result] = y.shape as [number, number, ...number[]];
		const [, inside, ...kernel] = w.shape as [number, number, ...number[]];
		if (!sameShape(result, swept(sizes, kernel, sweep)))
			fail("convAdjoint", `[${sizes.join(", ")}] is not swept to this`, inputs);
		return [{ shape: [batch, inside * groups, ...sizes], dtype: y.dtype }];
	},
	pullback: ({ inputs, attributes: { sizes: _, ...sweep } }, [g]) => {
		const [y, w] = inputs as [Tensor, Tensor];
		if (!g) return [null, null];
		return [apply(convOperation, [g, w], sweep), weightGradient(g, y, w.shape, sweep)];
	},
	onnx: ({ inputs, attributes: { sizes, ...sweep } }, write) => {
		const [y, w] = inputs as [Tensor, Tensor];
		if (y.dtype !== "float32") return [write.expression(tapwiseAdjoint(y, w, sizes, sweep))];
		const output_padding = sizes.map((n, i) => {
			const [before, after] = sweep.padding[i] as readonly [number, number];
			const reach = (sweep.dilations[i] as number) * ((w.shape[i + 2] as number) - 1) + 1;
			return (n + before + after - reach) % (sweep.strides[i] as number);
		});
		return [
			write.node("ConvTranspose", [write.name(y), write.name(w)], {
				...attributesOf(sweep),
				output_padding,
			}),
		];
	},
};

const adjoint = (y: Tensor, w: Tensor, sizes: Shape, sweep: Sweep): Tensor =>
	apply(adjointOperation, [y, w], { ...sweep, sizes });

/**
 * dW[o, c, k] = Σ g[n, o, l] x[n, c, l·stride + k·dilation − before]: a convolution of x by g
 * with batch and channels changing places, and stride and dilation too.
 */
function weightGradient(x: Tensor, g: Tensor, shape: Shape, sweep: Sweep): Tensor {
	const { groups, strides, dilations } = sweep;
	const [batch, channels, ...sizes] = x.shape as [number, number, ...number[]];
	const [out, inside, ...kernel] = shape as [number, number, ...number[]];
	const spatial = (first: number) => sizes.map((_, i) => first + i);
	const grouped = reshape(x, [batch, groups, channels / groups, ...sizes]);
	const images = reshape(transpose(grouped, [2, 1, 0, ...spatial(3)]), [
		inside,
		groups * batch,
		...sizes,
	]);
	const kernels = transpose(g, [1, 0, ...spatial(2)]);
	const swapped = { ...sweep, strides: dilations, dilations: strides };
	const wide = apply(convOperation, [images, kernels], swapped); // [in / groups, out, ≥ kernel]
	const cut = kernel.reduce((t, n, i) => slice(t, i + 2, 0, n), wide);
	return reshape(transpose(cut, [1, 0, ...spatial(2)]), [out, inside, ...kernel]);
}

type Pair<T> = T | readonly [T, T];

export interface Conv1dOptions {
	readonly bias?: Tensor;
	readonly stride?: number;
	readonly dilation?: number;
	/** Zeros on both sides, or [before, after]; [dilation (kernel − 1), 0] makes it causal. */
	readonly padding?: Pair<number>;
	/** As many as channels: depthwise. */
	readonly groups?: number;
}

const sides = (padding: Pair<number>): readonly [number, number] =>
	typeof padding === "number" ? [padding, padding] : padding;

function withBias(y: Tensor, bias: Tensor | undefined): Tensor {
	return bias ? add(y, reshape(bias, [-1, ...y.shape.slice(2).map(() => 1)])) : y;
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
	/** Zeros on all sides, or a number or [before, after] for each axis. */
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
