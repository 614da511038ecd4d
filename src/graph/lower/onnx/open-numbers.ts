/** Some sums are never twice a prime: one of three sizes 2 apart is divided by 3. */
const most = 1e6;

function isPrime(n: number): boolean {
	for (let d = 2; d * d <= n; d++) if (n % d === 0) return false;
	return n > 1;
}

/**
 * Numbers that stand for sizes a model leaves open, while its graph is built: primes that divide no
 * product of the sizes given. A size that is added to others, fixed or open, names them: each sum is
 * then twice a prime of this kind, and can be told from everything else as well.
 */
export function openNumbers(sizes: Iterable<number>): (...addedTo: readonly number[]) => number {
	const taken = [...sizes].filter((size) => size > 0);
	const isFree = (n: number) => isPrime(n) && taken.every((size) => size % n !== 0);
	let last = 1000;
	return (...addedTo) => {
		const halves = () => addedTo.map((other) => (last + other) / 2);
		do if (++last > most) throw new Error(`no number up to ${most} can be added to ${addedTo}`);
		while (!isFree(last) || !halves().every(isFree));
		taken.push(last, ...halves());
		return last;
	};
}
