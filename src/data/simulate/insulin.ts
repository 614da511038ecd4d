import { yearDays } from "../../base/time.js";
import { positionOf } from "./tables.js";

export const insulins = [
	{ name: "insulin glargine", atc: "A10AE04", daysSupply: 30 },
	{ name: "insulin aspart", atc: "A10AB05", daysSupply: 30 },
] as const;

/** The inputs of the decision: all recorded by the day of the visit, the visit included. */
export interface DiabetesVisit {
	readonly day: number;
	readonly birth: number;
	/** The number of earlier visits with diabetes, and the day of the first visit with it, this one included. */
	readonly earlier: number;
	readonly firstDay: number;
	/** The day of the last record of a condition; −Infinity if there is none. */
	readonly lastRecord: (at: number) => number;
	/** The day of the last course of steroids. */
	readonly lastSteroid: number;
}

/** Signs of advanced disease; each counts once. */
const severe: readonly (readonly [codes: readonly number[], weight: number])[] = [
	[["577", "157"].map(positionOf), 4.2],
	[["585", "580"].map(positionOf), 3.4],
	[["362"].map(positionOf), 2.6],
	[["356", "357"].map(positionOf), 2.9],
	[["443", "707", "710"].map(positionOf), 2.9],
	[["411", "428", "433"].map(positionOf), 1.7],
];
const obesity = positionOf("278");
/** Signs of early detection by screening. */
const screened = ["272", "401"].map(positionOf);
const infections = ["591", "681", "112", "110", "480", "590", "038"].map(positionOf);

/** Log-odds that a patient without insulin starts it at this visit. */
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
