/** How many of the ascending values are at most `limit`. */
export function countUpTo(ascending: ArrayLike<number>, limit: number): number {
	let [low, high] = [0, ascending.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (ascending[middle] <= limit) low = middle + 1;
		else high = middle;
	}
	return low;
}

/**
 * The indices that sort values in ascending order; equal values stay in the order of `from`, by default that of
 * their indices. A radix sort by the bytes of the numbers, several times as fast as a comparator.
 */
export function ascendingOrder(values: ArrayLike<number>, from?: Int32Array): Int32Array {
	const { length } = values;
	const keys = new Float64Array(values);
	const words = new Uint32Array(keys.buffer);
	for (let i = 0; i < length; i++) {
		keys[i] += 0; // −0 equals 0.
		// Bit patterns order positive numbers as they are, and negative ones in reverse.
		const [low, high] = [2 * i, 2 * i + 1];
		if (words[high] >>> 31) {
			words[low] = ~words[low];
			words[high] = ~words[high];
		} else words[high] |= 0x80000000;
	}
	const bytes = new Uint8Array(keys.buffer);
	let order = new Int32Array(length);
	for (let i = 0; i < length; i++) order[i] = from ? from[i] : i;
	let next = new Int32Array(length);
	const starts = new Int32Array(256);
	for (let byte = 0; byte < 8; byte++) {
		starts.fill(0);
		for (let i = byte; i < bytes.length; i += 8) starts[bytes[i]] += 1;
		if (starts[bytes[byte]] === length) continue;
		for (let digit = 0, before = 0; digit < 256; digit++) {
			const count = starts[digit];
			starts[digit] = before;
			before += count;
		}
		for (let i = 0; i < length; i++) {
			const index = order[i];
			const digit = bytes[8 * index + byte];
			next[starts[digit]] = index;
			starts[digit] += 1;
		}
		[order, next] = [next, order];
	}
	return order;
}

/** `values[indices[i]]` for every i. */
export function pick(values: ArrayLike<number>, indices: ArrayLike<number>): Float64Array {
	const picked = new Float64Array(indices.length);
	for (let i = 0; i < picked.length; i++) picked[i] = values[indices[i]];
	return picked;
}

/** The 97.5 % quantile of the normal distribution, for 95 % intervals. */
export const normalQuantile = 1.959963984540054;

/** The quantile of sorted values, with linear interpolation. */
export function quantile(sorted: ArrayLike<number>, part: number): number {
	const position = part * (sorted.length - 1);
	const below = Math.floor(position);
	const low = sorted[below];
	const high = sorted[Math.min(below + 1, sorted.length - 1)];
	return low + (high - low) * (position - below);
}
