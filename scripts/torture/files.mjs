// Folders and what is in them.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** @returns {string[]} files below a folder, relative to it, in order */
export const filesIn = (/** @type {string} */ folder) =>
	readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile())
		.sort();

/** @returns {Map<string, string>} SHA-256 by relative path */
export const hashesIn = (/** @type {string} */ folder) =>
	new Map(
		filesIn(folder).map((name) => [
			name,
			createHash("sha256")
				.update(readFileSync(join(folder, name)))
				.digest("hex"),
		]),
	);

export const bytesIn = (/** @type {string} */ folder) =>
	filesIn(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
