/** The shape of a distribution in a few numbers. */
export interface Spread {
	readonly min: number;
	readonly quarter: number;
	readonly median: number;
	readonly threeQuarters: number;
	/** In summaries of a dataset rounded up: see `privacy-rounding.ts`. */
	readonly max: number;
	readonly mean: number;
}

/** Counts how often each value occurs. Memory stays small because `add` rounds values (see `keyOf`). */
export interface ValueCounts {
	readonly size: number;
	add(value: number): void;
	/** Null if there are no values. */
	spread(): Spread | null;
	/** The value that the fraction `part` of all values does not exceed; NaN if there are none. */
	quantile(part: number): number;
	/** Each value with its count, ascending. */
	entries(): readonly (readonly [value: number, times: number])[];
}

const wholeLimit = 2 ** 17;
const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);
const high = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1 ? 1 : 0; // where the exponent lies

/**
 * The integer key of a value. A whole number (days: 2^17 is 358 years) is its own key; any other value has a
 * negative key made of its sign, its exponent and ten rounded bits, precise to one part in a thousand.
 * Values within a second of a whole day count as that day.
 */
function keyOf(value: number): number {
	const whole = Math.round(value);
	if (whole >= 0 && whole < wholeLimit && Math.abs(value - whole) < 1e-5) return whole + 0;
	float[0] = value;
	return -1 - (((words[high] as number) + 512) >>> 10);
}

function valueAt(key: number): number {
	if (key >= 0) return key;
	words[1 - high] = 0;
	words[high] = (-1 - key) << 10;
	return float[0] as number;
}

export function countValues(parts: readonly ValueCounts[] = []): ValueCounts {
	/** By key: of whole numbers in an array, which grows with the largest, and of others in a map. */
	let wholes = new Float64Array(1024);
	const others = new Map<number, number>();
	let size = 0;
	let sum = 0;
	let sorted: readonly (readonly [number, number])[] | undefined;
	const put = (value: number, count: number) => {
		const key = keyOf(value);
		if (key >= wholes.length) {
			const longer = new Float64Array(2 ** Math.ceil(Math.log2(key + 1)));
			longer.set(wholes);
			wholes = longer;
		}
		if (key >= 0) wholes[key]! += count;
		else others.set(key, (others.get(key) ?? 0) + count);
		size += count;
		sum += value * count;
		sorted = undefined;
	};
	for (const part of parts) for (const [value, count] of part.entries()) put(value, count);

	const entries = () => {
		sorted ??= [...Array.from(wholes.entries()).filter(([, count]) => count > 0), ...others]
			.map(([key, count]) => [valueAt(key), count] as const)
			.sort(([a], [b]) => a - b);
		return sorted;
	};
	/** The value at a position (from 0) of the sorted values. */
	const at = (position: number) => {
		let before = 0;
		for (const [value, count] of entries()) {
			before += count;
			if (before > position) return value;
		}
		return Number.NaN;
	};
	const quantile = (part: number) => at(Math.round(part * (size - 1)));
	return {
		get size() {
			return size;
		},
		add: (value) => put(value, 1),
		spread: () =>
			size === 0
				? null
				: {
						min: quantile(0),
						quarter: quantile(0.25),
						median: quantile(0.5),
						threeQuarters: quantile(0.75),
						max: quantile(1),
						mean: sum / size,
					},
		quantile,
		entries,
	};
}
