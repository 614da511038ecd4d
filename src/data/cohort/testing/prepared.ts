import { join } from "node:path";
import type { CodeMap } from "../../codes/index.js";
import type { RecordSource } from "../../records/store.js";
import { temporaryFolder } from "../../records/testing/temporary-folder.js";
import type { Dataset } from "../dataset.js";
import { openDataset } from "../dataset.js";
import type { History } from "../history.js";
import { splitNames } from "../manifest.js";
import { splitOf } from "../people.js";
import { prepare } from "../prepare.js";
import { type PrepareOptions, prepareDefaults } from "../prepare-options.js";

/** Maps 250… to 250, 428… to 428, and nothing else. */
export const smallMap: CodeMap = {
	source: "a small map",
	level: "integer",
	phecodesOf: (_, code) =>
		code.startsWith("250") ? ["250"] : code.startsWith("428") ? ["428"] : [],
	nameOf: (code) => ({ code, name: `phecode ${code}`, category: "some" }),
};

export const smallOptions: PrepareOptions = {
	...prepareDefaults,
	map: smallMap,
	minRecords: 1,
	minCount: 1,
	memory: 2 ** 27,
	threads: 1,
};

/** Prepares a source in a new folder and reads all histories, by patient. */
export async function prepared(
	source: RecordSource,
	options: Partial<PrepareOptions> = {},
): Promise<{ dataset: Dataset; histories: Map<string, History> }> {
	const folder = join(await temporaryFolder(), "dataset");
	await prepare(source, folder, { ...smallOptions, ...options });
	const dataset = await openDataset(folder);
	const histories = new Map<string, History>();
	for (const split of splitNames)
		for await (const history of dataset.histories(split)) histories.set(history.id, history);
	return { dataset, histories };
}

/** The first ids that the hash (seed 0) puts into a split. */
export function idsIn(split: string, count: number): string[] {
	const found: string[] = [];
	for (let i = 0; found.length < count; i++)
		if (splitOf(`${split}${i}`, 0) === split) found.push(`${split}${i}`);
	return found;
}
