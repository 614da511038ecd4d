import { type UmapOptions, umap } from "../../figures/index.js";
import { inputVectors } from "../../infer/index.js";
import type { Trained } from "../../train/index.js";
import type { Column } from "./column-file.js";
import { placeColumns, vectorColumns } from "./vector-columns.js";

/** The codes of a run's vocabulary, each with its embedding and, unless left out, its place on a map. */
export function tokenTable(trained: Trained, map: UmapOptions | undefined): Column[] {
	const { first, dim, vectors } = inputVectors(trained);
	const tokens = trained.vocabulary.tokens.slice(first);
	return [
		{ name: "token", type: "count", values: tokens.map((_, at) => first + at) },
		{ name: "code", type: "text", values: tokens.map(({ code }) => code) },
		{ name: "system", type: "text", values: tokens.map(({ system }) => system) },
		{ name: "name", type: "text", values: tokens.map(({ name }) => name) },
		{ name: "category", type: "text", values: tokens.map(({ category }) => category) },
		{ name: "kind", type: "text", values: tokens.map(({ kind }) => kind) },
		{ name: "count", type: "count", values: tokens.map(({ count }) => count) },
		...(map ? placeColumns(umap(vectors, dim, map)) : []),
		...vectorColumns(vectors, dim),
	];
}
