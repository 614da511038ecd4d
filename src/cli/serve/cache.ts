import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../../files/index.js";

/** What was computed for a page, kept beside a run until its weights change. */
export interface Cache {
	readonly folder: string;
	/** The text of a document: the one that is there if it was made for the same, else made now. */
	document(name: string, make: () => Promise<unknown>): Promise<string>;
}

/** `madeFor` is put into each document as `made`, and compared. */
export function cacheIn(folder: string, madeFor: Readonly<Record<string, unknown>>): Cache {
	const key = JSON.stringify(madeFor);
	return {
		folder,
		async document(name, make) {
			const file = join(folder, name);
			const there = await readFile(file, "utf8").catch(() => undefined);
			if (there !== undefined && JSON.stringify(madeIn(there)) === key) return there;
			const text = `${JSON.stringify({ made: madeFor, ...((await make()) as object) })}\n`;
			await replaceFile(file, (partial) => writeFile(partial, text));
			return text;
		},
	};
}

function madeIn(text: string): unknown {
	try {
		return (JSON.parse(text) as { made?: unknown }).made;
	} catch {
		return undefined;
	}
}
