import { thousands } from "./thousands.js";

/** At most so many of the items, evenly spread and in order; all of them if there are no more. */
export function evenlySpread<T>(items: ArrayLike<T>, most: number): T[] {
	const count = Math.min(items.length, most);
	return Array.from(
		{ length: count },
		(_, i) => items[Math.floor((i * items.length) / count)] as T,
	);
}

/** States how many were taken, as in "100,000 (evenly spread) of 800,000". */
export const takenOf = (all: number, most: number): string =>
	all <= most ? thousands(all) : `${thousands(most)} (evenly spread) of ${thousands(all)}`;
