import { thousands } from "./thousands.js";

/** The bytes of an array, not copied. */
export const bytesOf = (data: ArrayBufferView): Uint8Array<ArrayBuffer> =>
	new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);

/** The numbers of all parts, one after the other. */
export function concatenated(parts: readonly Float32Array[]): Float32Array {
	const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
	let at = 0;
	for (const part of parts) {
		all.set(part, at);
		at += part.length;
	}
	return all;
}

/** A buffer that threads share; one of its own in pages that may not share memory. */
export const shareableBuffer = (bytes: number): ArrayBuffer | SharedArrayBuffer =>
	typeof SharedArrayBuffer === "undefined" ? new ArrayBuffer(bytes) : new SharedArrayBuffer(bytes);

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

/** Adds a value to the list of a key. */
export function listUnder<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
	const list = lists.get(key);
	if (list) list.push(value);
	else lists.set(key, [value]);
}
