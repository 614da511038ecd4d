import { InputError } from "../../base/errors.js";
import { hashText, type Random, random } from "../../base/random.js";
import { followed } from "./next-codes.js";
import { type SimulatedPatient, simulatedHistory } from "./patients.js";
import { type OracleHistory, type Period, personOf } from "./person.js";
import { diabetes, drugCodes, type FillHistory, FirstFills, indications } from "./prescriptions.js";
import { inEpisode, summedRecurrenceHazard } from "./recurrence.js";
import { deathRateOf, LifeBuffers, type OnVisit, simulateLife } from "./simulate-life.js";
import { State } from "./state.js";
import * as tables from "./tables.js";

/** Local copies are faster in the inner loops. */
const { categories, categoryOf, codes, companionsOf, isChronic, seasonal, size } = tables;

export interface IncidenceHistory extends OracleHistory {
	/** ATC codes; by default none. Only the incidence of drugs depends on them. */
	readonly prescriptions?: readonly { readonly day: number; readonly atc: string }[];
}

export interface IncidenceOptions {
	/** Sampled futures. */
	readonly futures?: number;
	readonly seed?: number;
}

/** Probabilities by the end of each horizon; NaN for what was recorded up to the index day. */
export interface CumulativeIncidence {
	/** [horizon, code], in the order of the oracle's `codes`. */
	readonly codes: Float64Array;
	/** [horizon, drug], in the order of the oracle's `drugs`. */
	readonly drugs: Float64Array;
	/** [horizon]. */
	readonly death: Float64Array;
}

/**
 * The cumulative incidence after an index day, with death as a competing event: for each horizon of T days, the
 * probability that a code or drug is recorded for the first time on the days (`day`, `day` + T].
 *
 * It is conditional on birth, sex, and the policies, records and prescriptions up to and including `day`, and on
 * being alive at its end. The simulator has no hidden state, so these determine all hazards. Later policies, records
 * and prescriptions in `history` are ignored: the person is assumed to be observed without a gap from the next day on.
 * A visit on `day` is complete.
 *
 * Futures are sampled without death, which does not change the hazards of visits before it. W is the probability of
 * being alive given the visits so far. N jumps from 0 to 1 at the first record of a code, and A is the sum of the
 * conditional probabilities of that jump given the future so far. The estimate is the mean over futures of
 *   ∫ W dN − ∫ ψ W d(N − A).
 *
 * It is unbiased: (1) E ∫ W dN is the cumulative incidence; (2) N − A is a martingale, and W and ψ do not depend on
 * what happens later, so the second term has mean zero; (3) ψ is a function of time that comes from the other half of
 * the futures, so it is independent of the future it weights. ψ = 0 counts futures and ψ = 1 sums hazards until the
 * first record. The variance is least if ψ is the probability that the code is not recorded between then and the
 * horizon, which is what the other half estimates. 1 − Π(1 − p) along a future would be biased: beyond the first
 * record, the future depends on it.
 *
 * A integrates the hazards of a first record as the reason of a visit, and as a companion at the onset or in an
 * acute episode of another condition; at sampled visits for chronic conditions, which are nearly regular, it adds the
 * probabilities of companions. First fills of drugs are exact given the visits (`FirstFills`). Sampling error that
 * leaves [0, 1], or decreases with the horizon, is cut off.
 */
export function cumulativeIncidence(
	history: IncidenceHistory,
	day: number,
	horizons: readonly number[],
	{ futures = 128, seed = 0 }: IncidenceOptions = {},
): CumulativeIncidence {
	const start = stateAfter(history, day);
	const fills = fillsUpTo(history, day);
	const periods = periodsOf(horizons);
	const sampler = new FutureSampler(start, day, periods, new FirstFills(fills));
	const streams = random(seed).fork("incidence");
	const halves: [FutureSums, FutureSums] = [new FutureSums(periods), new FutureSums(periods)];
	for (let future = 0; future < futures; future++)
		sampler.sample(streams.fork(future), halves[future % 2 === 0 ? 0 : 1]);

	const records = new Float64Array(horizons.length * size);
	const drugs = new Float64Array(horizons.length * drugCodes.length);
	const death = new Float64Array(horizons.length);
	for (const [half, other] of [halves, halves.toReversed()] as const) {
		const estimated = firstRecords(half, other, periods);
		for (let i = 0; i < records.length; i++) records[i] += estimated[i];
		addFirstFills(half, other, periods, estimated, drugs);
		for (const [horizon, last] of periods.last.entries())
			death[horizon] += half.futures - half.alive[last];
	}
	const isFilled = (drug: number) => fills.last[drug] > Number.NEGATIVE_INFINITY;
	return {
		codes: probabilities(records, futures, horizons.length, (at) => start.count[at] > 0),
		drugs: probabilities(drugs, futures, horizons.length, isFilled),
		death: probabilities(death, futures, horizons.length, () => false),
	};
}

