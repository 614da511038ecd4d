import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type DelimitedOptions, openDelimited } from "../delimited.js";
import { type Store, type Value, withStore } from "../store.js";
import { temporaryFolder } from "./temporary-folder.js";

type Cells = (Value | undefined)[];

/** Writes a file, and opens a store that may read it. */
export async function withFile<T>(
	content: string | Uint8Array,
	work: (file: string, store: Store, folder: string) => Promise<T>,
	name = "a.csv",
): Promise<T> {
	const folder = await temporaryFolder();
	const file = join(folder, name);
	await writeFile(file, content);
	return withStore({ memory: 2 ** 27, threads: 2, files: [file] }, (store) =>
		work(file, store, folder),
	);
}

/** The header and the rows of a file. */
export async function cellsOf(
	file: string,
	store: Store,
	options?: DelimitedOptions,
): Promise<Cells[]> {
	const table = await openDelimited(file, options);
	try {
		const rows = await store.all(`SELECT * FROM ${table.sql}`);
		return [table.columns.map(({ name }) => name), ...rows.map((row) => Object.values(row))];
	} catch (error) {
		throw await table.explain(error);
	}
}

export const read = (content: string | Uint8Array, options?: DelimitedOptions, name?: string) =>
	withFile(content, (file, store) => cellsOf(file, store, options), name);
