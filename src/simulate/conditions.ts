import type { Sex } from "../records/rows.js";

/** What makes another condition more likely, by a factor on its hazard. */
interface Cause {
	readonly code: string;
	readonly factor: number;
}

export interface Condition {
	/** A PheCode, at integer level. */
	readonly code: string;
	readonly name: string;
	readonly category: string;
	/** Chronic ones stay and are followed up; acute ones come, bring a burst of records, and pass. */
	readonly course: "chronic" | "acute";
	/** Onsets a year at the worst age, for a person of average frailty without any cause. */
	readonly yearlyRate: number;
	/** The ages between which the hazard grows from a tenth of the rate to nine tenths, or falls. */
	readonly ages: readonly [from: number, to: number];
	/** Factors by sex; 1 where not given. */
	readonly bySex?: Partial<Record<Sex, number>>;
	readonly causes?: readonly Cause[];
	/** Chronic: mean days between follow-up records. Acute: mean days between records of a burst. */
	readonly gapDays: number;
	/** Acute: mean number of further records of an episode. Chronic: not used. */
	readonly burst?: number;
}

type Details = Pick<Condition, "bySex" | "causes" | "burst">;

function chronic(
	code: string,
	name: string,
	category: string,
	yearlyRate: number,
	ages: readonly [number, number],
	gapDays: number,
	details: Details = {},
): Condition {
	return { code, name, category, course: "chronic", yearlyRate, ages, gapDays, ...details };
}

function acute(
	code: string,
	name: string,
	category: string,
	yearlyRate: number,
	ages: readonly [number, number],
	gapDays: number,
	burst: number,
	details: Details = {},
): Condition {
	return { code, name, category, course: "acute", yearlyRate, ages, gapDays, burst, ...details };
}

const always: readonly [number, number] = [-50, -40];
const onlyWomen = { male: 0 };
const onlyMen = { female: 0 };

/**
 * Rates are invented, of the order of those in claims; causes run metabolic → cardiac → renal, smoking →
 * lung, and a few more. Nothing here is an estimate from anyone's records.
 */
