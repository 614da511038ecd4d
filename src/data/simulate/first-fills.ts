import type { Random } from "../../base/random.js";
import {
	diabetes,
	drugs,
	drugsFor,
	insulinLogOdds,
	insulins,
	refillAfter,
	secondInsulinOmitted,
	steroid,
} from "./prescriptions.js";
import type { State } from "./state.js";

/** ATC codes of all drugs; the two kinds of insulin come last. */
export const drugCodes: readonly string[] = [...drugs, ...insulins].map(({ atc }) => atc);

const [firstInsulin, secondInsulin] = [drugs.length, drugs.length + 1];

/** Each condition with each drug that a visit with it may prescribe. */
export const indications: readonly {
	readonly condition: number;
	readonly drug: number;
	/** P(the drug is started at a visit); for insulin, a typical value. */
	readonly chance: number;
}[] = [
	...drugsFor.flatMap((given, condition) =>
		given.map(({ drug, chance }) => ({ condition, drug, chance })),
	),
	{ condition: diabetes, drug: firstInsulin, chance: 0.05 },
	{ condition: diabetes, drug: secondInsulin, chance: 0.05 },
];
const indicationsOf: { indication: number; drug: number; chance: number }[][] = drugsFor.map(
	() => [],
);
for (const [indication, { condition, drug, chance }] of indications.entries())
	if (drug < firstInsulin) indicationsOf[condition].push({ indication, drug, chance });
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
			for (const { indication, drug, chance } of indicationsOf[visit[i]]) {
				out[indication] += weight * unfilled[drug] * chance;
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
