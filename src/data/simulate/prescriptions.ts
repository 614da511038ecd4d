import { probabilityOf } from "../../base/log-odds.js";
import type { Random } from "../../base/random.js";
import { yearDays } from "../../base/time.js";
import catalogue from "./drugs.json" with { type: "json" };
import type { Person } from "./person.js";
import type { State } from "./state.js";
import { conditions, positionOf } from "./tables.js";

/** A drug that a visit may prescribe. Names are ingredients, codes are ATC. */
export interface Drug {
	readonly name: string;
	readonly atc: string;
	readonly daysSupply: number;
	/** Whether it is taken long-term: once started, it is refilled at visits for its conditions. Otherwise one course at a time. */
	readonly lasting: boolean;
	/** For each condition recorded at the visit, the probability that the drug is started. */
	readonly given: Readonly<Record<string, number | undefined>>;
}

/** All drugs except insulin; the chances are invented. */
export const drugs: readonly Drug[] = catalogue;

const insulins = [
	{ name: "insulin glargine", atc: "A10AE04", daysSupply: 30 },
	{ name: "insulin aspart", atc: "A10AB05", daysSupply: 30 },
] as const;

/** The inputs of the decision: all recorded by the day of the visit, the visit included. */
interface DiabetesVisit {
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

export interface Prescription {
	readonly day: number;
	readonly drug: string;
	readonly atc: string;
	readonly daysSupply: number;
}

export const diabetes = positionOf("250");
const steroid = drugs.findIndex(({ name }) => name === "prednisone");

interface Indication {
	readonly condition: number;
	readonly drug: number;
	readonly chance: number;
}

/** By condition, the drugs that may be prescribed for it. */
const drugsFor: Indication[][] = conditions.map(() => []);
for (const [drug, { given }] of drugs.entries())
	for (const [code, chance] of Object.entries(given)) {
		const condition = positionOf(code);
		drugsFor[condition].push({ condition, drug, chance: chance! });
	}

/** A refill is too early if less than this share of the last supply can have been used. */
const refillAfter = 0.7;

/** The probability that a visit of a person who takes insulin does not prescribe the second kind. */
const secondInsulinOmitted = 0.6;

/**
 * Prescriptions depend on the records and use a separate random stream, so they never change later records.
 */
export function pharmacy(person: Person, stream: Random) {
	/** The day of the last fill, for drugs the person has taken. */
	const filled = new Map<number, number>();
	const lastRecord = new Map<number, number>();
	const insulinFilled = insulins.map(() => Number.NEGATIVE_INFINITY);
	let onInsulin = false;
	let diabetesVisits = 0;
	let firstDiabetes = 0;

	const fill = (drug: number, day: number): Prescription => {
		const { name, atc, daysSupply } = drugs[drug];
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
			if (day - insulinFilled[kind] < refillAfter * daysSupply) return [];
			if (kind > 0 && stream.uniform() < secondInsulinOmitted) return [];
			insulinFilled[kind] = day;
			return [{ day, drug: name, atc, daysSupply }];
		});
	};

	return {
		/** Whether the person takes insulin. */
		onInsulin: () => onInsulin,
		/** The prescriptions of a visit; positions in the catalogue, reason first. */
		prescribe(day: number, visit: Int32Array, length: number): Prescription[] {
			const prescriptions: Prescription[] = [];
			for (let i = 0; i < length; i++) lastRecord.set(visit[i], day);
			for (let i = 0; i < length; i++) {
				for (const { drug, chance } of drugsFor[visit[i]]) {
					const { lasting, daysSupply } = drugs[drug];
					const last = filled.get(drug);
					if (last !== undefined && day - last < refillAfter * daysSupply) continue;
					if ((lasting && last !== undefined) || stream.uniform() < chance)
						prescriptions.push(fill(drug, day));
				}
			}
			for (let i = 0; i < length; i++)
				if (visit[i] === diabetes) prescriptions.push(...insulin(day));
			return prescriptions;
		},
	};
}

/** Weights 1, 1/2, 1/3, …, the most common code first. */
const cumulative: readonly Float64Array[] = conditions.map(({ icd9 }) => {
	let sum = 0;
	const sums = Float64Array.from(icd9, (_, i) => {
		sum += 1 / (i + 1);
		return sum;
	});
	return sums.map((value) => value / sum);
});

const renal = ["585", "580"].map(positionOf);
const retinal = [positionOf("362")];
const neural = ["356", "357"].map(positionOf);
const lastAgeOfType1 = 27;

/** Draws the ICD-9-CM code of a record. */
export function subCode(
	condition: number,
	state: State,
	day: number,
	onInsulin: boolean,
	stream: Random,
): string {
	const mark = stream.uniform();
	if (condition === diabetes) return diabetesCode(state, day, onInsulin, mark);
	const sums = cumulative[condition];
	let i = 0;
	while (i < sums.length - 1 && mark >= sums[i]) i++;
	return conditions[condition].icd9[i];
}

