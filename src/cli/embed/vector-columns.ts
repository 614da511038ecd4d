import type { Column } from "./column-file.js";

/** Every `stride`-th value from the `from`-th on. */
const strided = <T extends Float32Array | Float64Array>(all: T, from: number, stride: number) =>
	Array.from({ length: all.length / stride }, (_, row) => all[row * stride + from] as number);

/** Columns x and y of [n, 2]. */
export const placeColumns = (places: Float64Array): Column[] =>
	["x", "y"].map((name, axis) => ({ name, type: "number", values: strided(places, axis, 2) }));

/** Columns v0, v1 … of [n, dim]. */
export const vectorColumns = (vectors: Float32Array, dim: number): Column[] =>
	Array.from({ length: dim }, (_, d) => ({
		name: `v${d}`,
		type: "float",
		values: strided(vectors, d, dim),
	}));
