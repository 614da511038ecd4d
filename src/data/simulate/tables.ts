import { InputError } from "../../base/errors.js";
import { dayMilliseconds, isoDate, yearDays } from "../../base/time.js";
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

/** The catalogue as arrays by position, with rates per day, for the inner loops. */
export const size = conditions.length;

export const oldest = 109;

/** PheCodes, in the order of the distributions. */
export const codes: readonly string[] = conditions.map(({ code }) => code);

const positions = new Map(codes.map((code, at) => [code, at]));

export function positionOf(code: string): number {
	const at = positions.get(code);
	if (at === undefined)
		throw new InputError(`code "${code}" is not in the simulator's catalogue of ${size} PheCodes`);
	return at;
}

export const isChronic = Uint8Array.from(conditions, ({ course }) => Number(course === "chronic"));

export const categories: readonly string[] = [
	...new Set(conditions.map(({ category }) => category)),
];
export const categoryOf = Uint8Array.from(conditions, ({ category }) =>
	categories.indexOf(category),
);

/** The acute conditions of each category. */
export const acuteIn: readonly Int32Array[] = categories.map((_, category) =>
	Int32Array.from(
		[...conditions.keys()].filter((at) => categoryOf[at] === category && !isChronic[at]),
	),
);

/** The number of records after which a condition is established: two for chronic ones, as is usual. */
export const establishedAt = Uint8Array.from(isChronic, (chronic) => (chronic ? 2 : 1));
/** The number of records after which a chronic condition is advanced and its effects grow. */
export const advancedAt = 12;
const advancedPower = 0.35;

export interface Links {
	readonly to: Int32Array;
	readonly value: Float64Array;
}

function linksOf(entries: readonly (readonly [code: string, value: number | undefined])[]): Links {
	const sorted = entries
		.map(([code, value]) => [positionOf(code), value!] as const)
		.sort((a, b) => a[0] - b[0]);
	return {
		to: Int32Array.from(sorted, ([to]) => to),
		value: Float64Array.from(sorted, ([, value]) => value),
	};
}

const caused: [code: string, factor: number | undefined][][] = conditions.map(() => []);
for (const { code, causes } of conditions)
	for (const [cause, factor] of Object.entries(causes ?? {}))
		caused[positionOf(cause)].push([code, factor]);

/** The factors of an established condition on the rates of others. */
export const effects: readonly Links[] = caused.map(linksOf);

/** Further factors of an advanced condition. */
export const advancedEffects: readonly Links[] = effects.map(({ to, value }) => ({
	to,
	value: value.map((factor) => factor ** advancedPower),
}));

/** The companions of each condition, with their probabilities. */
export const companionsOf: readonly Links[] = conditions.map(({ also }) =>
	linksOf(Object.entries(also ?? {})),
);

export const carryAlongChance = Float64Array.from(conditions, (condition) =>
	condition.course === "chronic" ? (condition.carried ?? 0.45) : 0,
);

export const deadly = Float64Array.from(conditions, (condition) => condition.deadly ?? 1);

function rateTables(sex: Sex) {
	/** [age in years, condition]: rate per day at that age. */
	const rate = new Float64Array((oldest + 1) * size);
	/** [age in years, condition]: expected onsets of a chronic condition before that age. */
	const before = new Float64Array((oldest + 1) * size);
	/** Records per day of a chronic condition that is suspected and ruled out. */
	const ruledOut = new Float64Array(size);
	/** 0 if the condition does not exist in this sex. */
	const possible = new Uint8Array(size);
	for (const [at, condition] of conditions.entries()) {
		const factor = condition.sex?.[sex] ?? 1;
		possible[at] = factor > 0 ? 1 : 0;
		if (condition.course === "chronic" && factor > 0)
			ruledOut[at] = (0.0003 + 0.08 * condition.perYear) / yearDays;
		let sum = 0;
		for (let age = 0; age <= oldest; age++) {
			const perYear = condition.perYear * factor * condition.ages(age);
			rate[age * size + at] = perYear / yearDays;
			before[age * size + at] = condition.course === "chronic" ? sum : 0;
			sum += perYear;
		}
	}
	return { rate, before, ruledOut, possible };
}

export const tablesOf = { female: rateTables("female"), male: rateTables("male") };

/** Days are whole numbers since 1970-01-01. Claims are recorded from 2000-01-01 to 2019-12-31. */
export const firstDay = Date.UTC(2000, 0, 1) / dayMilliseconds;
export const lastDay = Date.UTC(2019, 11, 31) / dayMilliseconds;

/**
 * Rates that change slowly (with age, season and time since enrolment) are constant within blocks of days that are
 * fixed on the calendar, so simulator and oracle both compute them exactly.
 */
export const blockDays = 30;

export function blockOf(day: number): number {
	return Math.floor(day / blockDays);
}

const dates = new Map<number, string>();

/** Formats a date, with a cache: millions of records fall on a few thousand days. */
export function dateText(day: number): string {
	let date = dates.get(day);
	if (date === undefined) {
		date = isoDate(day);
		dates.set(day, date);
	}
	return date;
}

const seasons = conditions.flatMap((condition, at) =>
	condition.course === "acute" && condition.season ? [{ at, ...condition.season }] : [],
);

/** Positions of the conditions with a season. */
export const seasonal: readonly number[] = seasons.map(({ at }) => at);

const factors = new Map<number, Float64Array>();

/** The seasonal factor of each condition in the middle of a block. */
export function seasonOf(block: number): Float64Array {
	let row = factors.get(block);
	if (row === undefined) {
		const day = (block + 0.5) * blockDays;
		row = new Float64Array(size).fill(1);
		for (const { at, peak, swing } of seasons)
			row[at] = 1 + swing * Math.cos((2 * Math.PI * (day - peak)) / yearDays);
		factors.set(block, row);
	}
	return row;
}
