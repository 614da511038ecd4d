import { InputError } from "../../base/errors.js";
import { yearDays } from "../../base/time.js";
import { conditions } from "./conditions.js";

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
		caused[positionOf(cause)]!.push([code, factor]);

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

export interface RateTables {
	/** [age in years, condition]: rate per day at that age. */
	readonly rate: Float64Array;
	/** [age in years, condition]: expected onsets of a chronic condition before that age. */
	readonly before: Float64Array;
	/** Records per day of a chronic condition that is suspected and ruled out. */
	readonly ruledOut: Float64Array;
	/** 0 if the condition does not exist in this sex. */
	readonly possible: Uint8Array;
}

function rateTables(sex: "female" | "male"): RateTables {
	const rate = new Float64Array((oldest + 1) * size);
	const before = new Float64Array((oldest + 1) * size);
	const ruledOut = new Float64Array(size);
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
