import { placeOnMap } from "../../../src/figures/maps/place-on-map.js";
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
