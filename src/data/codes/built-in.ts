import { listUnder } from "../../base/arrays.js";
import { type CodeMap, type IcdSystem, normaliseIcd, type PheCode } from "./map.js";
import catalogue from "./phecodes.json" with { type: "json" };

/**
 * A row of `phecodes.json`, which has the PheCodes at integer level by category. Its rules are separated by spaces.
 *
 * A rule matches a code and all codes below it: `440` matches 440.0 and 440.21. `430-432` is three rules, and so is
 * `T36-T38.??2`, where a question mark matches any character. The longest matching rule counts; if several PheCodes have
 * that rule, the code has all of them. A rule with a plus, as in `+I70.?3`, adds its PheCode to those of the longest rule.
 */
interface CatalogueRow {
	/** The PheCode; `none` for ICD codes without one. */
	readonly code: string;
	readonly name: string;
	readonly icd9: string;
	readonly icd10: string;
}

const rulesIn: Readonly<Record<IcdSystem, "icd9" | "icd10">> = { ICD9CM: "icd9", ICD10CM: "icd10" };

function allPheCodes(): PheCode[] {
	return Object.entries(catalogue)
		.flatMap(([category, rows]) => rows.map(({ code, name }) => ({ code, name, category })))
		.filter(({ code }) => code !== "none")
		.sort((a, b) => Number(a.code) - Number(b.code));
}

/** All PheCodes at integer level, by number. Pure, so that bundles without the map leave it out. */
export const pheCodes: readonly PheCode[] = /* @__PURE__ */ allPheCodes();

function compile() {
	const rows = Object.values(catalogue).flat();
	return {
		ICD9CM: compileRules(rows, "ICD9CM"),
		ICD10CM: compileRules(rows, "ICD10CM"),
		names: new Map(pheCodes.map((phecode) => [phecode.code, phecode])),
	};
}

let compiled: ReturnType<typeof compile> | undefined;

/** The built-in map, written by hand from the public classifications. */
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

/** Expands a text to rules: `430-432` and `T36-T38.??2` to three each, and `S?2` to one per digit. */
export function expandRule(text: string): string[] {
	const [first = "", last] = text.split("-");
	if (last === undefined) {
		const [category = "", detail] = first.split(".");
		const open = category.indexOf("?");
		if (open < 0) return [first];
		const tail = category.slice(open + 1) + (detail === undefined ? "" : `.${detail}`);
		return [..."0123456789"].flatMap((digit) => expandRule(category.slice(0, open) + digit + tail));
	}
	const [, stem = "", digits = ""] = /^(.*?)(\d+)$/.exec(first) ?? [];
	const from = Number(digits);
	const to = Number(last.slice(stem.length, first.length));
	const tail = last.slice(first.length);
	if (!last.startsWith(stem) || !(from < to)) throw new Error(`not a range of codes: ${text}`);
	return Array.from({ length: to - from + 1 }, (_, i) =>
		expandRule(stem + String(from + i).padStart(digits.length, "0") + tail),
	).flat();
}

interface Rule {
	readonly prefix: string;
	readonly adds: boolean;
	readonly phecodes: string[];
}

function fits(prefix: string, code: string): boolean {
	if (prefix.length > code.length) return false;
	for (let at = 0; at < prefix.length; at++)
		if (prefix[at] !== code[at] && prefix[at] !== "?") return false;
	return true;
}

const categoryOf = (code: string) => code.split(".", 1)[0] as string;
const openPlaces = (prefix: string) => prefix.split("?").length;

/** Compiles the rules of one system into a function from a dotted code to its PheCodes. */
export function compileRules(
	rows: readonly Pick<CatalogueRow, "code" | "icd9" | "icd10">[],
	system: IcdSystem,
): (code: string) => readonly string[] {
	const rules = new Map<string, Rule>();
	for (const { code, [rulesIn[system]]: texts } of rows)
		for (const text of texts.split(" ").filter(Boolean)) {
			const adds = text.startsWith("+");
			for (const prefix of expandRule(text.replaceAll("+", ""))) {
				const key = adds ? `+${prefix}` : prefix;
				const rule = rules.get(key);
				if (rule) rule.phecodes.push(code);
				else rules.set(key, { prefix, adds, phecodes: [code] });
			}
		}
	const byCategory = new Map<string, Rule[]>();
	for (const rule of rules.values()) listUnder(byCategory, categoryOf(rule.prefix), rule);
	for (const ofCategory of byCategory.values())
		ofCategory.sort(
			(a, b) => b.prefix.length - a.prefix.length || openPlaces(a.prefix) - openPlaces(b.prefix),
		);
	return (code) => {
		const fitting = (byCategory.get(categoryOf(code)) ?? []).filter(({ prefix }) =>
			fits(prefix, code),
		);
		const decides = fitting.find(({ adds }) => !adds)?.phecodes ?? [];
		const added = fitting.filter(({ adds }) => adds).flatMap(({ phecodes }) => phecodes);
		return added.length === 0 ? decides : [...new Set([...decides, ...added])];
	};
}
