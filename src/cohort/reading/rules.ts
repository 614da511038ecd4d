import type { TimeAxis } from "../../base/time.js";
import { builtInMap } from "../../codes/built-in.js";
import type { CodeMap } from "../../codes/map.js";
import type { Manifest } from "../manifest.js";
import type { CodeRules } from "./code-concepts.js";
import type { Dedup } from "./history-rules.js";

/** What of a dataset's making says how further records are to be read; as JSON, for a page too. */
export interface ReadingRules {
	/** What ICD codes were mapped with; null if they stayed as they were. */
	readonly map: string | null;
	readonly level: "integer" | "full" | null;
	readonly keptUnmapped: boolean;
	readonly drugs: CodeRules["drugs"];
	readonly dedup: Dedup;
	/** Most records a patient: the latest; null where all are read. */
	readonly maxRecords: number | null;
	readonly deathToken: boolean;
	/** Of the dataset; that of further records may be another. */
	readonly axis: TimeAxis;
}

/** Of a dataset that kept the first records of long histories, later ones are read too: they are asked about. */
export const readingRules = ({ codes, filters, source }: Manifest): ReadingRules => ({
	...{ map: codes.map, level: codes.level, keptUnmapped: codes.keptUnmapped },
	...{ drugs: filters.drugs, dedup: filters.dedup, deathToken: filters.deathToken },
	maxRecords: filters.keep === "last" ? filters.maxRecords : null,
	axis: source.axis,
});

/** The same without the name of a map's file, for whoever the model is given to. */
export function publicRules(manifest: Manifest): ReadingRules {
	const rules = readingRules(manifest);
	const isFile = rules.map !== null && rules.map !== builtInMap().source;
	return isFile ? { ...rules, map: "a file" } : rules;
}

export const codeRules = (
	{ map: name, keptUnmapped, drugs }: ReadingRules,
	map: CodeMap | undefined,
): CodeRules => ({
	codes: name === null ? "as-is" : "phecode",
	...{ map, drugs },
	unmapped: keptUnmapped ? "keep" : "drop",
});
