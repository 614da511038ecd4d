import { objectOf, textOf } from "./fields.js";

export interface Reference {
	/** What it is looked up by: `Patient/12`, wherever the server is, or `urn:uuid:…` as it stands. */
	readonly key: string;
	readonly id: string;
	/** Absent for a URN. */
	readonly type?: string;
}

const typed = /(?:^|\/)([A-Z][A-Za-z]{1,63})\/([^/\s]+)$/;
const urn = /^urn:(?:uuid|oid):([^\s]+)$/i;

/** What an address stands for: relative, absolute, with a version, or a URN. Searches stand for nothing. */
export function parseReference(text: string): Reference | undefined {
	const whole = text.trim().replace(/\/_history\/[^/]*$/, "");
	if (/[?#]/.test(whole)) return undefined;
	const name = urn.exec(whole)?.[1];
	if (name) return { key: whole, id: name };
	const [, type, id] = typed.exec(whole) ?? [];
	if (type && id) return { key: `${type}/${id}`, id, type };
	return /^[^/\s]+$/.test(whole) ? { key: whole, id: whole } : undefined;
}

/** The address in `{"reference": "Patient/12"}`. */
export const addressIn = (value: unknown): string | undefined => textOf(objectOf(value)?.reference);

export function referenceIn(value: unknown): Reference | undefined {
	const address = addressIn(value);
	return address === undefined ? undefined : parseReference(address);
}

/** All that a resource may be referred to by. */
export function keysOf(
	type: string,
	id: string | undefined,
	fullUrl: string | undefined,
): string[] {
	const keys = id === undefined ? [] : [`${type}/${id}`];
	const key = fullUrl === undefined ? undefined : parseReference(fullUrl)?.key;
	if (key !== undefined && !keys.includes(key)) keys.push(key);
	return keys;
}
