import { UMAP } from "umap-js";
import { InputError } from "../../../base/errors.js";
import { type Random, random } from "../../../base/random.js";

export interface UmapOptions {
	/** The same seed gives the same map. Default: 0. */
	readonly seed?: number;
	/** Neighbours per vector to keep close: few show detail, many the whole. Default: 15. */
	readonly neighbours?: number;
	readonly onRound?: (done: number, rounds: number) => void;
}

/** Up to this many vectors, neighbours are exact; beyond, umap-js approximates them. */
const mostCompared = 10_000;
/** Fewer vectors have no neighbourhoods to preserve. */
const fewest = 5;
/** An initial principal plane needs few rounds; for small maps more cost little. */
const roundsOf = (count: number) => (count <= 500 ? 500 : 200);
/** Half the width of the initial map. */
const startSize = 10;

/**
 * A 2-D map of vectors, [n, 2], on which vectors of similar direction are close (McInnes et al. 2018). Only
 * neighbourhoods are meaningful, not the axes. It starts from the principal plane of the directions, so that the
 * layout of groups does not depend on chance.
 */
export function umap(
	vectors: ArrayLike<number>,
	dim: number,
	options: UmapOptions = {},
): Float64Array {
	const { seed = 0, neighbours = 15, onRound } = options;
	const directions = directionsOf(vectors, dim);
	const { count } = directions;
	const stream = random(seed).fork("umap");
	const start = scaled(principalPlane(directions, stream.fork("start")));
	if (count < fewest) return start;

	const size = Math.min(neighbours + 1, count - 1); // umap-js counts a point among its own neighbours
	const draw = stream.fork("layout");
	const layout = new UMAP({
		nNeighbors: size,
		minDist: 0.1,
		nEpochs: roundsOf(count),
		random: () => draw.uniform(),
	});
	if (count <= mostCompared) {
		const { indices, distances } = nearest(directions, directions, size);
		layout.setPrecomputedKNN(indices, distances);
	}
	const rounds = layout.initializeFit(rowsOf(directions));
	const embedding = layout.getEmbedding();
	const noise = stream.fork("noise"); // equal vectors must not start at one place
	for (const [row, point] of embedding.entries())
		for (const axis of [0, 1]) point[axis] = start[2 * row + axis] + 1e-3 * noise.normal();
	for (let round = 1; round <= rounds; round++) {
		layout.step();
		onRound?.(round, rounds);
	}
	return Float64Array.from(embedding.flat());
}

const rowsOf = ({ count, dim, values }: Directions): number[][] =>
	Array.from({ length: count }, (_, row) => [...values.subarray(row * dim, (row + 1) * dim)]);

function scaled(points: Float64Array): Float64Array {
	const most = points.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
	return points.map((value) => (startSize * value) / most);
}

const iterations = 100;

/** Projects vectors on their first two principal components: [n, 2]. */
export function principalPlane({ count, dim, values }: Directions, random: Random): Float64Array {
	const rest = centred(values, dim);
	const points = new Float64Array(2 * count);
	for (const axis of [0, 1]) {
		const along = takeStrongest(rest, dim, random.fork(axis));
		for (const [row, coordinate] of along.entries()) points[2 * row + axis] = coordinate;
	}
	return points;
}

/**
 * Removes the mean and the first principal component (Mu and Viswanath 2018). Training moves all embeddings along
 * that direction, whatever their meaning.
 */
export function removeCommonDirection(
	vectors: ArrayLike<number>,
	dim: number,
	random: Random,
): Float64Array {
	const rest = centred(vectors, dim);
	takeStrongest(rest, dim, random);
	return rest;
}

function centred(vectors: ArrayLike<number>, dim: number): Float64Array {
	const means = new Float64Array(dim);
	const count = vectors.length / dim;
	for (let i = 0; i < vectors.length; i++) means[i % dim] = means[i % dim] + vectors[i] / count;
	return Float64Array.from(vectors, (value, index) => value - means[index % dim]);
}

/** Removes the first principal component of centred vectors, in place; returns each vector's coordinate along it. */
function takeStrongest(rows: Float64Array, dim: number, random: Random): Float64Array {
	const direction = strongest(covarianceOf(rows, dim), dim, random);
	const along = new Float64Array(rows.length / dim);
	for (let row = 0; row < along.length; row++) {
		const vector = rows.subarray(row * dim, (row + 1) * dim);
		const coordinate = vector.reduce((sum, value, d) => sum + value * direction[d], 0);
		for (let d = 0; d < dim; d++) vector[d] = vector[d] - coordinate * direction[d];
		along[row] = coordinate;
	}
	return along;
}

function covarianceOf(rows: Float64Array, dim: number): Float64Array {
	const covariance = new Float64Array(dim * dim);
	for (let start = 0; start < rows.length; start += dim)
		for (let a = 0; a < dim; a++) {
			const value = rows[start + a];
			for (let b = 0; b < dim; b++)
				covariance[a * dim + b] = covariance[a * dim + b] + value * rows[start + b];
		}
	return covariance;
}

/** The first eigenvector, by power iteration. */
function strongest(covariance: Float64Array, dim: number, random: Random): Float64Array {
	let direction = Float64Array.from({ length: dim }, () => random.normal());
	for (let i = 0; i < iterations; i++) {
		const next = new Float64Array(dim);
		for (let a = 0; a < dim; a++)
			for (let b = 0; b < dim; b++) next[a] = next[a] + covariance[a * dim + b] * direction[b];
		const length = Math.hypot(...next);
		if (length < 1e-300) return next; // nothing differs any more
		direction = next.map((value) => value / length);
	}
	return direction;
}

/** Unit vectors, one per row. */
interface Directions {
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

/** The k nearest of `known` to each of `queries`, by exhaustive search: from nearest to farthest, ties by index. */
function nearest(known: Directions, queries: Directions, k: number) {
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
