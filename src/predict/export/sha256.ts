/** SHA-256 in hex. Browsers have a native function only on pages from https or localhost. */
export async function sha256(bytes: Uint8Array): Promise<string> {
	if (!globalThis.crypto?.subtle) return sha256WithoutCrypto(bytes);
	return hex(
		new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>)),
	);
}

const hex = (bytes: Uint8Array) =>
	Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

const primes = Array.from({ length: 311 }, (_, n) => n + 2).filter((n) =>
	Array.from({ length: n - 2 }, (_, i) => i + 2).every((divisor) => n % divisor !== 0),
); // the first 64

/** The first 32 bits of a number's fraction. */
const fraction = (x: number) => Math.floor((x - Math.floor(x)) * 2 ** 32);

const roundConstants = Uint32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const startState = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));

const rotate = (x: number, by: number) => (x >>> by) | (x << (32 - by));

/** FIPS 180-4, section 6.2. */
export function sha256WithoutCrypto(bytes: Uint8Array): string {
	const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
	padded.set(bytes);
	padded[bytes.length] = 0x80;
	const view = new DataView(padded.buffer);
	view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n);
	const state = Uint32Array.from(startState);
	const w = new Uint32Array(64);
	for (let block = 0; block < padded.length; block += 64) {
		for (let t = 0; t < 16; t++) w[t] = view.getUint32(block + 4 * t);
		for (let t = 16; t < 64; t++) {
			const [early, late] = [w[t - 15], w[t - 2]];
			const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
			const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
			w[t] = w[t - 16] + s0 + w[t - 7] + s1;
		}
		let [a, b, c, d, e, f, g, h] = state as unknown as [
			...[number, number, number, number, number, number, number, number],
		];
		for (let t = 0; t < 64; t++) {
			const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
			const choice = (e & f) ^ (~e & g);
			const t1 = (h + s1 + choice + roundConstants[t] + w[t]) | 0;
			const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
			const majority = (a & b) ^ (a & c) ^ (b & c);
			[h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + s0 + majority) | 0];
		}
		for (const [i, value] of [a, b, c, d, e, f, g, h].entries()) state[i] = state[i] + value;
	}
	return Array.from(state, (word) => word.toString(16).padStart(8, "0")).join("");
}
