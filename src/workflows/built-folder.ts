import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A folder that was built beside the command line, by a file it holds; from the sources, the one built last. */
export const builtFolder = (name: string, file: string): string | undefined =>
	[`../${name}/`, `../../dist/${name}/`]
		.map((place) => fileURLToPath(new URL(place, import.meta.url)))
		.find((folder) => existsSync(`${folder}${file}`));
