import type { FixedShape } from "../dims.js";
import { size } from "../tensor.js";

/** Plain arrays with a shape, for reference computations. */
export interface Plain {
	readonly shape: FixedShape;
	readonly data: readonly number[];
	/** The element at an index; an index with fewer axes is broadcast. */
	at(...place: number[]): number;
}

export function plain(shape: FixedShape, data: ArrayLike<number>): Plain {
	const list = Array.from(data);
	if (list.length !== size(shape))
		throw new Error(`${list.length} values in [${shape.join(", ")}]`);
	const at = (...place: number[]) => {
		const extra = place.length - shape.length;
		const index = shape.reduce((sum, n, i) => sum * n + (n === 1 ? 0 : place[i + extra]), 0);
		return list[index];
	};
	return { shape, data: list, at };
}

/** All indices of a shape, in row-major order. */
export function places(shape: FixedShape): number[][] {
	return shape.reduce<number[][]>(
		(list, n) => list.flatMap((place) => Array.from({ length: n }, (_, k) => [...place, k])),
		[[]],
	);
}

/** An array from a formula per index. */
export const tabulate = (shape: FixedShape, value: (...place: number[]) => number): Plain =>
	plain(
		shape,
		places(shape).map((place) => value(...place)),
	);

/** Σ over 0 ≤ i < n. */
export const total = (n: number, term: (i: number) => number): number => {
	let sum = 0;
	for (let i = 0; i < n; i++) sum += term(i);
	return sum;
};