export const conditions: readonly Condition[] = [
	// metabolic
	chronic("278", "Overweight, obesity", "endocrine/metabolic", 0.012, [10, 50], 300),
	chronic("250", "Diabetes mellitus", "endocrine/metabolic", 0.008, [30, 65], 90, {
		causes: [{ code: "278", factor: 5 }],
	}),
	chronic("272", "Disorders of lipoid metabolism", "endocrine/metabolic", 0.03, [35, 60], 180, {
		causes: [{ code: "278", factor: 2 }],
	}),
	chronic("244", "Hypothyroidism", "endocrine/metabolic", 0.006, [25, 60], 130, {
		bySex: { female: 1.7, male: 0.3 },
	}),
	// circulatory
	chronic("401", "Hypertension", "circulatory system", 0.035, [35, 65], 110, {
		causes: [
			{ code: "278", factor: 2 },
			{ code: "250", factor: 1.8 },
		],
	}),
	chronic("411", "Ischemic heart disease", "circulatory system", 0.008, [50, 75], 85, {
		bySex: { female: 0.7, male: 1.3 },
		causes: [
			{ code: "401", factor: 2 },
			{ code: "272", factor: 2 },
			{ code: "250", factor: 2 },
			{ code: "318", factor: 2 },
		],
	}),
	chronic("427", "Cardiac dysrhythmias", "circulatory system", 0.01, [55, 80], 95, {
		causes: [
			{ code: "401", factor: 1.5 },
			{ code: "411", factor: 2 },
		],
	}),
	chronic("428", "Congestive heart failure", "circulatory system", 0.002, [60, 85], 45, {
		causes: [
			{ code: "401", factor: 3 },
			{ code: "411", factor: 5 },
			{ code: "427", factor: 2 },
		],
	}),
	chronic("433", "Cerebrovascular disease", "circulatory system", 0.004, [60, 82], 100, {
		causes: [
			{ code: "401", factor: 2 },
			{ code: "427", factor: 3 },
		],
	}),
	chronic("443", "Peripheral vascular disease", "circulatory system", 0.003, [55, 78], 120, {
		causes: [
			{ code: "250", factor: 3 },
			{ code: "318", factor: 3 },
		],
	}),
	// renal and genitourinary
	chronic("585", "Renal failure", "genitourinary", 0.002, [55, 80], 50, {
		causes: [
			{ code: "250", factor: 6 },
			{ code: "401", factor: 3 },
			{ code: "428", factor: 3 },
		],
	}),
	acute("591", "Urinary tract infection", "genitourinary", 0.06, [5, 70], 5, 1, {
		bySex: { female: 2.2, male: 0.4 },
		causes: [{ code: "250", factor: 1.6 }],
	}),
	chronic("600", "Hyperplasia of prostate", "genitourinary", 0.03, [50, 75], 150, {
		bySex: onlyMen,
	}),
	chronic("627", "Menopausal disorders", "genitourinary", 0.03, [44, 52], 220, {
		bySex: onlyWomen,
	}),
	// respiratory
	acute("465", "Acute upper respiratory infections", "respiratory", 0.6, [90, 0], 4, 0.5),
	acute("480", "Pneumonia", "respiratory", 0.01, [50, 85], 4, 3, {
		causes: [
			{ code: "496", factor: 5 },
			{ code: "428", factor: 2 },
		],
	}),
	chronic("495", "Asthma", "respiratory", 0.006, [40, 3], 160),
	chronic("496", "Chronic airway obstruction", "respiratory", 0.003, [45, 70], 80, {
		causes: [
			{ code: "318", factor: 10 },
			{ code: "495", factor: 2 },
		],
	}),
	// mental
	chronic("318", "Tobacco use disorder", "mental disorders", 0.008, [15, 22], 365),
	chronic("296", "Mood disorders", "mental disorders", 0.003, [14, 30], 60, {
		bySex: { female: 1.4, male: 0.7 },
		causes: [{ code: "300", factor: 3 }],
	}),
	chronic("300", "Anxiety disorders", "mental disorders", 0.006, [12, 28], 110, {
		bySex: { female: 1.4, male: 0.7 },
	}),
	chronic("290", "Delirium, dementia", "mental disorders", 0.02, [72, 92], 60, {
		causes: [{ code: "433", factor: 2 }],
	}),
	// neurological and sense organs
	chronic("327", "Sleep disorders", "neurological", 0.01, [30, 55], 240, {
		causes: [
			{ code: "278", factor: 3 },
			{ code: "296", factor: 2 },
		],
	}),
	chronic("340", "Migraine", "neurological", 0.004, [12, 25], 150, {
		bySex: { female: 1.6, male: 0.5 },
	}),
	chronic("345", "Epilepsy", "neurological", 0.0006, always, 120),
	chronic("365", "Glaucoma", "sense organs", 0.006, [50, 75], 140),
	chronic("366", "Cataract", "sense organs", 0.03, [60, 78], 200, {
		causes: [{ code: "250", factor: 1.8 }],
	}),
	acute("381", "Otitis media", "sense organs", 0.4, [40, 0], 8, 1),
	// digestive
	chronic("530", "Diseases of esophagus", "digestive", 0.015, [30, 60], 220, {
		causes: [{ code: "278", factor: 1.7 }],
	}),
	acute("535", "Gastritis and duodenitis", "digestive", 0.03, [20, 50], 10, 1),
	acute("008", "Intestinal infection", "infectious diseases", 0.12, [80, 0], 3, 0.5),
	acute("079", "Viral infection", "infectious diseases", 0.3, [80, 0], 4, 0.4),
	// musculoskeletal
	chronic("740", "Osteoarthrosis", "musculoskeletal", 0.025, [45, 70], 140, {
		causes: [{ code: "278", factor: 1.8 }],
	}),
	chronic("714", "Rheumatoid arthritis", "musculoskeletal", 0.0015, [30, 60], 60, {
		bySex: { female: 1.5, male: 0.5 },
	}),
	chronic("743", "Osteoporosis", "musculoskeletal", 0.025, [60, 80], 200, {
		bySex: { female: 1.7, male: 0.3 },
	}),
	acute("760", "Back pain", "symptoms", 0.15, [18, 45], 9, 3, {
		causes: [{ code: "740", factor: 1.5 }],
	}),
	acute("800", "Fracture of lower limb", "injuries & poisonings", 0.01, [50, 85], 12, 5, {
		causes: [{ code: "743", factor: 3 }],
	}),
	// other
	acute("939", "Atopic or contact dermatitis", "dermatologic", 0.12, [80, 0], 12, 0.7),
	acute("650", "Normal delivery", "pregnancy complications", 0.06, [17, 23], 25, 4, {
		bySex: onlyWomen,
	}),
	chronic("174", "Breast cancer", "neoplasms", 0.004, [45, 68], 40, { bySex: onlyWomen }),
	chronic("185", "Cancer of prostate", "neoplasms", 0.007, [58, 75], 50, { bySex: onlyMen }),
	chronic("285", "Other anemias", "hematopoietic", 0.012, [50, 80], 90, {
		causes: [{ code: "585", factor: 4 }],
	}),
];

/** Growth (or fall, when `ages` run backwards) of the hazard with age: logistic, 10 % to 90 %. */
export function ageFactor([from, to]: readonly [number, number], age: number): number {
	return 1 / (1 + Math.exp(((from + to) / 2 - age) * (4.394 / (to - from)))); // 4.394 = 2 ln 9
}

/** Childbearing ends, though the logistic does not. */
const lastDelivery = 45;

/** Onsets a year for a person of this age and sex who has the given conditions. */
export function hazard(
	condition: Condition,
	age: number,
	sex: Sex,
	has: (code: string) => boolean,
): number {
	if (condition.code === "650" && age > lastDelivery) return 0;
	let rate = condition.yearlyRate * ageFactor(condition.ages, age);
	rate *= condition.bySex?.[sex] ?? 1;
	for (const { code, factor } of condition.causes ?? []) if (has(code)) rate *= factor;
	return rate;
}