/** The type depends on age, complications on other records, and insulin use on prescriptions. */
function diabetesCode(state: State, day: number, onInsulin: boolean, mark: number): string {
	if (onInsulin && mark < 0.12) return "V5867";
	const type = state.ageAt(day) <= lastAgeOfType1 ? "1" : "0";
	const known = (codes: readonly number[]) => codes.some((code) => state.count[code] > 0);
	const share = (mark - 0.12) / 0.88;
	if (!onInsulin && type === "0" && state.count[diabetes] < 3 && mark < 0.15) return "79029";
	if (share < 0.12 && known(renal)) return `2504${type}`;
	if (share < 0.24 && known(retinal)) return `2505${type}`;
	if (share < 0.36 && known(neural)) return `2506${type}`;
	if (share < 0.55) return type === "1" ? "25003" : "25002";
	return type === "1" ? "25001" : "25000";
}

/** ATC codes of all drugs; the two kinds of insulin come last. */
export const drugCodes: readonly string[] = [...drugs, ...insulins].map(({ atc }) => atc);

const [firstInsulin, secondInsulin] = [drugs.length, drugs.length + 1];

/** Each condition with each drug that a visit may prescribe, and P(the drug is started at a visit). */
export const indications: readonly Indication[] = [
	...drugsFor.flat(),
	// For insulin, a typical value.
	{ condition: diabetes, drug: firstInsulin, chance: 0.05 },
	{ condition: diabetes, drug: secondInsulin, chance: 0.05 },
];
/** The number of the first indication of each condition. */
const firstIndication = drugsFor.map((_, condition) => drugsFor.slice(0, condition).flat().length);
const [firstInsulinUse, secondInsulinUse] = [indications.length - 2, indications.length - 1];
const steroidDays = refillAfter * drugs[steroid].daysSupply;

/** What decides the first fills of drugs after an index day, besides the visits. */
export interface FillHistory {
	readonly birth: number;
	/** The day of the first record of diabetes, if any. */
	readonly firstDiabetes: number | undefined;
	/** By position in `drugCodes`, the day of the last fill; −Infinity if there is none. */
	readonly last: Float64Array;
}

/**
 * The probability that each drug is filled for the first time at each visit of a sampled future. Prescriptions
 * depend on the visits and never change them, so the product over visits of the probabilities of no fill is exact.
 * Only courses of steroids are drawn, because insulin depends on them.
 */
export class FirstFills {
	/** The probability that a drug has not been filled yet, given the visits so far. */
	private readonly unfilled = new Float64Array(drugCodes.length);
	/** The probability that the first kind of insulin has been filled, but not the second. */
	private secondDue = 0;
	private firstDiabetes = 0;
	private lastSteroid = 0;
	private stream!: Random;

	constructor(private readonly history: FillHistory) {}

	/** Begins a future. */
	begin(stream: Random): void {
		const { last, firstDiabetes } = this.history;
		const none = Number.NEGATIVE_INFINITY;
		for (let drug = 0; drug < last.length; drug++)
			this.unfilled[drug] = last[drug] === none ? 1 : 0;
		this.secondDue = last[firstInsulin] !== none && last[secondInsulin] === none ? 1 : 0;
		this.firstDiabetes = firstDiabetes ?? 0;
		this.lastSteroid = last[steroid];
		this.stream = stream;
	}

	/**
	 * Adds the probabilities of first fills at a visit, times `weight`, to `out` by indication; the state is that
	 * before the visit.
	 */
	add(
		state: State,
		day: number,
		visit: Int32Array,
		length: number,
		weight: number,
		out: Float64Array,
	): void {
		const { unfilled } = this;
		let isDiabetic = false;
		for (let i = 0; i < length; i++) {
			if (visit[i] === diabetes) isDiabetic = true;
			const indicationsOf = drugsFor[visit[i]];
			for (let k = 0; k < indicationsOf.length; k++) {
				const { drug, chance } = indicationsOf[k];
				out[firstIndication[visit[i]] + k] += weight * unfilled[drug] * chance;
				unfilled[drug] *= 1 - chance;
				if (
					drug === steroid &&
					day - this.lastSteroid >= steroidDays &&
					this.stream.uniform() < chance
				)
					this.lastSteroid = day;
			}
		}
		if (isDiabetic) this.addInsulin(state, day, visit.subarray(0, length), weight, out);
	}

	private addInsulin(
		state: State,
		day: number,
		visit: Int32Array,
		weight: number,
		out: Float64Array,
	): void {
		const earlier = state.count[diabetes];
		if (earlier === 0) this.firstDiabetes = day;
		if (this.unfilled[firstInsulin] > 0) {
			const logOdds = insulinLogOdds({
				day,
				birth: this.history.birth,
				earlier,
				firstDay: this.firstDiabetes,
				lastRecord: (at) => {
					if (visit.includes(at)) return day;
					return state.count[at] > 0 ? state.last[at] : Number.NEGATIVE_INFINITY;
				},
				lastSteroid: this.lastSteroid,
			});
			const started = this.unfilled[firstInsulin] / (1 + Math.exp(-logOdds));
			out[firstInsulinUse] += weight * started;
			this.unfilled[firstInsulin] -= started;
			this.secondDue += started;
		}
		out[secondInsulinUse] += weight * this.secondDue * (1 - secondInsulinOmitted);
		this.secondDue *= secondInsulinOmitted;
	}
}
