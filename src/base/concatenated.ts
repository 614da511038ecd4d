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
