/** A value that is JSON already, such as what a thread has written. */
export class RawJson {
	constructor(readonly bytes: Uint8Array) {}
}

const between = (start: string, parts: readonly Uint8Array[], end: string): Buffer =>
	Buffer.concat([
		Buffer.from(start),
		...parts.flatMap((part, i) => (i > 0 ? [Buffer.from(","), part] : [part])),
		Buffer.from(end),
	]);

/** The bytes of a list whose elements are JSON already. */
export const listBytes = (elements: readonly Uint8Array[]): Buffer => between("[", elements, "]");

/** The bytes of an object as JSON. */
export function jsonBytes(value: object): Buffer {
	const fields = Object.entries(value).filter(([, field]) => field !== undefined);
	const bytes = fields.map(([key, field]) => {
		const json = field instanceof RawJson ? field.bytes : Buffer.from(JSON.stringify(field));
		return Buffer.concat([Buffer.from(`${JSON.stringify(key)}:`), json]);
	});
	return between("{", bytes, "}");
}
