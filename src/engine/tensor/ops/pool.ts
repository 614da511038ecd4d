import type { FixedShape } from "../dims.js";
import type { PoolWindow } from "../operations.js";
import { apply, fail, isFloat, type Operation, size, type Tensor } from "../tensor.js";
import { conv1d, swept } from "./conv.js";
import { scatterAdd } from "./gather.js";
import { concat } from "./shape.js";
import { filled } from "./sources.js";

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
	pullback: ({ inputs: [x], outputs: [, chosen] }, [g]) => {
		if (!g) return [null];
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
