import { yearDays } from "../base/time.js";
import { positionOf } from "./tables.js";

export const insulins = [
	{ name: "insulin glargine", atc: "A10AE04", daysSupply: 30 },
	{ name: "insulin aspart", atc: "A10AB05", daysSupply: 30 },
] as const;

/** What the decision looks at: all of it recorded by the day of the visit, that visit included. */
export interface DiabetesVisit {
	readonly day: number;
	readonly birth: number;
	/** Visits with diabetes before this one, and the day of the first, this one included. */
	readonly earlier: number;
	readonly firstDay: number;
	/** Day of the last record of a condition; −Infinity for none. */
	readonly lastRecord: (at: number) => number;
	/** Last course of steroids. */
	readonly lastSteroid: number;
}

const at = (code: string) => positionOf(code) as number;

/** Signs that the disease is far on: each counts once. */
const severe: readonly (readonly [codes: readonly number[], weight: number])[] = [
	[[at("577"), at("157")], 4.2],
	[[at("585"), at("580")], 3.4],
	[[at("362")], 2.6],
	[[at("356"), at("357")], 2.9],
	[[at("443"), at("707"), at("710")], 2.9],
	[[at("411"), at("428"), at("433")], 1.7],
];
const obesity = at("278");
/** Signs that it was found early, by screening. */
const screened = [at("272"), at("401")];
const infections = [at("591"), at("681"), at("112"), at("110"), at("480"), at("590"), at("038")];

/** Log-odds that insulin is begun at this visit by one who takes none. */
export function insulinLogOdds(visit: DiabetesVisit): number {
	const { day, lastRecord } = visit;
	const known = (code: number) => lastRecord(code) > Number.NEGATIVE_INFINITY;
	const age = (visit.firstDay - visit.birth) / yearDays;
	let score = visit.earlier === 0 ? -4 : -5.3;
	score += 7 / (1 + Math.exp((age - 27) / 2.5)); // type 1
	for (const [codes, weight] of severe) if (codes.some(known)) score += weight;
	if (infections.some((code) => day - lastRecord(code) <= 180)) score += 2.5;
	if (day - visit.lastSteroid <= 180) score += 3;
	if (known(obesity)) score += 0.9;
	if (age > 35 && screened.every(known)) score -= 1.6;
	score += 0.04 * Math.min(visit.earlier, 40);
	return score;
}
