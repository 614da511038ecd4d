import type { FixedShape } from "../dims.js";
import type { Sweep } from "../operations.js";
import { size, type Tensor } from "../tensor.js";
import { add } from "./elementwise.js";
import { stack } from "./shape.js";

/** Convolutions as matrix products, one per kernel position. */

const places = (kernel: FixedShape): number[][] =>
	kernel.reduce<number[][]>(
		(list, n) => list.flatMap((place) => Array.from({ length: n }, (_, k) => [...place, k])),
		[[]],
	);

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
	return places(kernel).map((place) => {
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

export function tapwiseWeights(x: Tensor, g: Tensor, shape: FixedShape, sweep: Sweep): Tensor {
	const [out, inside, ...kernel] = shape as [number, number, ...number[]];
	const rows = g.reshape([g.shape[0] as number, sweep.groups, out / sweep.groups, -1]);
	const parts = met(x, kernel, sweep).map(({ columns }) => {
		const product = rows.matmul(columns, { transposeB: true });
		return product.sum(0).reshape([out, inside]);
	});
	return stack(parts, -1).reshape(shape);
}
