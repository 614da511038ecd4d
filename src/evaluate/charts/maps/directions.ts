import { InputError } from "../../../base/errors.js";

/** Unit vectors, one per row. */
export interface Directions {
	readonly count: number;
	readonly dim: number;
	readonly values: Float64Array; // [count, dim]
}

/** Normalizes [n, dim]. A zero vector stays zero. */
export function directionsOf(vectors: ArrayLike<number>, dim: number): Directions {
	if (!Number.isInteger(dim) || dim < 1 || vectors.length % dim !== 0)
		throw new InputError(
			`${vectors.length} numbers are no vectors of ${dim}; expected a multiple of it`,
		);
	const count = vectors.length / dim;
	const values = Float64Array.from(vectors);
	for (let row = 0; row < count; row++) {
		let squares = 0;
		for (let at = row * dim; at < (row + 1) * dim; at++) squares += (values[at] as number) ** 2;
		if (!Number.isFinite(squares))
			throw new InputError(
				`vector ${row} holds a number that is not finite; it has no place on a map`,
			);
		const length = Math.sqrt(squares) || 1;
		for (let at = row * dim; at < (row + 1) * dim; at++)
			values[at] = (values[at] as number) / length;
	}
	return { count, dim, values };
}

export interface Neighbours {
	/** Per row, from nearest to farthest; ties by index. */
	readonly indices: number[][];
	readonly distances: number[][];
}

/** The k nearest of `known` to each of `queries`, by exhaustive search. */
export function nearest(known: Directions, queries: Directions, k: number): Neighbours {
	const { dim } = known;
	const indices: number[][] = [];
	const distances: number[][] = [];
	for (let row = 0; row < queries.count; row++) {
		const own: number[] = [];
		const near: number[] = [];
		for (let other = 0; other < known.count; other++) {
			let squares = 0;
			for (let d = 0; d < dim; d++)
				squares +=
					((queries.values[row * dim + d] as number) - (known.values[other * dim + d] as number)) **
					2;
			if (own.length === k && squares >= (near[k - 1] as number)) continue;
			let at = Math.min(own.length, k - 1);
			while (at > 0 && (near[at - 1] as number) > squares) {
				near[at] = near[at - 1] as number;
				own[at] = own[at - 1] as number;
				at--;
			}
			near[at] = squares;
			own[at] = other;
		}
		indices.push(own);
		distances.push(near.map(Math.sqrt));
	}
	return { indices, distances };
}
