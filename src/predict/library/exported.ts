import { builtInMap } from "../../data/codes/built-in.js";
import type { CodeMap } from "../../data/codes/map.js";
import { fromTokens, type Token } from "../../data/cohort/vocabulary.js";
import type { ExportManifest } from "../export/manifest.js";
import type { Calls } from "./calls.js";
import { type LoadedModel, loadedModel } from "./model.js";

/** The description of an opened export, in this thread or in a worker. */
export interface OpenedExport {
	readonly manifest: ExportManifest;
	readonly tokens: readonly Token[];
	/** Label of the runtime that executes it. */
	readonly runtime: string;
}

/** The model of an export, over its calls. */
export function exportedModel(
	{ manifest, tokens, runtime }: OpenedExport,
	calls: Calls,
	close: () => Promise<void>,
	map?: CodeMap,
): LoadedModel {
	const { minCount, ...rules } = manifest.records;
	return loadedModel({
		name: manifest.model.name,
		runtime,
		rules,
		minCount,
		calls,
		close,
		config: manifest.config,
		scoring: manifest.task?.scoring,
		population: manifest.population,
		vocabulary: fromTokens(tokens),
		map: map ?? builtInMapFor(rules.map),
	});
}

/** Undefined if the dataset's codes were not mapped, or were mapped with a file. */
export const builtInMapFor = (source: string | null) => {
	const map = builtInMap();
	return source === map.source ? map : undefined;
};
