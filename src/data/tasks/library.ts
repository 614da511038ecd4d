import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { InputError } from "../../base/errors.js";
import type { Task } from "./definition.js";
import { parseAces } from "./read-aces.js";

/** The folder of the task files, next to this code before and after it is built. */
const folder = fileURLToPath(new URL("./library/", import.meta.url));

/** The names of the ready tasks. */
export const libraryTasks = (): string[] =>
	readdirSync(folder)
		.filter((name) => name.endsWith(".yaml"))
		.map((name) => name.slice(0, -".yaml".length))
		.sort();

/** The ACES file of a ready task. */
export function libraryFile(name: string): string {
	if (!libraryTasks().includes(name))
		throw new InputError(
			`there is no ready task "${name}"; there are ${libraryTasks().join(", ")}; pass a file of your own with \`aces\``,
			{ field: "task", value: name },
		);
	return readFileSync(`${folder}${name}.yaml`, "utf8");
}

/** What a ready task predicts, and what it needs. */
export const libraryDescription = (name: string): string =>
	(parse(libraryFile(name)) as { description: string }).description;

/** A ready task; `predicates` replace those of the same name. */
export const libraryTask = (
	name: string,
	predicates?: { readonly file: string; readonly text: string },
): Task => parseAces(name, { file: `${name}.yaml`, text: libraryFile(name) }, predicates);
