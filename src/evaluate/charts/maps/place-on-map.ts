import { directionsOf, nearest } from "./directions.js";

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
		const own = distances[row] as number[];
		const least = own[0] as number;
		const spread = own.reduce((sum, distance) => sum + distance - least, 0) / own.length || 1;
		const weights = own.map((distance) => Math.exp((least - distance) / spread));
		const total = weights.reduce((sum, weight) => sum + weight, 0);
		for (const axis of [0, 1])
			places[2 * row + axis] = weights.reduce(
				(sum, weight, at) =>
					sum + (weight / total) * (map[2 * (indices[row]?.[at] as number) + axis] as number),
				0,
			);
	}
	return places;
}
