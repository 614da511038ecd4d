import { builtInMap } from "../codes/built-in.js";
import type { CodeMap } from "../codes/map.js";
import { fromTokens, type Token } from "../cohort/vocabulary.js";
import type { ExportManifest } from "../export/manifest.js";
import type { Calls } from "./calls.js";
import { type LoadedModel, loadedModel } from "./model.js";

/** What is known of an export that was opened, wherever it runs. */
export interface OpenedExport {
	readonly manifest: ExportManifest;
	readonly tokens: readonly Token[];
	/** What executes it, in words. */
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
		...{ name: manifest.model.name, runtime, rules, minCount, calls, close },
		vocabulary: fromTokens(tokens),
		map: map ?? builtInMapFor(rules.map),
	});
}

/** Undefined where codes stayed as they were, or were mapped with a file. */
export const builtInMapFor = (source: string | null) => {
	const map = builtInMap();
	return source === map.source ? map : undefined;
};
