import { UMAP } from "umap-js";
import { type Random, random } from "../../../base/random.js";
import { type Directions, directionsOf, nearest } from "./neighbours.js";

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
