/**
 * Counter-based randomness: the n-th number of a stream is a pure function of (seed, n),
 * so that any draw can be repeated, and streams never share state.
 */
export interface Random {
	/** A named independent stream; the same name and parent always give the same stream. */
	fork(name: string | number): Random;
	/** Uniform in [0, 1), with 53 random bits. */
	uniform(): number;
	/** A whole number in [0, bound). */
	integer(bound: number): number;
	normal(): number;
	/** A shuffled copy (Fisher–Yates). */
	shuffle<T>(items: readonly T[]): T[];
}

/** A bijection on 32-bit words with good avalanche (the finaliser of MurmurHash3). */
function mix(word: number): number {
	let h = word | 0;
	h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
	h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
	return (h ^ (h >>> 16)) >>> 0;
}

/** Two rounds keyed by the seed: 32 random bits for each (seed, counter). */
export function hash32(seed: number, counter: number): number {
	return keyedHash(seed, 0, counter);
}

/** `hash32` with a second word of the key, already mixed. */
function keyedHash(low: number, high: number, counter: number): number {
	return mix(mix(mix(counter) ^ low) + Math.imul(low, 0x9e3779b9) + high);
}

/** A 32-bit key for a text (FNV-1a, then mixed). */
export function hashText(text: string, seed = 0): number {
	let h = 0x811c9dc5 ^ seed;
	for (let i = 0; i < text.length; i++) {
		const unit = text.charCodeAt(i);
		h = Math.imul(h ^ (unit & 0xff), 0x01000193);
		h = Math.imul(h ^ (unit >>> 8), 0x01000193);
	}
	return mix(h);
}

export function random(seed: number): Random {
	return stream(seed, seed >= 2 ** 32 ? Math.floor(seed / 2 ** 32) : 0);
}

/** Smaller numbers have the streams that they had when keys had one word. */
const firstLargeNumber = 0x10000;

/**
 * The second word of a fork's key. Texts, as 32-bit hashes, coincide for some pairs among a hundred thousand
 * names, so a large number is kept as it is: no two numbers below 2³² share the key of their streams.
 */
function forkedHigh(high: number, name: string | number): number {
	if (typeof name === "string" || !(name >= firstLargeNumber)) return high;
	return (mix(high) ^ name ^ mix(Math.floor(name / 0x100000000))) >>> 0;
}

/** The low word of the key comes from the seed. The high word changes nothing while it is 0: mix(0) is 0. */
function stream(seed: number, highWord: number): Random {
	const key = mix(seed ^ 0x5bd1e995);
	const mixedHigh = mix(highWord);
	let counter = 0;
	const uniform = () => {
		const high = keyedHash(key, mixedHigh, counter++) >>> 5; // 27 bits
		const low = keyedHash(key, mixedHigh, counter++) >>> 6; // 26 bits
		return (high * 0x4000000 + low) / 0x20000000000000;
	};
	const integer = (bound: number) => Math.floor(uniform() * bound);
	return {
		fork: (name) => stream(hashText(String(name), key), forkedHigh(highWord, name)),
		uniform,
		integer,
		normal: () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()),
		shuffle: (items) => {
			const copy = [...items];
			for (let i = copy.length - 1; i > 0; i--) {
				const j = integer(i + 1);
				[copy[i], copy[j]] = [copy[j] as (typeof copy)[0], copy[i] as (typeof copy)[0]];
			}
			return copy;
		},
	};
}
