import { UMAP } from "umap-js";
import { random } from "../../base/random.js";
import { type Directions, directionsOf, nearest } from "./maps/directions.js";
import { principalPlane } from "./maps/principal-plane.js";

export interface UmapOptions {
	/** The same seed gives the same map. Default: 0. */
	readonly seed?: number;
	/** Neighbours per vector to keep close: few show detail, many the whole. Default: 15. */
	readonly neighbours?: number;
	/** Called after each round. */
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
	const places = layout.getEmbedding();
	const noise = stream.fork("noise"); // equal vectors must not start at one place
	for (const [row, place] of places.entries())
		for (const axis of [0, 1])
			place[axis] = (start[2 * row + axis] as number) + 1e-3 * noise.normal();
	for (let round = 1; round <= rounds; round++) {
		layout.step();
		onRound?.(round, rounds);
	}
	return Float64Array.from(places.flat());
}

const rowsOf = ({ count, dim, values }: Directions): number[][] =>
	Array.from({ length: count }, (_, row) => [...values.subarray(row * dim, (row + 1) * dim)]);

function scaled(places: Float64Array): Float64Array {
	const most = places.reduce((most, value) => Math.max(most, Math.abs(value)), 0) || 1;
	return places.map((value) => (startSize * value) / most);
}
