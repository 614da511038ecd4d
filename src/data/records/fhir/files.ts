import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InputError } from "../../../base/errors.js";
import { explainBytes } from "../bytes.js";

export interface FoundFile {
	readonly path: string;
	/** Whether it was found in a folder, so that it may be something other than FHIR. */
	readonly searched: boolean;
}

const endings = [".json", ".ndjson"].flatMap((ending) => [ending, `${ending}.gz`]);

/** The files of the given paths; for a folder, all JSON files in and below it, sorted by name. */
export async function findFiles(paths: readonly string[]): Promise<FoundFile[]> {
	const files: FoundFile[] = [];
	for (const path of paths) {
		try {
			if (!(await stat(path)).isDirectory()) {
				files.push({ path, searched: false });
				continue;
			}
			const found: FoundFile[] = [];
			for await (const file of filesUnder(path)) found.push({ path: file, searched: true });
			if (found.length === 0)
				throw new InputError(
					`${path} is a folder without FHIR files; expected files named ${endings.join(", ")} in it or below it`,
				);
			files.push(...found);
		} catch (error) {
			throw explainBytes(path, error);
		}
	}
	if (files.length === 0)
		throw new InputError("no FHIR file was named; expected a file or a folder");
	const seen = new Set<string>();
	return files.filter(({ path }) => {
		const whole = resolve(path);
		return !seen.has(whole) && seen.add(whole);
	});
}

async function* filesUnder(folder: string): AsyncGenerator<string> {
	const entries = await readdir(folder, { withFileTypes: true });
	entries.sort((a, b) => (a.name < b.name ? -1 : 1));
	for (const entry of entries) {
		if (entry.name.startsWith(".")) continue;
		const path = join(folder, entry.name);
		if (entry.isDirectory()) yield* filesUnder(path);
		else if (endings.some((ending) => entry.name.toLowerCase().endsWith(ending)))
			if (await isFile(entry, path)) yield path;
	}
}

/** Links to folders are not followed, because they may form cycles. */
const isFile = async (entry: Dirent, path: string): Promise<boolean> =>
	entry.isFile() || (entry.isSymbolicLink() && (await stat(path)).isFile());
