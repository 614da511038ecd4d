import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { refuseRepeatedKey } from "../../base/json-keys.js";
import { type LabelDefinition, labelDefinition } from "./label-definition.js";

/** The file beside labels that `trajgpt tasks` wrote. */
export const taskMarker = "trajgpt-task.json";

/** The definition of the labels of a file or folder: the one that `trajgpt tasks` left beside them, or their name. */
export async function definitionBeside(path: string, task: string): Promise<LabelDefinition> {
	const file = [path, dirname(path)]
		.map((folder) => join(folder, taskMarker))
		.find((place) => existsSync(place));
	const found =
		file === undefined ? undefined : labelDefinition.safeParse(await definitionIn(file));
	return (
		found?.data ?? {
			what: `a positive label of task ${task}, as its labels define it`,
			source: `labels file ${basename(path)}`,
		}
	);
}

async function definitionIn(file: string): Promise<unknown> {
	const text = await readFile(file, "utf8").catch(() => "");
	let json: { readonly definition?: unknown } | null;
	try {
		json = JSON.parse(text);
	} catch {
		return undefined; // labels need no definition
	}
	refuseRepeatedKey(text, file);
	return json?.definition;
}
