import type { IcdSystem } from "./icd.js";

/**
 * One chapter of the catalogue. Its table has one entry per PheCode:
 *
 *     440 Atherosclerosis | 440 | I70
 *
 * number and name | ICD-9-CM rules | ICD-10-CM rules; indented lines continue the entry.
 *
 * A rule matches a code and all codes below it: `440` matches 440.0 and 440.21. `430-432` is three rules, and so is
 * `T36-T38.??2`, where a question mark matches any character. The longest matching rule counts; if several PheCodes have
 * that rule, the code has all of them. A rule with a plus, as in `+I70.?3`, adds its PheCode to those of the longest rule.
 */
export interface Chapter {
	readonly category: string;
	readonly table: string;
}

export interface Entry {
	readonly code: string;
	readonly name: string;
	readonly rules: Readonly<Record<IcdSystem, readonly string[]>>;
}

const words = (text: string) => text.split(/\s+/).filter(Boolean);

export function entriesOf(table: string): Entry[] {
	const lines = table.trim().split(/\n(?!\s)/);
	return lines.map((line) => {
		const [head = "", icd9 = "", icd10 = "", ...more] = line.split("|");
		const [code = "", ...name] = words(head);
		if (more.length > 0 || name.length === 0)
			throw new Error(`expected "number name | ICD-9-CM | ICD-10-CM", got: ${line}`);
		const rules = { ICD9CM: words(icd9), ICD10CM: words(icd10) };
		return { code, name: name.join(" "), rules };
	});
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
	entries: readonly Entry[],
	system: IcdSystem,
): (code: string) => readonly string[] {
	const rules = new Map<string, Rule>();
	for (const { code, rules: bySystem } of entries)
		for (const text of bySystem[system]) {
			const adds = text.startsWith("+");
			for (const prefix of expandRule(text.replaceAll("+", ""))) {
				const key = adds ? `+${prefix}` : prefix;
				const rule = rules.get(key);
				if (rule) rule.phecodes.push(code);
				else rules.set(key, { prefix, adds, phecodes: [code] });
			}
		}
	const byCategory = new Map<string, Rule[]>();
	for (const rule of rules.values()) {
		const category = categoryOf(rule.prefix);
		const others = byCategory.get(category);
		if (others) others.push(rule);
		else byCategory.set(category, [rule]);
	}
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
