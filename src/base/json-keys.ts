import { InputError } from "./errors.js";

/** JSON with sorted keys and without spaces: equal content gives equal text. */
export function canonicalJson(value: unknown): string {
	if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
	if (typeof value !== "object" || value === null) return JSON.stringify(value);
	const entries = Object.entries(value).filter(([, item]) => item !== undefined);
	entries.sort(([a], [b]) => (a < b ? -1 : 1));
	return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonicalJson(item)}`).join(",")}}`;
}

/** JSON.parse silently keeps the last of two equal keys. `json` must be valid. */
export function repeatedKey(json: string): string | undefined {
	const open: (Set<string> | undefined)[] = [];
	for (let at = 0; at < json.length; at++) {
		const mark = json[at];
		if (mark === "{") open.push(new Set());
		else if (mark === "[") open.push(undefined);
		else if (mark === "}" || mark === "]") open.pop();
		else if (mark === '"') {
			const start = at;
			at = stringEnd(json, start);
			const seen = open.at(-1);
			if (seen === undefined) continue;
			let next = at + 1;
			while (" \t\r\n".includes(json[next] ?? "end")) next++;
			if (json[next] !== ":") continue;
			const text = json.slice(start + 1, at);
			const key: string = text.includes("\\") ? JSON.parse(`"${text}"`) : text;
			if (seen.has(key)) return key;
			seen.add(key);
		}
	}
	return undefined;
}

/** The position of the quote that ends the string which begins at `start`. */
function stringEnd(json: string, start: number): number {
	for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
		let escapes = 0;
		while (json[end - 1 - escapes] === "\\") escapes++;
		if (escapes % 2 === 0) return end;
	}
}

/** Refuses JSON with an object that holds a key twice. */
export function refuseRepeatedKey(json: string, where: string): void {
	const key = repeatedKey(json);
	if (key !== undefined)
		throw new InputError(
			`${where} holds the key "${key.slice(0, 100)}" twice in one object, and only one could be read; leave one out`,
		);
}
