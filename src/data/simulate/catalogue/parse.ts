import type { Sex } from "../../records/rows.js";
import { type AgeCurve, atLeast, curves } from "./ages.js";

/** Maps PheCodes to factors or probabilities. */
type ByCode = Readonly<Record<string, number>>;

interface Common {
	/** An integer PheCode. */
	readonly code: string;
	readonly name: string;
	readonly category: string;
	/** First records (chronic) or episodes (acute) per year if the factors of age, sex and causes are 1. */
	readonly perYear: number;
	readonly ages: AgeCurve;
	/** Factors by sex; 1 by default. */
	readonly sex?: Partial<Record<Sex, number>>;
	/** Conditions that, once established, multiply the rate. */
	readonly causes?: ByCode;
	/** Companions of a visit for this condition, with their probabilities. */
	readonly also?: ByCode;
	/** Factor on mortality once established. */
	readonly deadly?: number;
	/** ICD-9-CM codes without dots, the most common first. */
	readonly icd9: readonly string[];
}

interface Chronic extends Common {
	readonly course: "chronic";
	/** Approximate days between follow-up records. */
	readonly everyDays: number;
	/** The probability that a record is not the last, for a condition that may heal; 1 by default. */
	readonly stays?: number;
	/** The probability that a visit for another chronic condition also codes this one when it is due; 0.45 by default. */
	readonly carried?: number;
}

interface Acute extends Common {
	readonly course: "acute";
	/** The probability of a further record, and the approximate days until then. */
	readonly again: readonly [probability: number, days: number];
	/** Most frequent on this day of the year, by 1 ± swing. */
	readonly season?: { readonly peak: number; readonly swing: number };
}

export type Condition = Chronic | Acute;

/**
 * One chapter of the catalogue. Its table has one entry per condition, of fields in any order; indented lines
 * continue an entry:
 *
 *     452 Venous embolism and thrombosis | rate 0.00099 | ages rising 35-80 | again 0.72 after 22 days
 *     	| deadly 1.3 | causes 165×3 198×4 | also 771:0.15 | icd9 453.40 453.41
 *
 * PheCode and name; first records or episodes per year; the factor of age; then for chronic conditions
 * `every 70 days` a follow-up record, for acute ones `again` the probability and days of a further record.
 * Optional: `stays`, `carried` (chronic), `season` (acute), `sex`, `deadly`, `causes` with their factors, and
 * `also` for companions with their probabilities.
 */
export interface Chapter {
	readonly category: string;
	readonly table: string;
}

type Fields = Partial<Omit<Chronic, "course"> & Omit<Acute, "course"> & Pick<Condition, "course">>;

/** Parsers of the fields by their first word. */
const fields: Readonly<Record<string, (text: string) => Fields>> = {
	rate: (text) => ({ perYear: one(text) }),
	ages: (text) => ({ ages: agesIn(text) }),
	every: (text) => ({ course: "chronic", everyDays: one(text, "# days") }),
	stays: (text) => ({ stays: one(text) }),
	carried: (text) => ({ carried: one(text) }),
	again: (text) => {
		const [probability = 0, days = 0] = numbersIn(text, "# after # days");
		return { course: "acute", again: [probability, days] };
	},
	season: (text) => {
		if (text === "winter") return { season: { peak: 25, swing: 0.7 } };
		if (text === "summer") return { season: { peak: 205, swing: 0.5 } };
		const [peak = 0, swing = 0] = numbersIn(text, "peak # swing #");
		return { season: { peak, swing } };
	},
	sex: (text) => {
		if (text === "female only") return { sex: { male: 0 } };
		if (text === "male only") return { sex: { female: 0 } };
		const [female = 1, male = 1] = numbersIn(text, "female×# male×#");
		return { sex: { female, male } };
	},
	deadly: (text) => ({ deadly: one(text) }),
	causes: (text) => ({ causes: pairsIn(text, "×") }),
	also: (text) => ({ also: pairsIn(text, ":") }),
	icd9: (text) => ({ icd9: text.replaceAll(".", "").split(" ") }),
};

/** Reads the numbers of a text, which must match the pattern with a number for each #. */
function numbersIn(text: string, pattern: string): number[] {
	const found = new RegExp(`^${pattern.replaceAll("#", "(\\d+(?:\\.\\d+)?)")}$`).exec(text);
	if (!found) throw new Error(`expected "${pattern}" with numbers for #, got "${text}"`);
	return found.slice(1).map(Number);
}

const one = (text: string, pattern = "#") => numbersIn(text, pattern)[0] as number;

const pairsIn = (text: string, sign: string): Record<string, number> =>
	Object.fromEntries(
		text.split(" ").map((pair) => {
			const [key = "", value = ""] = pair.split(sign);
			return [key, one(value)];
		}),
	);

function agesIn(text: string): AgeCurve {
	const [, share, written = ""] = /^(?:at least (\S+) )?(.*)$/.exec(text) ?? [];
	const [pattern, curve] = known(curves, written.split(" ")[0], "age curve");
	const own = curve(...numbersIn(written, pattern));
	return share === undefined ? own : atLeast(one(share), own);
}

function known<T>(table: Readonly<Record<string, T>>, name = "", what: string): T {
	if (Object.hasOwn(table, name)) return table[name] as T;
	throw new Error(`no ${what} "${name}"; expected one of ${Object.keys(table).join(", ")}`);
}

export const conditionsIn = ({ category, table }: Chapter): Condition[] =>
	table
		.trim()
		.split(/\n(?!\s)/)
		.map((entry) => {
			try {
				return conditionIn(entry.replaceAll(/\s+/g, " "), category);
			} catch (error) {
				throw new Error(`${category}: ${(error as Error).message}, in: ${entry}`);
			}
		});

function conditionIn(entry: string, category: string): Condition {
	const [head = "", ...rest] = entry.split(" | ");
	const [, code, name] = /^(\d{3}) (.+)$/.exec(head) ?? [];
	if (!code || !name) throw new Error(`expected a PheCode and a name, got "${head}"`);
	const found: Record<string, unknown> = { code, name, category };
	for (const field of rest) {
		const [, word, text = ""] = /^(\S+) (.+)$/.exec(field) ?? [];
		for (const [key, value] of Object.entries(known(fields, word, "field")(text))) {
			if (key in found) throw new Error(`"${field}" repeats another field`);
			found[key] = value;
		}
	}
	const missing = ["perYear", "ages", "course", "icd9"].find((key) => !(key in found));
	if (missing) throw new Error(`${missing} is missing`);
	const foreign = found.course === "chronic" ? ["season"] : ["stays", "carried"];
	const wrong = foreign.find((key) => key in found);
	if (wrong) throw new Error(`${wrong} is not for ${found.course} conditions`);
	return found as unknown as Condition;
}
