import { placeOnMap, type UmapOptions, umap } from "../../figures/index.js";
import { inputVectors, outputVectors } from "../../infer/index.js";
import type { Trained } from "../../train/index.js";
import type { Column } from "./column-file.js";
import type { PatientView } from "./patient-views.js";
import { placeColumns, vectorColumns } from "./vector-columns.js";

export interface PatientMapOptions extends UmapOptions {
	/** Whether patients lie on the map of the codes, or on one of their own. */
	readonly onTokens: boolean;
}

/** Patients with their vectors and, unless left out, their places on a map. */
export function patientTable(
	trained: Trained,
	views: readonly PatientView[],
	{ vectors, dim }: { readonly vectors: Float32Array; readonly dim: number },
	map: PatientMapOptions | undefined,
): Column[] {
	const values = views.flatMap(({ value }) => (value === null ? [] : [value]));
	return [
		{ name: "patient", type: "text", values: views.map(({ id }) => id) },
		{ name: "events", type: "count", values: views.map(({ events }) => events) },
		{ name: "days", type: "number", values: views.map(({ at }) => at) },
		...(values.length > 0 ? [{ name: "value", type: "flag", values } as const] : []),
		...(map ? placeColumns(patientPlaces(trained, vectors, dim, map)) : []),
		...vectorColumns(vectors, dim),
	];
}

/**
 * A map of patients. On the map of the codes, each lies among those whose output vectors are nearest to its own:
 * the codes that the model expects of it.
 */
function patientPlaces(
	trained: Trained,
	vectors: Float32Array,
	dim: number,
	{ onTokens, ...options }: PatientMapOptions,
): Float64Array {
	if (!onTokens) return umap(vectors, dim, options);
	const codes = inputVectors(trained);
	const map = umap(codes.vectors, codes.dim, options);
	return placeOnMap(map, outputVectors(trained).vectors, vectors, dim);
}
