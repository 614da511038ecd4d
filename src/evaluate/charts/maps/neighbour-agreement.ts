import { directionsOf, nearest } from "./directions.js";

/** How often a vector's nearest neighbours share its kind. */
export interface NeighbourAgreement {
	/** Number of neighbours per vector. */
	readonly neighbours: number;
	/** Mean share of a vector's neighbours of the same kind; `byChance` is that of random vectors. */
	readonly share: number;
	readonly byChance: number;
}

/** Only vectors with a kind count; undefined if they are too few, or all of one kind. */
export function neighbourAgreement(
	vectors: ArrayLike<number>,
	dim: number,
	kinds: readonly (string | null)[],
	neighbours = 10,
): NeighbourAgreement | undefined {
	const known = [...kinds.keys()].filter((at) => kinds[at] !== null);
	const counts = new Map<string | null, number>();
	for (const at of known) counts.set(kinds[at]!, (counts.get(kinds[at]!) ?? 0) + 1);
	if (known.length <= neighbours || counts.size < 2) return undefined;
	const own = directionsOf(
		known.flatMap((at) => Array.from({ length: dim }, (_, d) => vectors[at * dim + d] as number)),
		dim,
	);
	const { indices } = nearest(own, own, neighbours + 1);
	let alike = 0;
	for (const [row, near] of indices.entries()) {
		const others = near.filter((other) => other !== row).slice(0, neighbours);
		alike += others.filter((other) => kinds[known[other]!] === kinds[known[row]!]).length;
	}
	const pairs = [...counts.values()].reduce((sum, count) => sum + count * (count - 1), 0);
	return {
		neighbours,
		share: alike / (known.length * neighbours),
		byChance: pairs / (known.length * (known.length - 1)),
	};
}
