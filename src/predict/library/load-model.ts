import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { simulatedText } from "../../base/simulated.js";
import { errorCode } from "../../base/system-errors.js";
import type { CodeMap } from "../../data/codes/map.js";
import { readingRules } from "../../data/cohort/reading/rules.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { readModel } from "../../model/train/index.js";
import { callsOf } from "../calls.js";
import { openedExport, type ReadFile, readExport, readerFromUrl } from "../export/read-export.js";
import { type LoadedModel, loadedModel } from "./model.js";

export interface LoadOptions {
	/** CPU threads; all cores if left out. */
	readonly threads?: number;
	/** The ICD map that the dataset was prepared with, if it came from a file. `readPheCodeMap` reads it. */
	readonly map?: CodeMap;
}

/**
 * Loads a model for predictions: a run that `pretrain` made, a task that `finetune` made (`tasks/<task>` of a run), or
 * a folder or URL that `exportModel` made.
 *
 * @example
 * const model = await loadModel("runs/demo/run");
 * const { predictions } = await model.forecast(
 * 	{ birth: "1950-06-01", sex: "female", events: [{ date: "2010-03-01", code: "401" }] },
 * 	["+1y"],
 * );
 * await model.close();
 */
export async function loadModel(
	source: string | URL,
	{ threads, map }: LoadOptions = {},
): Promise<LoadedModel> {
	const runtime = nodeRuntime({ purpose: "inference", ...(threads !== undefined && { threads }) });
	const place = `${source}`;
	if (["run.json", "task.json"].some((name) => existsSync(join(place, name)))) {
		const trained = readModel(place);
		const { manifest, vocabulary, run } = trained;
		const description = {
			...trained,
			records: { ...readingRules(manifest), minCount: manifest.filters.minCount },
			population: run.simulated ? simulatedText : undefined,
		};
		const opened = { manifest: description, tokens: vocabulary.tokens, runtime: runtime.label };
		return loadedModel(opened, callsOf(runtime, trained), map);
	}
	const read = /^https?:/.test(place) ? readerFromUrl(place) : readerFromFolder(place);
	const exported = await readExport(place, read);
	return loadedModel(openedExport(exported, runtime), callsOf(runtime, exported), map);
}

export const readerFromFolder =
	(folder: string): ReadFile =>
	(name) =>
		readFile(join(folder, name)).catch((error) => {
			if (errorCode(error) === "ENOENT") return undefined;
			throw error;
		});
