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
		for (let at = row * dim; at < (row + 1) * dim; at++) squares += values[at] ** 2;
		if (!Number.isFinite(squares))
			throw new InputError(
				`vector ${row} holds a number that is not finite; it has no place on a map`,
			);
		const length = Math.sqrt(squares) || 1;
		for (let at = row * dim; at < (row + 1) * dim; at++) values[at] = values[at] / length;
	}
	return { count, dim, values };
}

interface Neighbours {
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
				squares += (queries.values[row * dim + d] - known.values[other * dim + d]) ** 2;
			if (own.length === k && squares >= near[k - 1]) continue;
			let at = Math.min(own.length, k - 1);
			while (at > 0 && near[at - 1] > squares) {
				near[at] = near[at - 1];
				own[at] = own[at - 1];
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

/** How often a vector's nearest neighbours share its kind. */
export interface NeighbourAgreement {
	/** Number of neighbours per vector. */
	readonly neighbours: number;
	/** Mean share of a vector's neighbours of the same kind; `byChance` is that of random vectors. */
	readonly share: number;
	readonly byChance: number;
}

/** Only vectors with a kind count; undefined if they are too few, or all of one kind. */
export function neighbourAgreement(
	vectors: ArrayLike<number>,
	dim: number,
	kinds: readonly (string | null)[],
	neighbours = 10,
): NeighbourAgreement | undefined {
	const known = [...kinds.keys()].filter((at) => kinds[at] !== null);
	const counts = new Map<string | null, number>();
	for (const at of known) counts.set(kinds[at]!, (counts.get(kinds[at]!) ?? 0) + 1);
	if (known.length <= neighbours || counts.size < 2) return undefined;
	const own = directionsOf(
		known.flatMap((at) => Array.from({ length: dim }, (_, d) => vectors[at * dim + d])),
		dim,
	);
	const { indices } = nearest(own, own, neighbours + 1);
	let alike = 0;
	for (const [row, near] of indices.entries()) {
		const others = near.filter((other) => other !== row).slice(0, neighbours);
		alike += others.filter((other) => kinds[known[other]] === kinds[known[row]]).length;
	}
	const pairs = [...counts.values()].reduce((sum, count) => sum + count * (count - 1), 0);
	return {
		neighbours,
		share: alike / (known.length * neighbours),
		byChance: pairs / (known.length * (known.length - 1)),
	};
}

/** Neighbours that place a further vector on a map. */
const nearestOnMap = 5;

/**
 * Places further vectors on an existing map, each at the weighted mean of its nearest neighbours, with larger weights
 * for nearer ones. The map itself does not change.
 */
export function placeOnMap(
	map: Float64Array,
	vectors: ArrayLike<number>,
	further: ArrayLike<number>,
	dim: number,
): Float64Array {
	const queries = directionsOf(further, dim);
	const { indices, distances } = nearest(directionsOf(vectors, dim), queries, nearestOnMap);
	const places = new Float64Array(2 * queries.count);
	for (let row = 0; row < queries.count; row++) {
		const own = distances[row];
		const least = own[0];
		const spread = own.reduce((sum, distance) => sum + distance - least, 0) / own.length || 1;
		const weights = own.map((distance) => Math.exp((least - distance) / spread));
		const total = weights.reduce((sum, weight) => sum + weight, 0);
		for (const axis of [0, 1])
			places[2 * row + axis] = weights.reduce(
				(sum, weight, at) => sum + (weight / total) * map[2 * indices[row]?.[at] + axis],
				0,
			);
	}
	return places;
}