/** Means of sums [horizon, code] as probabilities that do not decrease with the horizon. */
function probabilities(
	sums: Float64Array,
	futures: number,
	horizons: number,
	isRecorded: (at: number) => boolean,
): Float64Array {
	const width = sums.length / horizons;
	const out = new Float64Array(sums.length);
	for (let i = 0; i < out.length; i++) {
		const atLeast = i < width ? 0 : out[i - width];
		out[i] = isRecorded(i % width) ? Number.NaN : Math.min(Math.max(sums[i] / futures, atLeast), 1);
	}
	return out;
}

/** The state on the day after the index day, with coverage from then on. */
function stateAfter(history: IncidenceHistory, day: number): State {
	const { coverage } = personOf(history.birth, history.sex, history.coverage);
	const first = coverage[0][0];
	if (!Number.isInteger(day) || day < first)
		throw new InputError(
			`the index day must be a whole number, not before the first policy: got ${day}, expected at least ${first}`,
			{ field: "day", value: day },
		);
	const past = coverage
		.filter(([from]) => from <= day)
		.map(([from, to]): Period => [from, Math.min(to, day)]);
	const state = followed({
		...history,
		coverage: [...past, [day + 1, Number.MAX_SAFE_INTEGER]],
		events: history.events.filter((event) => event.day <= day),
	}).state();
	state.enter(day + 1);
	return state;
}

function fillsUpTo(
	{ birth, events, prescriptions = [] }: IncidenceHistory,
	day: number,
): FillHistory {
	const last = new Float64Array(drugCodes.length).fill(Number.NEGATIVE_INFINITY);
	for (const fill of prescriptions)
		if (fill.day <= day) last[drugCodes.indexOf(fill.atc)] = fill.day;
	const firstDiabetes = events.find(({ code }) => code === codes[diabetes])?.day;
	return { birth, last, firstDiabetes };
}

/** Weights ψ are constant for at most so many days. */
const longestPeriodDays = 366;

interface Periods {
	/** The last day of each period, after the index day. */
	readonly ends: readonly number[];
	/** The last period of each horizon. */
	readonly last: readonly number[];
}

function periodsOf(horizons: readonly number[]): Periods {
	const ends: number[] = [];
	const last: number[] = [];
	for (const [i, horizon] of horizons.entries()) {
		const from = horizons[i - 1] ?? 0;
		if (!Number.isInteger(horizon) || horizon <= from)
			throw new InputError(
				`horizons must be increasing whole numbers of days: ${from} → ${horizon}`,
				{ field: "horizons", value: horizons },
			);
		const count = Math.ceil((horizon - from) / longestPeriodDays);
		for (let p = 1; p <= count; p++) ends.push(from + Math.round(((horizon - from) * p) / count));
		last.push(ends.length - 1);
	}
	return { ends, last };
}

/** Sums over futures. */
class FutureSums {
	futures = 0;
	/** [period, code]: ∫ W dN and ∫ W dA. */
	readonly counted: Float64Array;
	readonly expected: Float64Array;
	/** [period, indication]: first fills. */
	readonly fills: Float64Array;
	/** W at the end of each period. */
	readonly alive: Float64Array;

	constructor({ ends }: Periods) {
		this.counted = new Float64Array(ends.length * size);
		this.expected = new Float64Array(ends.length * size);
		this.fills = new Float64Array(ends.length * indications.length);
		this.alive = new Float64Array(ends.length);
	}
}

/** ∫ W dN − ∫ ψ W d(N − A), with ψ from the other sums, [horizon, code]. */
function firstRecords(
	{ counted, expected }: FutureSums,
	other: FutureSums,
	{ ends, last }: Periods,
): Float64Array {
	const out = new Float64Array(last.length * size);
	/** In each period, the hazard of the code, integrated. */
	const hazards = new Float64Array(ends.length);
	for (let at = 0; at < size; at++) {
		let unrecorded = 1;
		for (let p = 0; p < ends.length; p++) {
			const hazard = other.expected[p * size + at] / (other.alive[p] * unrecorded);
			hazards[p] = hazard > 0 ? Math.min(hazard, 1) : 0; // NaN without futures
			unrecorded *= Math.exp(-hazards[p]);
		}
		for (const [horizon, end] of last.entries()) {
			let later = 0;
			for (let p = end; p >= 0; p--) {
				const psi = Math.exp(-(later + hazards[p] / 2));
				later += hazards[p];
				const i = p * size + at;
				out[horizon * size + at] += counted[i] + psi * (expected[i] - counted[i]);
			}
		}
	}
	return out;
}

