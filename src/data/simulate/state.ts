import { yearDays } from "../../base/time.js";
import { coveredDays, type Person } from "./person.js";
import { inEpisode, recurrenceChance } from "./recurrence.js";
import * as tables from "./tables.js";

/** Local copies are faster in the inner loops. */
const {
	acuteIn,
	advancedAt,
	advancedEffects,
	blockDays,
	blockOf,
	categories,
	categoryOf,
	deadly,
	effects,
	establishedAt,
	isChronic,
	oldest,
	seasonal,
	seasonOf,
	size,
	tablesOf,
} = tables;

/** Pre-existing conditions are recorded in the first months of coverage: mean days until the record. */
const pickUpDays = 240;
/** The share of pre-existing conditions that are still recorded. */
const pickUpShare = 0.5;
const pickUpBlocks = 36;
/** Blocks during which pre-existing conditions are recorded. */
const pickUpHeld = 3;

/** Shape of the frailty of a category of acute conditions: mean 1, variance 1 / shape. */
const frailtyShape = 1.6;

const largestCause = 40;

/** Whether a category has conditions with a season. */
const isSeasonal = Uint8Array.from(categories, (_, category) =>
	Number(seasonal.some((at) => categoryOf[at] === category)),
);

/**
 * The state of a person in the simulator's model, a function of the person and the visits so far. Simulator and
 * oracle advance it by the same two methods, `enter` and `record`.
 */
export class State {
	/** The number of records so far, and the day of the last. */
	readonly count = new Int32Array(size);
	readonly last = new Int32Array(size);
	/** The recurrence probability p after the last record. */
	readonly chance = new Float64Array(size);
	/** The product of the factors of established conditions. */
	readonly cause = new Float64Array(size);
	/**
	 * Rate per day of first records (chronic, 0 once recorded) and of new episodes (acute, without
	 * frailty) in this block.
	 */
	readonly onset = new Float64Array(size);
	/** Conditions recorded so far, in order of first record. */
	readonly recorded = new Int32Array(size);
	recordedCount = 0;
	/** Acute episodes by category: observed, and expected of an average person in past blocks. */
	readonly episodes = new Float64Array(categories.length);
	readonly expected = new Float64Array(categories.length);
	/** Counts the changes of `onset` other than by season. */
	onsetChanges = 0;
	/** Sums of `onset` in this block. */
	readonly acuteOnset = new Float64Array(categories.length);
	chronicOnset = 0;
	/** Factor on the hazard of death. */
	mortality = 1;
	person!: Person;
	/** The rate tables of the person's sex. */
	rateTables = tablesOf.female;
	block = 0;
	/** Further inputs of `onsetOf`: rows of the rate tables, and the weight of pre-existing conditions. */
	private row = -1;
	private enrolledRow = 0;
	private pickUp = 0;
	private season = seasonOf(0);
	/** Whether `acuteOnset` was updated since it was last summed. */
	private readonly isUpdated = new Uint8Array(categories.length);

	begin(person: Person): void {
		this.person = person;
		this.rateTables = tablesOf[person.sex];
		this.count.fill(0);
		this.last.fill(0);
		this.chance.fill(0);
		this.cause.fill(1);
		this.recordedCount = 0;
		this.episodes.fill(0);
		this.expected.fill(0);
		this.mortality = 1;
		this.block = blockOf(person.coverage[0]?.[0] ?? person.birth);
		this.row = -1;
		this.refresh();
	}

	copy(other: State): void {
		this.person = other.person;
		this.rateTables = other.rateTables;
		this.count.set(other.count);
		this.last.set(other.last);
		this.chance.set(other.chance);
		this.cause.set(other.cause);
		this.onset.set(other.onset);
		this.recorded.set(other.recorded);
		this.recordedCount = other.recordedCount;
		this.episodes.set(other.episodes);
		this.expected.set(other.expected);
		this.onsetChanges++;
		this.acuteOnset.set(other.acuteOnset);
		this.isUpdated.set(other.isUpdated);
		this.chronicOnset = other.chronicOnset;
		this.mortality = other.mortality;
		this.block = other.block;
		this.row = other.row;
		this.enrolledRow = other.enrolledRow;
		this.pickUp = other.pickUp;
		this.season = other.season;
	}

	/** Advances to the block of a day, without records in between. Blocks only go forward. */
	enter(day: number): void {
		const target = blockOf(day);
		while (this.block < target) {
			const start = this.block * blockDays;
			const days = coveredDays(this.person, start, start + blockDays);
			for (let c = 0; c < categories.length; c++) this.expected[c] += this.acuteOnset[c] * days;
			this.block++;
			this.refresh();
		}
	}

