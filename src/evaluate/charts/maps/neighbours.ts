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
		for (let i = row * dim; i < (row + 1) * dim; i++) squares += values[i] ** 2;
		if (!Number.isFinite(squares))
			throw new InputError(
				`vector ${row} holds a number that is not finite; it has no place on a map`,
			);
		const length = Math.sqrt(squares) || 1;
		for (let i = row * dim; i < (row + 1) * dim; i++) values[i] = values[i] / length;
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
		const nearestRows: number[] = [];
		const near: number[] = [];
		for (let other = 0; other < known.count; other++) {
			let squares = 0;
			for (let d = 0; d < dim; d++)
				squares += (queries.values[row * dim + d] - known.values[other * dim + d]) ** 2;
			if (nearestRows.length === k && squares >= near[k - 1]) continue;
			let rank = Math.min(nearestRows.length, k - 1);
			while (rank > 0 && near[rank - 1] > squares) {
				near[rank] = near[rank - 1];
				nearestRows[rank] = nearestRows[rank - 1];
				rank--;
			}
			near[rank] = squares;
			nearestRows[rank] = other;
		}
		indices.push(nearestRows);
		distances.push(near.map(Math.sqrt));
	}
	return { indices, distances };
}

/** How often a vector's nearest neighbours share its kind. */
export interface NeighbourAgreement {
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
	const known = [...kinds.keys()].filter((row) => kinds[row] !== null);
	const counts = new Map<string | null, number>();
	for (const row of known) counts.set(kinds[row]!, (counts.get(kinds[row]!) ?? 0) + 1);
	if (known.length <= neighbours || counts.size < 2) return undefined;
	const directions = directionsOf(
		known.flatMap((row) => Array.from({ length: dim }, (_, d) => vectors[row * dim + d])),
		dim,
	);
	const { indices } = nearest(directions, directions, neighbours + 1);
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
	const points = new Float64Array(2 * queries.count);
	for (let row = 0; row < queries.count; row++) {
		const rowDistances = distances[row];
		const least = rowDistances[0];
		const spread =
			rowDistances.reduce((sum, distance) => sum + distance - least, 0) / rowDistances.length || 1;
		const weights = rowDistances.map((distance) => Math.exp((least - distance) / spread));
		const total = weights.reduce((sum, weight) => sum + weight, 0);
		for (const axis of [0, 1])
			points[2 * row + axis] = weights.reduce(
				(sum, weight, index) => sum + (weight / total) * map[2 * indices[row]?.[index] + axis],
				0,
			);
	}
	return points;
}
