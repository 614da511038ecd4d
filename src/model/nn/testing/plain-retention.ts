import { headDecays } from "../retention.js";

export type Matrix = readonly (readonly number[])[];

export const range = <T>(count: number, value: (i: number) => T): T[] =>
	Array.from({ length: count }, (_, i) => value(i));

export const at = (x: Matrix, i: number, j: number): number => x[i]?.[j];

/** Numbers in rows of one width. */
export const matrix = (values: ArrayLike<number>, width: number): Matrix =>
	range(values.length / width, (i) => range(width, (j) => values[i * width + j]));

const dot = (a: readonly number[], b: readonly number[]) =>
	a.reduce((sum, x, i) => sum + x * b[i], 0);

/** x W^T. */
export const product = (x: Matrix, w: Matrix): Matrix =>
	x.map((row) => w.map((column) => dot(row, column)));

export function plainNorm(row: readonly number[]): readonly number[] {
	const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
	const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
	return row.map((x) => (x - mean) / Math.sqrt(variance + 1e-5));
}

export const plainSilu = (x: number): number => x / (1 + Math.exp(-x));

export interface PlainRetention {
	readonly x: Matrix; // [places, width]
	readonly days: readonly number[];
	readonly mask: readonly number[];
	readonly weights: Readonly<Record<"query" | "key" | "value" | "gate" | "out", Matrix>>;
	readonly heads: number;
	readonly decayUnitDays: number;
	/** Which places come first. */
	readonly direction: "forwards" | "backwards";
}

/** Retention one pair of places at a time: each weight from the time between them alone. */
export function plainRetention(inputs: PlainRetention): Matrix {
	const { x, days, mask, weights, heads, direction } = inputs;
	const size = x[0]?.length / heads;
	const half = size / 2;
	const [q, k, v] = (["query", "key", "value"] as const).map((part) =>
		product(x, weights[part]),
	) as [Matrix, Matrix, Matrix];
	const gates = product(x, weights.gate);

	const score = (n: number, m: number, head: number, units: number) =>
		range(half, (i) => {
			const [a, b] = [head * size + i, head * size + i + half];
			const angle = units * 10000 ** (-i / half);
			const scale = ((2 * i + 0.4 * size) / (1.4 * size)) ** (units / 512);
			const [qa, qb, ka, kb] = [at(q, n, a), at(q, n, b), at(k, m, a), at(k, m, b)];
			return (
				scale * ((qa * ka + qb * kb) * Math.cos(angle) + (qa * kb - qb * ka) * Math.sin(angle))
			);
		}).reduce((sum, part) => sum + part, 0) / Math.sqrt(size);

	const gated = x.map((_, n) =>
		headDecays(heads).flatMap((decay, head) => {
			const output = new Array<number>(size).fill(0);
			for (let m = 0; m < x.length; m++) {
				if (!mask[m] || (direction === "forwards" ? m > n : m < n)) continue;
				const units = Math.abs(days[n] - days[m]) / inputs.decayUnitDays;
				const weight = decay ** units * score(n, m, head, units);
				for (let j = 0; j < size; j++) output[j] = output[j] + weight * at(v, m, head * size + j);
			}
			return plainNorm(output).map((o, j) => o * plainSilu(at(gates, n, head * size + j)));
		}),
	);
	return product(gated, weights.out);
}
