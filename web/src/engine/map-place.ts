import { directionsOf, nearest, placeOnMap } from "../../../src/evaluate/charts/maps/neighbours.js";
import type { Maps } from "../data/contract.js";

/** The signed bytes of a text in base64. */
const bytesIn = (text: string) => Int8Array.from(atob(text), (one) => one.charCodeAt(0));

/** Where a vector lies on the map of the patients: among its nearest in the model's space. */
export function placeOf(
	{ patients, vectors }: Pick<Maps, "patients" | "vectors">,
	vector: ArrayLike<number>,
): { readonly x: number; readonly y: number } | null {
	if (!vectors || vectors.dim !== vector.length) return null;
	const places = Float64Array.from(patients.flatMap(({ x, y }) => [x, y]));
	const [x, y] = placeOnMap(places, bytesIn(vectors.bytes), vector, vectors.dim);
	return x === undefined || y === undefined ? null : { x, y };
}

/** The sample most like a patient of the map, in the model's space; null if there is none. */
export function nearestSample(
	{ patients, vectors }: Pick<Maps, "patients" | "vectors">,
	at: number,
): string | null {
	const samples = patients.flatMap(({ sample }, place) => (sample && place !== at ? [place] : []));
	if (!vectors || samples.length === 0) return null;
	const { dim } = vectors;
	const bytes = bytesIn(vectors.bytes);
	const rows = (places: readonly number[]) =>
		directionsOf(
			places.flatMap((place) => [...bytes.subarray(place * dim, (place + 1) * dim)]),
			dim,
		);
	const [[best] = []] = nearest(rows(samples), rows([at]), 1).indices;
	return patients[samples[best ?? -1] ?? -1]?.sample ?? null;
}
