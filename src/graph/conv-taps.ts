import type { Sweep } from "./conv.js";
import { add } from "./elementwise.js";
import { matmul } from "./matmul.js";
import { pad, reshape, slice } from "./shape.js";
import { type Shape, size, type Tensor } from "./tensor.js";

/** Convolutions as sums over the kernel's places of matrix products, for dtypes without a kernel. */

/** All places of a kernel. */
const places = (kernel: Shape): number[][] =>
	kernel.reduce<number[][]>(
		(list, n) => list.flatMap((place) => Array.from({ length: n }, (_, k) => [...place, k])),
		[[]],
	);

/** The weights at one place, [groups, out / groups, in / groups]. */
function tap(w: Tensor, place: readonly number[], groups: number): Tensor {
	const one = place.reduce((t, k, i) => slice(t, i + 2, k, k + 1), w);
	const [out, inside] = w.shape as [number, number];
	return reshape(one, [groups, out / groups, inside]);
}

/** Every n-th element of an axis, from the first. */
function everyNth(x: Tensor, axis: number, n: number): Tensor {
	if (n === 1) return x;
	const count = Math.ceil((x.shape[axis] as number) / n);
	const full = pad(x, axis, 0, count * n - (x.shape[axis] as number));
	const [before, after] = [x.shape.slice(0, axis), x.shape.slice(axis + 1)];
	const first = slice(reshape(full, [...before, count, n, ...after]), axis + 1, 0, 1);
	return reshape(first, [...before, count, ...after]);
}

/** n − 1 zeros between the elements of an axis. */
function spread(x: Tensor, axis: number, n: number): Tensor {
	if (n === 1) return x;
	const count = x.shape[axis] as number;
	const [before, after] = [x.shape.slice(0, axis), x.shape.slice(axis + 1)];
	const wide = pad(reshape(x, [...before, count, 1, ...after]), axis + 1, 0, n - 1);
	return slice(reshape(wide, [...before, count * n, ...after]), axis, 0, (count - 1) * n + 1);
}

export function tapwise(x: Tensor, w: Tensor, sweep: Sweep): Tensor {
	const { strides, dilations, padding, groups } = sweep;
	const [batch] = x.shape as [number];
	const [out, inside, ...kernel] = w.shape as [number, number, ...number[]];
	const padded = padding.reduce((t, [before, after], i) => pad(t, i + 2, before, after), x);
	let result: Shape = [];
	const parts = places(kernel).map((place) => {
		const seen = place.reduce((t, k, i) => {
			const [stride, dilation] = [strides[i] as number, dilations[i] as number];
			const reach = dilation * ((kernel[i] as number) - 1);
			const steps = Math.floor(((t.shape[i + 2] as number) - reach - 1) / stride);
			const start = k * dilation;
			return everyNth(slice(t, i + 2, start, start + steps * stride + 1), i + 2, stride);
		}, padded);
		result = seen.shape.slice(2);
		const columns = reshape(seen, [batch, groups, inside, size(result)]);
		return matmul(tap(w, place, groups), columns);
	});
	return reshape(parts.reduce(add), [batch, out, ...result]);
}

export function tapwiseAdjoint(y: Tensor, w: Tensor, sizes: Shape, sweep: Sweep): Tensor {
	const { strides, dilations, padding, groups } = sweep;
	const [batch, out, ...result] = y.shape as [number, number, ...number[]];
	const [, inside, ...kernel] = w.shape as [number, number, ...number[]];
	const columns = reshape(y, [batch, groups, out / groups, size(result)]);
	const parts = places(kernel).map((place) => {
		const seen = matmul(tap(w, place, groups), columns, { transposeA: true });
		return place.reduce(
			(t, k, i) => {
				const [before, after] = padding[i] as readonly [number, number];
				const wide = spread(t, i + 2, strides[i] as number);
				const start = k * (dilations[i] as number);
				const rest = (sizes[i] as number) + before + after - start - (wide.shape[i + 2] as number);
				return pad(wide, i + 2, start, rest);
			},
			reshape(seen, [batch, inside * groups, ...result]),
		);
	});
	const padded = parts.reduce(add);
	return padding.reduce(
		(t, [before], i) => slice(t, i + 2, before, before + (sizes[i] as number)),
		padded,
	);
}
