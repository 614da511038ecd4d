import { objectOf, textOf } from "./json-fields.js";

export interface Reference {
	/** The lookup key: `Patient/12`, whatever the server, or `urn:uuid:…` as written. */
	readonly key: string;
	readonly id: string;
	/** Absent for a URN. */
	readonly type?: string;
}

const typed = /(?:^|\/)([A-Z][A-Za-z]{1,63})\/([^/\s]+)$/;
const urn = /^urn:(?:uuid|oid):([^\s]+)$/i;

/** Parses a relative or absolute address, with or without a version, or a URN; undefined for a search. */
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

/** All keys that a reference to a resource may have. */
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
