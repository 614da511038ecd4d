import type { Sex } from "../../records/rows.js";

/** A factor on a yearly rate at an age in years. */
export type AgeCurve = (age: number) => number;

/** PheCode to a factor or a probability. */
type ByCode = Readonly<Record<string, number>>;

interface Common {
	/** First records (chronic) or episodes (acute) a year where age, sex and causes count 1. */
	readonly perYear: number;
	readonly ages: AgeCurve;
	/** Factors by sex; 1 where not given. */
	readonly sex?: Partial<Record<Sex, number>>;
	/** Conditions that, once established, multiply the rate. */
	readonly causes?: ByCode;
	/** What a visit for this also records, and how likely. */
	readonly also?: ByCode;
	/** Factor on mortality once established. */
	readonly deadly?: number;
	/** ICD-9-CM without dots, commonest first. */
	readonly icd9: readonly string[];
}

export interface ChronicCourse extends Common {
	/** Days between follow-up records, about. */
	readonly everyDays: number;
	/** The probability that a record is not the last of a condition that may heal; 1. */
	readonly stays?: number;
	/** How likely another chronic condition's visit codes this one too, when it is due; 0.45. */
	readonly carried?: number;
}

export interface AcuteCourse extends Common {
	/** The probability that another record follows a record, and after how many days, about. */
	readonly again: readonly [probability: number, days: number];
	/** Most frequent on this day of the year, by 1 ± swing. */
	readonly season?: { readonly peak: number; readonly swing: number };
}

interface Named {
	/** An integer PheCode. */
	readonly code: string;
	readonly name: string;
	readonly category: string;
}

export type Condition = Named &
	(({ readonly course: "chronic" } & ChronicCourse) | ({ readonly course: "acute" } & AcuteCourse));

type Uncategorised = Condition extends infer C
	? C extends C
		? Omit<C, "category">
		: never
	: never;

export function chronic(code: string, name: string, course: ChronicCourse): Uncategorised {
	return { code, name, course: "chronic", ...course };
}

export function acute(code: string, name: string, course: AcuteCourse): Uncategorised {
	return { code, name, course: "acute", ...course };
}

export function inCategory(
	category: string,
	conditions: readonly Uncategorised[],
): readonly Condition[] {
	return conditions.map((condition) => ({ ...condition, category }) as Condition);
}

export const women = { male: 0 };
export const men = { female: 0 };
export const winter = { peak: 25, swing: 0.7 };
export const summer = { peak: 205, swing: 0.5 };

export const anyAge: AgeCurve = () => 1;

/** Logistic: a tenth at the first age, nine tenths at the second. */
export function rising(from: number, to: number): AgeCurve {
	return (age) => 1 / (1 + Math.exp(((from + to) / 2 - age) * (4.394 / (to - from)))); // 2 ln 9
}

/** Logistic: nine tenths at the first age, a tenth at the second. */
export function falling(from: number, to: number): AgeCurve {
	const up = rising(from, to);
	return (age) => 1 - up(age);
}

/** Rises from `a` to `b`, falls from `c` to `d`. */
export function between(a: number, b: number, c: number, d: number): AgeCurve {
	const up = rising(a, b);
	const down = falling(c, d);
	return (age) => up(age) * down(age);
}

/** As `between`, and exactly none outside [a, d]. */
export function only(a: number, b: number, c: number, d: number): AgeCurve {
	const inside = between(a, b, c, d);
	return (age) => (age < a || age > d ? 0 : inside(age));
}

/** Never below `share`. */
export function atLeast(share: number, curve: AgeCurve): AgeCurve {
	return (age) => share + (1 - share) * curve(age);
}

/** Children and the old: the second part weighs `old`. */
export function youngAndOld(old: number): AgeCurve {
	const young = falling(4, 14);
	const late = rising(55, 85);
	return (age) => 0.15 + young(age) + old * late(age);
}
