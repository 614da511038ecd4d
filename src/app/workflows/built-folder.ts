import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** A built folder that contains `file`: next to this code when it is built, else in `dist/`. */
export const builtFolder = (name: string, file: string): string | undefined =>
	[`../../${name}/`, `../../../dist/${name}/`]
		.map((place) => fileURLToPath(new URL(place, import.meta.url)))
		.find((folder) => existsSync(`${folder}${file}`));
