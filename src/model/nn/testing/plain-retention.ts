import { headDecays } from "../retention.js";

import { at, type Matrix, plainNorm, plainSilu, product, range } from "./plain.js";

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