/**
 * Adds the first fills to `out` [horizon, drug]. A future has by chance too many or too few first records of the
 * conditions that a drug is prescribed for; this error is known, has mean zero, and is removed, times the fills per
 * first record in the other sums.
 */
function addFirstFills(
	half: FutureSums,
	other: FutureSums,
	{ last }: Periods,
	estimated: Float64Array,
	out: Float64Array,
): void {
	const upTo = (end: number, values: Float64Array, width: number, at: number) => {
		let sum = 0;
		for (let p = 0; p <= end; p++) sum += values[p * width + at];
		return sum;
	};
	const width = indications.length;
	for (const [horizon, end] of last.entries())
		for (const [i, { condition, drug, chance }] of indications.entries()) {
			const records = upTo(end, other.counted, size, condition);
			const perRecord = records > 0 ? upTo(end, other.fills, width, i) / records : chance;
			const error =
				upTo(end, half.counted, size, condition) - estimated[horizon * size + condition];
			out[horizon * drugCodes.length + drug] += upTo(end, half.fills, width, i) - perRecord * error;
		}
}

/** All pairs of a companion and the condition at whose visits it may be recorded, by companion. */
const pairs = companionsOf
	.flatMap(({ to, value }, from) =>
		Array.from(to, (companion, i) => ({ from, companion, chance: value[i] })),
	)
	.sort((a, b) => a.companion - b.companion);
const pairFrom = Int32Array.from(pairs, ({ from }) => from);
const pairChance = Float64Array.from(pairs, ({ chance }) => chance);
/** The pairs of companion d are [pairStart[d], pairStart[d + 1]). */
const pairStart = Int32Array.from(
	{ length: size + 1 },
	(_, at) => pairs.filter(({ companion }) => companion < at).length,
);

/** Conditions with the same factor on `onset`: acute ones of a category, and all chronic ones. */
const groupOf = Uint8Array.from(categoryOf, (category, at) =>
	isChronic[at] ? categories.length : category,
);

/** Samples futures without death, and adds up the probabilities of first records along them. */
class FutureSampler {
	private readonly state = new State();
	private sums!: FutureSums;
	private period = 0;
	private periodFills!: Float64Array;
	/** W, and the time up to which it is known. */
	private alive = 1;
	private time = 0;
	/** W at the start of the last span. */
	private aliveBefore = 1;
	/** Acute conditions with companions whose episodes may have further visits. */
	private readonly open = new Int32Array(size);
	private openCount = 0;
	/** Conditions that can still have a first record. */
	private readonly isAwaited = new Uint8Array(size);
	/**
	 * ∫ W hazard dt of visits for each condition in this period, except recurrences of chronic ones, is `onsets` +
	 * `rates` · `spent`: `rates` are the onset rates since their last change, without frailty, and `spent` is
	 * ∫ W frailty dt since then. Rates with a season change with each block, and are added to `onsets` at once.
	 */
	private readonly onsets = new Float64Array(size);
	private readonly rates = new Float64Array(size);
	private readonly spent = new Float64Array(categories.length + 1);
	private readonly spentNow = new Float64Array(categories.length);
	private onsetChanges = -1;

	constructor(
		private readonly start: State,
		private readonly day: number,
		private readonly periods: Periods,
		private readonly fills: FirstFills,
	) {}

	sample(stream: Random, sums: FutureSums): void {
		const { state, start, isAwaited } = this;
		state.copy(start);
		const { possible } = start.rateTables;
		for (let at = 0; at < size; at++) isAwaited[at] = start.count[at] === 0 ? possible[at] : 0;
		this.fills.begin(stream.fork("drugs"));
		this.sums = sums;
		this.alive = 1;
		this.openCount = 0;
		for (let i = 0; i < start.recordedCount; i++) this.openEpisode(start.recorded[i]);
		let now = this.day + 1;
		for (const [period, end] of this.periods.ends.entries()) {
			this.period = period;
			this.periodFills = sums.fills.subarray(
				period * indications.length,
				(period + 1) * indications.length,
			);
			this.onsets.fill(0);
			this.spent.fill(0);
			const until = this.day + 1 + end;
			// Clocks depend on the state only, so a life can be simulated in steps.
			simulateLife(state, stream, now, until, this.onVisit, this.lifeOptions);
			now = until;
			for (let at = 0; at < size; at++) if (isAwaited[at]) this.addOnsets(at);
			sums.alive[period] += this.alive;
		}
		sums.futures++;
	}

