import type { TimeAxis } from "../../../base/time.js";
import type { CodeMap } from "../../codes/map.js";
import type { Manifest } from "../manifest.js";
import type { CodeRules } from "./code-concepts.js";
import type { Dedup } from "./history-rules.js";

/** The rules of a dataset by which new records are read; JSON, so that pages can use them too. */
export interface ReadingRules {
	/** The map of ICD codes; null if codes were left as they are. */
	readonly map: string | null;
	readonly level: "integer" | "full" | null;
	readonly keptUnmapped: boolean;
	readonly drugs: CodeRules["drugs"];
	readonly dedup: Dedup;
	/** The number of latest records to keep per patient; null for all. */
	readonly maxRecords: number | null;
	readonly deathToken: boolean;
	/** The time axis of the dataset; new records may have another. */
	readonly axis: TimeAxis;
}

/** If the dataset kept only the first records of long histories, later records are still read: they matter for predictions. */
export const readingRules = ({ codes, filters, source }: Manifest): ReadingRules => ({
	...{ map: codes.map, level: codes.level, keptUnmapped: codes.keptUnmapped },
	...{ drugs: filters.drugs, dedup: filters.dedup, deathToken: filters.deathToken },
	maxRecords: filters.keep === "last" ? filters.maxRecords : null,
	axis: source.axis,
});

export const codeRules = (
	{ map: name, keptUnmapped, drugs }: ReadingRules,
	map: CodeMap | undefined,
): CodeRules => ({
	codes: name === null ? "as-is" : "phecode",
	...{ map, drugs },
	unmapped: keptUnmapped ? "keep" : "drop",
});
