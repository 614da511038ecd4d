import { InputError } from "../../base/errors.js";

/** Vectors of length 1, row after row: of a vector only its direction counts. */
export interface Directions {
	readonly count: number;
	readonly dim: number;
	readonly values: Float64Array; // [count, dim]
}

/** Takes [n, dim]. A vector of zeros, which has no direction, stays as it is. */
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
	/** Each row from the nearest on; of two as near, the earlier first. */
	readonly indices: number[][];
	readonly distances: number[][];
}

/** The k nearest of `known` to each of `asked`, by trying all. */
export function nearest(known: Directions, asked: Directions, k: number): Neighbours {
	const { dim } = known;
	const indices: number[][] = [];
	const distances: number[][] = [];
	for (let row = 0; row < asked.count; row++) {
		const own: number[] = [];
		const near: number[] = [];
		for (let other = 0; other < known.count; other++) {
			let squares = 0;
			for (let d = 0; d < dim; d++)
				squares +=
					((asked.values[row * dim + d] as number) - (known.values[other * dim + d] as number)) **
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