	private readonly onSpan = (from: number, to: number): void => {
		const { state, rates, spent, spentNow, onsets } = this;
		if (this.onsetChanges !== state.onsetChanges) {
			for (let at = 0; at < size; at++) onsets[at] = this.onsetsOf(at);
			spent.fill(0);
			rates.set(state.onset);
			for (let i = 0; i < seasonal.length; i++) rates[seasonal[i]] = 0;
			this.onsetChanges = state.onsetChanges;
		}
		const rate = deathRateOf(state);
		const died = -Math.expm1(-rate * (to - from));
		const days = (this.alive * died) / rate; // ∫ W dt
		for (let c = 0; c < categories.length; c++) {
			spentNow[c] = days * state.frailty(c);
			spent[c] += spentNow[c];
		}
		spent[categories.length] += days;
		for (let i = 0; i < seasonal.length; i++) {
			const at = seasonal[i];
			onsets[at] += state.onset[at] * spentNow[categoryOf[at]];
		}
		this.aliveBefore = this.alive;
		this.alive *= 1 - died;
		this.time = to;
		let stillOpen = 0;
		for (let i = 0; i < this.openCount; i++) {
			const at = this.open[i];
			const [last, chance] = [state.last[at], state.chance[at]];
			if (!inEpisode(at, from - last)) continue;
			this.open[stillOpen++] = at;
			const hazard =
				summedRecurrenceHazard(at, to - last, chance) -
				summedRecurrenceHazard(at, from - last, chance);
			onsets[at] += this.aliveBefore * hazard;
		}
		this.openCount = stillOpen;
	};

	private readonly lifeOptions = {
		isImmortal: true,
		onSpan: this.onSpan,
		buffers: new LifeBuffers(),
	};

	private readonly onVisit: OnVisit = (day, visit, length, isOnset) => {
		const { state, sums, period, isAwaited, alive } = this;
		if (!isOnset) {
			const reason = visit[0];
			const { to, value } = companionsOf[reason];
			const weight = isChronic[reason] ? alive : alive - this.aliveBefore; // the rest is in `onsets`
			for (let i = 0; i < to.length; i++)
				if (isAwaited[to[i]]) sums.expected[period * size + to[i]] += weight * value[i];
		}
		for (let i = 0; i < length; i++) {
			const at = visit[i];
			if (!isAwaited[at]) continue;
			this.addOnsets(at);
			sums.counted[period * size + at] += alive;
			isAwaited[at] = 0;
		}
		for (let i = 0; i < length; i++) this.openEpisode(visit[i]);
		this.fills.add(state, day, visit, length, alive, this.periodFills);
		this.alive *= Math.exp(-deathRateOf(state) * (day + 1 - this.time));
	};

	private openEpisode(at: number): void {
		if (isChronic[at] || companionsOf[at].to.length === 0) return;
		if (!this.open.subarray(0, this.openCount).includes(at)) this.open[this.openCount++] = at;
	}

	/** Adds the hazards of a first record in this period, as the reason of a visit or at the onset of another condition. */
	private addOnsets(at: number): void {
		let sum = this.onsetsOf(at);
		for (let i = pairStart[at]; i < pairStart[at + 1]; i++)
			sum += pairChance[i] * this.onsetsOf(pairFrom[i]);
		this.sums.expected[this.period * size + at] += sum;
	}

	private onsetsOf(at: number): number {
		return this.onsets[at] + this.rates[at] * this.spent[groupOf[at]];
	}
}

/** The true cumulative incidence of a simulated patient; it depends on the seed and the patient's id only. */
export const trueIncidence = (
	patient: SimulatedPatient,
	day: number,
	horizons: readonly number[],
	options: IncidenceOptions = {},
): CumulativeIncidence =>
	cumulativeIncidence(
		{ ...simulatedHistory(patient), prescriptions: patient.prescriptions },
		day,
		horizons,
		{ ...options, seed: hashText(patient.id, options.seed) },
	);
