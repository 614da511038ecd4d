import type { Sex } from "../records/rows.js";
import catalogue from "./conditions.json" with { type: "json" };

/** A factor on a yearly rate at an age in years. */
type AgeCurve = (age: number) => number;

/** Maps PheCodes to factors or probabilities. */
type ByCode = Readonly<Record<string, number | undefined>>;

interface CommonRow {
	/** An integer PheCode. */
	readonly code: string;
	readonly name: string;
	/** First records (chronic) or episodes (acute) per year if the factors of age, sex and causes are 1. */
	readonly perYear: number;
	/** A factor: see `ageCurve`. */
	readonly ages: string;
	/** Factors by sex; 1 by default. */
	readonly sex?: Partial<Record<Sex, number | undefined>> | undefined;
	/** Factor on mortality once established. */
	readonly deadly?: number | undefined;
	/** Conditions that, once established, multiply the rate. */
	readonly causes?: ByCode | undefined;
	/** Companions of a visit for this condition, with their probabilities. */
	readonly also?: ByCode | undefined;
	/** ICD-9-CM codes, the most common first. */
	readonly icd9: string;
}

interface ChronicRow extends CommonRow {
	/** Approximate days between follow-up records. */
	readonly everyDays: number;
	/** The probability that a record is not the last, for a condition that may heal; 1 by default. */
	readonly stays?: number | undefined;
	/** The probability that a visit for another chronic condition also codes this one when it is due; 0.45 by default. */
	readonly carried?: number | undefined;
}

interface AcuteRow extends CommonRow {
	/** The probability of a further record, and the approximate days until then. */
	readonly again: { readonly probability: number; readonly days: number };
	/** Most frequent on the peak's day of the year, by 1 ± swing. */
	readonly season?: { readonly peak: number; readonly swing: number } | undefined;
}

/** A row of `conditions.json`, whose rates are invented, of the order of those in claims. */
export type ConditionRow = ChronicRow | AcuteRow;

type Compiled<Row, Course> = Omit<Row, "ages" | "icd9"> & {
	readonly course: Course;
	readonly category: string;
	readonly ages: AgeCurve;
	/** ICD-9-CM codes without dots, the most common first. */
	readonly icd9: readonly string[];
};

export type Condition = Compiled<ChronicRow, "chronic"> | Compiled<AcuteRow, "acute">;

/** Logistic: a tenth at the first age, nine tenths at the second. */
function rising(from: number, to: number): AgeCurve {
	return (age) => 1 / (1 + Math.exp(((from + to) / 2 - age) * (4.394 / (to - from)))); // 2 ln 9
}

/** Logistic: nine tenths at the first age, a tenth at the second. */
function falling(from: number, to: number): AgeCurve {
	const up = rising(from, to);
	return (age) => 1 - up(age);
}

/** Rises from `a` to `b`, falls from `c` to `d`. */
function between(a: number, b: number, c: number, d: number): AgeCurve {
	const up = rising(a, b);
	const down = falling(c, d);
	return (age) => up(age) * down(age);
}

/** Like `between`, and exactly 0 outside [a, d]. */
function only(a: number, b: number, c: number, d: number): AgeCurve {
	const inside = between(a, b, c, d);
	return (age) => (age < a || age > d ? 0 : inside(age));
}

/** High in children and in old age, where the factor is `old`. */
function youngAndOld(old: number): AgeCurve {
	const young = falling(4, 14);
	const late = rising(55, 85);
	return (age) => 0.15 + young(age) + old * late(age);
}

/** The syntax of each curve by its first word, with # for numbers. */
const curves: Readonly<Record<string, readonly [string, (...numbers: number[]) => AgeCurve]>> = {
	any: ["any", () => () => 1],
	rising: ["rising #-#", rising],
	falling: ["falling #-#", falling],
	between: ["between #-# and #-#", between],
	only: ["only #-# and #-#", only],
	young: ["young and old×#", youngAndOld],
};

/** Reads the numbers of a text, which must match the pattern with a number for each #. */
function numbersIn(text: string, pattern: string): number[] {
	const match = new RegExp(`^${pattern.replaceAll("#", "(\\d+(?:\\.\\d+)?)")}$`).exec(text);
	if (!match) throw new Error(`expected "${pattern}" with numbers for #, got "${text}"`);
	return match.slice(1).map(Number);
}

/** Reads a curve such as `at least 0.25 falling 3-20`: it never is below the share, and reaches 1 where the curve does. */
export function ageCurve(text: string): AgeCurve {
	const [, share, shape = ""] = /^(?:at least (\S+) )?(.*)$/.exec(text) ?? [];
	const [name = ""] = shape.split(" ");
	const syntax = Object.hasOwn(curves, name) ? curves[name] : undefined;
	if (!syntax)
		throw new Error(`no age curve "${name}"; expected one of ${Object.keys(curves).join(", ")}`);
	const [pattern, make] = syntax;
	const curve = make(...numbersIn(shape, pattern));
	if (share === undefined) return curve;
	const [least = 0] = numbersIn(share, "#");
	return (age) => least + (1 - least) * curve(age);
}

function compile(row: ConditionRow, category: string): Condition {
	const common = {
		category,
		ages: ageCurve(row.ages),
		icd9: row.icd9.replaceAll(".", "").split(" "),
	};
	return "everyDays" in row
		? { ...row, ...common, course: "chronic" }
		: { ...row, ...common, course: "acute" };
}

const rows: Readonly<Record<string, readonly ConditionRow[]>> = catalogue;

/** Sorted by code, the order in which a visit lists its companions. */
export const conditions: readonly Condition[] = Object.entries(rows)
	.flatMap(([category, ofCategory]) => ofCategory.map((row) => compile(row, category)))
	.sort((a, b) => (a.code < b.code ? -1 : 1));
