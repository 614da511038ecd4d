import { chapters, withoutPheCode } from "./catalogue.js";
import { normaliseIcd } from "./icd.js";
import type { CodeMap, PheCode } from "./map.js";
import { compileRules, entriesOf } from "./rules.js";

function allPheCodes(): PheCode[] {
	return chapters
		.flatMap(({ category, table }) =>
			entriesOf(table).map(({ code, name }) => ({ code, name, category })),
		)
		.sort((a, b) => Number(a.code) - Number(b.code));
}

/** All PheCodes at integer level, by number. Pure, so that bundles without the map leave it out. */
export const pheCodes: readonly PheCode[] = /* @__PURE__ */ allPheCodes();

function compile() {
	const entries = [...chapters.map(({ table }) => table), withoutPheCode].flatMap(entriesOf);
	return {
		ICD9CM: compileRules(entries, "ICD9CM"),
		ICD10CM: compileRules(entries, "ICD10CM"),
		names: new Map(pheCodes.map((phecode) => [phecode.code, phecode])),
	};
}

let compiled: ReturnType<typeof compile> | undefined;

/** The built-in map, written by hand from the public classifications (see catalogue.ts). */
export function builtInMap(): CodeMap {
	compiled ??= compile();
	const { names, ...rules } = compiled;
	return {
		source: "built in (integer level)",
		level: "integer",
		phecodesOf(system, code) {
			const normal = normaliseIcd(system, code);
			if (normal === undefined) return [];
			return rules[system](normal).filter((phecode) => phecode !== "none");
		},
		nameOf: (phecode) => names.get(phecode),
	};
}
