/** Numbers that stand for sizes a model leaves open, while its graph is built. */
export interface OpenNumbers {
	readonly batch: number;
	readonly length: number;
	/** One more than the length: the events, and the question after them. */
	readonly places: number;
	readonly chunks: number;
}

function isPrime(n: number): boolean {
	for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
	return n > 1;
}

/**
 * Numbers that divide no product of the sizes given. Batch and chunks are primes that divide none of
 * them. The length is a prime 2r − 1 where r is one too: then what is divided by 2r, the places, is
 * divided by r.
 */
export function openNumbers(sizes: Iterable<number>): OpenNumbers {
	const taken = [...sizes].filter((size) => size > 0);
	let last = 1000;
	const nextPrime = (fits: (prime: number) => boolean): number => {
		do last++;
		while (!isPrime(last) || taken.some((size) => size % last === 0) || !fits(last));
		return last;
	};
	const half = nextPrime((prime) => isPrime(2 * prime - 1));
	const length = 2 * half - 1;
	if (taken.some((size) => size % length === 0)) return openNumbers([...taken, half]);
	const other = () => nextPrime((prime) => prime !== length);
	return { batch: other(), length, places: 2 * half, chunks: other() };
}