	ageAt(day: number): number {
		const age = Math.floor((day - this.person.birth) / yearDays);
		return Math.min(Math.max(age, 0), oldest);
	}

	/**
	 * The mean of a gamma frailty given the observed and expected episodes, constant since the end of the last block
	 * or visit.
	 */
	frailty(category: number): number {
		return (frailtyShape + this.episodes[category]) / (frailtyShape + this.expected[category]);
	}

	/** The sum of all onset rates per day, in this block and since the last visit. */
	totalOnset(): number {
		let total = this.chronicOnset;
		for (let c = 0; c < categories.length; c++) total += this.acuteOnset[c] * this.frailty(c);
		return total;
	}

	/** Records a visit: positions in the catalogue, the reason first. The state must have entered the day. */
	record(day: number, visit: ArrayLike<number>, length: number): void {
		for (let i = 0; i < length; i++) {
			const at = visit[i];
			const seen = this.count[at];
			this.chance[at] = recurrenceChance[at];
			if (isChronic[at]) {
				if (seen === 0) this.chance[at] *= this.genuine(at, i === 0);
			} else if (i === 0 && !(seen > 0 && inEpisode(at, day - this.last[at])))
				this.episodes[categoryOf[at]] += 1;
			this.count[at] = seen + 1;
			this.last[at] = day;
			if (seen === 0) {
				this.recorded[this.recordedCount++] = at;
				if (isChronic[at]) this.update(at);
			}
			this.establish(at, seen + 1);
		}
	}

	/** The probability that a first record is not a coding error; companions never are. */
	private genuine(at: number, isReason: boolean): number {
		const total = this.onset[at];
		if (!isReason || total === 0) return 1;
		return 1 - this.rateTables.ruledOut[at] / total;
	}

	private establish(at: number, count: number): void {
		const established = count === establishedAt[at];
		if (!established && !(isChronic[at] && count === advancedAt)) return;
		const { to, value } = (established ? effects : advancedEffects)[at];
		for (let i = 0; i < to.length; i++) {
			this.cause[to[i]] *= value[i];
			this.update(to[i]);
		}
		if (established) this.mortality *= deadly[at];
	}

	/** The onset rate given block, causes and records. */
	private onsetOf(at: number): number {
		const { rate, before, ruledOut } = this.rateTables;
		const factor = Math.min(this.cause[at], largestCause);
		const now = rate[this.row + at];
		if (!isChronic[at]) return now * factor * this.season[at];
		if (this.count[at] > 0) return 0;
		return (now + this.pickUp * before[this.enrolledRow + at]) * factor + ruledOut[at];
	}

	/** Updates the onset after a change of one condition's count or causes. */
	private update(at: number): void {
		const onset = this.onsetOf(at);
		const change = onset - this.onset[at];
		this.onset[at] = onset;
		this.onsetChanges++;
		if (isChronic[at]) this.chronicOnset += change;
		else {
			this.acuteOnset[categoryOf[at]] += change;
			this.isUpdated[categoryOf[at]] = 1;
		}
	}

	/** Updates onsets after a change of block: all of them once a year and while pre-existing conditions are recorded. */
	private refresh(): void {
		const { person, onset, acuteOnset, isUpdated } = this;
		const day = this.block * blockDays;
		const row = this.ageAt(day) * size;
		const enrolled = person.coverage[0]?.[0] ?? person.birth;
		const blocks = pickUpHeld * Math.floor((this.block - blockOf(enrolled)) / pickUpHeld);
		const pickUp =
			blocks < pickUpBlocks
				? (pickUpShare / pickUpDays) * Math.exp((-blocks * blockDays) / pickUpDays)
				: 0;
		const all = row !== this.row || pickUp !== this.pickUp;
		this.row = row;
		this.pickUp = pickUp;
		this.enrolledRow = this.ageAt(enrolled) * size;
		this.season = seasonOf(this.block);
		if (all) {
			this.onsetChanges++;
			this.chronicOnset = 0;
			for (let at = 0; at < size; at++) {
				onset[at] = this.onsetOf(at);
				if (isChronic[at]) this.chronicOnset += onset[at];
			}
		} else for (const at of seasonal) onset[at] = this.onsetOf(at);
		for (let c = 0; c < categories.length; c++) {
			if (!all && !isSeasonal[c] && !isUpdated[c]) continue;
			isUpdated[c] = 0;
			const members = acuteIn[c];
			let sum = 0;
			for (let i = 0; i < members.length; i++) sum += onset[members[i]];
			acuteOnset[c] = sum;
		}
	}
}
