import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { ExportManifest } from "../../../src/export/manifest.js";
import type { Treatment } from "../files/to-patients.js";
import type { About } from "./about.js";

/** How records of a file are to be treated: as the server says, else as the vocabulary shows. */
export function treatmentOf(
	about: About | null,
	time: Pick<ExportManifest["time"], "unitDays" | "axis">,
	vocabulary: Vocabulary,
): Treatment {
	const phecodes = vocabulary.tokens.filter(({ system }) => system === "PheCode");
	const { map, level, dedup } = about?.records ?? {};
	return {
		map: map === undefined ? (phecodes.length > 0 ? "" : null) : map,
		level: level ?? (phecodes.some(({ code }) => code.includes(".")) ? "full" : "integer"),
		dedup: dedup ?? "none",
		unitDays: time.unitDays,
		axis: time.axis,
	};
}
