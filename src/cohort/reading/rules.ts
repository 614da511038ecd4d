import type { CodeMap } from "../../codes/map.js";
import type { Manifest } from "../manifest.js";
import type { CodeRules } from "./meaning.js";
import type { Axis, Dedup } from "./periods.js";

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
	readonly unitDays: number;
	/** Of the dataset; that of further records may be another. */
	readonly axis: Axis;
}

/** Of a dataset that kept the first records of long histories, later ones are read too: they are asked about. */
export const readingRules = ({ codes, filters, timeUnit, source }: Manifest): ReadingRules => ({
	...{ map: codes.map, level: codes.level, keptUnmapped: codes.keptUnmapped },
	...{ drugs: filters.drugs, dedup: filters.dedup, deathToken: filters.deathToken },
	maxRecords: filters.keep === "last" ? filters.maxRecords : null,
	...{ unitDays: timeUnit.days, axis: source.axis },
});

export const codeRules = (
	{ map: name, keptUnmapped, drugs }: ReadingRules,
	map: CodeMap | undefined,
): CodeRules => ({
	codes: name === null ? "as-is" : "phecode",
	...{ map, drugs },
	unmapped: keptUnmapped ? "keep" : "drop",
});
