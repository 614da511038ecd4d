import { probabilityOf } from "../../base/log-odds.js";
import type { Random } from "../../base/random.js";
import { drugs } from "./drugs.js";
import { insulinLogOdds, insulins } from "./insulin.js";
import type { Person } from "./person.js";
import { positionOf, size } from "./tables.js";

export interface Prescription {
	readonly day: number;
	readonly drug: string;
	readonly atc: string;
	readonly daysSupply: number;
}

export interface Pharmacy {
	/** The prescriptions of a visit; positions in the catalogue, reason first. */
	prescribe(day: number, visit: Int32Array, length: number): Prescription[];
	/** Whether the person takes insulin. */
	onInsulin(): boolean;
}

export const diabetes = positionOf("250");
export const steroid = drugs.findIndex(({ name }) => name === "prednisone");

/** By condition, the drugs that may be prescribed for it. */
export const drugsFor: { drug: number; chance: number }[][] = Array.from(
	{ length: size },
	() => [],
);
for (const [drug, { given }] of drugs.entries())
	for (const [code, chance] of Object.entries(given))
		drugsFor[positionOf(code)]!.push({ drug, chance });

/** A refill is too early if less than this share of the last supply can have been used. */
export const refillAfter = 0.7;

/** The probability that a visit of a person who takes insulin does not prescribe the second kind. */
export const secondInsulinOmitted = 0.6;

/**
 * Prescriptions depend on the records and use a separate random stream, so they never change later records.
 */
export function pharmacy(person: Person, stream: Random): Pharmacy {
	/** The day of the last fill, for drugs the person has taken. */
	const filled = new Map<number, number>();
	const lastRecord = new Map<number, number>();
	const insulinFilled = insulins.map(() => Number.NEGATIVE_INFINITY);
	let onInsulin = false;
	let diabetesVisits = 0;
	let firstDiabetes = 0;

	const fill = (drug: number, day: number): Prescription => {
		const { name, atc, daysSupply } = drugs[drug]!;
		filled.set(drug, day);
		return { day, drug: name, atc, daysSupply };
	};

	const insulin = (day: number): Prescription[] => {
		if (diabetesVisits === 0) firstDiabetes = day;
		if (!onInsulin) {
			const logOdds = insulinLogOdds({
				day,
				birth: person.birth,
				earlier: diabetesVisits,
				firstDay: firstDiabetes,
				lastRecord: (at) => lastRecord.get(at) ?? Number.NEGATIVE_INFINITY,
				lastSteroid: filled.get(steroid) ?? Number.NEGATIVE_INFINITY,
			});
			onInsulin = stream.uniform() < probabilityOf(logOdds);
		}
		diabetesVisits++;
		if (!onInsulin) return [];
		return insulins.flatMap(({ name, atc, daysSupply }, kind) => {
			if (day - insulinFilled[kind]! < refillAfter * daysSupply) return [];
			if (kind > 0 && stream.uniform() < secondInsulinOmitted) return [];
			insulinFilled[kind] = day;
			return [{ day, drug: name, atc, daysSupply }];
		});
	};

	return {
		onInsulin: () => onInsulin,
		prescribe: (day, visit, length) => {
			const found: Prescription[] = [];
			for (let i = 0; i < length; i++) lastRecord.set(visit[i]!, day);
			for (let i = 0; i < length; i++) {
				for (const { drug, chance } of drugsFor[visit[i]!]!) {
					const { lasting, daysSupply } = drugs[drug]!;
					const last = filled.get(drug);
					if (last !== undefined && day - last < refillAfter * daysSupply) continue;
					if ((lasting && last !== undefined) || stream.uniform() < chance)
						found.push(fill(drug, day));
				}
			}
			for (let i = 0; i < length; i++) if (visit[i] === diabetes) found.push(...insulin(day));
			return found;
		},
	};
}
