import { probabilityOf } from "../base/log-odds.js";
import { type Random, random } from "../base/random.js";
import { yearDays } from "../base/time.js";
import { specialCount, specialTokens } from "../data/cohort/vocabulary.js";
import { ageFeatures, pastFeatures, recentDays, writeAges } from "../model/hazards/landmarks.js";
import { binsOf, type HazardSettings, visitBinsOf } from "../model/hazards/settings.js";
import type { Events } from "../model/index.js";
import type { FutureRows, FutureStep, FutureSteps } from "../model/predictor.js";

/** One way in which a history may go on after an index day. */
export interface Future {
	/** The records after the index day, in order. */
	readonly tokens: Int32Array;
	/** Whole days. */
	readonly times: Float64Array;
	/** The day of death; null if the patient lives on. */
	readonly death: number | null;
}

export interface FutureOptions {
	/** Days after the index day. */
	readonly days: number;
	/** Futures per history. */
	readonly samples: number;
	readonly seed: number;
	/** The number of the first future; 0 by default. Others can be drawn elsewhere. */
	readonly firstSample?: number | undefined;
	/** Tokens that are never drawn, such as one for death. */
	readonly leftOut?: readonly number[] | undefined;
	/** Whether a code may be drawn again on the same day; no by default. */
	readonly repeats?: boolean | undefined;
}

/** What a token is to a future on a day: one that cannot be drawn, a code that it does not have yet, or one that it has. */
export const [isExcluded, isNew] = [0, 1];
const isKnown = 2;

/** A future that is being drawn. */
export interface PartialFuture {
	readonly draw: Random;
	/** All records up to now, those of the history too. */
	readonly tokens: number[];
	readonly times: number[];
	readonly past: ReturnType<typeof growingPast>;
	/** What each token is on this day: see `isNew`. */
	readonly kinds: Uint8Array; // [vocab]
	/** How many records are of the history. */
	readonly known: number;
	/** The last day. */
	readonly end: number;
	readonly history: number;
	readonly sample: number;
	/** The day up to which everything is known or, while a visit is recorded, the day of the visit. */
	day: number;
	/** Whether a visit is recorded; if not, the next one is waited for. */
	isVisit: boolean;
	/** The days of the wait in which nothing happened, and the bin of the next one. */
	waited: number;
	bin: number;
	/** How many records this visit has, at most. */
	records: number;
	/** The share of them with a new code. */
	newShare: number;
	/** The records so far. */
	ofDay: number[];
	death: number | null;
}

/** The records of a history up to its index day. */
export interface FutureStart extends Events {
	/** The place of the history in the list. */
	readonly history: number;
	/** The index day. */
	readonly day: number;
}

/** A future in which nothing has happened yet. Its random stream depends on its history and its number alone. */
export function beginFuture(
	{ history, day, tokens, times }: FutureStart,
	sample: number,
	allNew: Uint8Array, // [vocab]
	{ days, seed, firstSample = 0 }: FutureOptions,
): PartialFuture {
	const kinds = allNew.slice();
	for (const token of Array.from(tokens)) if (kinds[token] === isNew) kinds[token] = isKnown;
	return {
		draw: random(seed)
			.fork(history)
			.fork(firstSample + sample),
		tokens: Array.from(tokens),
		times: Array.from(times),
		past: growingPast({ tokens, times }),
		kinds,
		known: tokens.length,
		end: day + days,
		history,
		sample,
		day,
		isVisit: false,
		waited: 0,
		bin: 0,
		records: 0,
		newShare: 0,
		ofDay: [],
		death: null,
	};
}

/** What was drawn. */
export const drawnFuture = ({ known, tokens, times, death }: PartialFuture): Future => ({
	tokens: Int32Array.from(tokens.slice(known)),
	times: Float64Array.from(times.slice(known)),
	death,
});

/** How much was recorded in a history that grows: as `writePast`, in the same time however long the history. */
export function growingPast({ tokens, times }: Events) {
	const days: number[] = [];
	const visits: number[] = [];
	const codes = new Set<number>();
	/** The first record and the first visit that are recent. */
	let [record, visit] = [0, 0];
	const add = (token: number, time: number) => {
		const day = Math.floor(time);
		if (visits.at(-1) !== day) visits.push(day);
		days.push(day);
		codes.add(token);
	};
	const isBirth = (tokens[0] ?? specialCount) < specialCount;
	for (let n = Number(isBirth); n < tokens.length; n++) add(tokens[n], times[n]);
	return {
		add,
		/** Writes the features on a day that is neither before the last record nor before the day of the last call. */
		write(into: Float32Array, at: number, day: number): void {
			while (record < days.length && day - days[record] >= recentDays) record++;
			while (visit < visits.length && day - visits[visit] >= recentDays) visit++;
			into[at] = Math.log1p(visits.length - visit);
			into[at + 1] = Math.log1p(days.length - record);
			into[at + 2] = Math.log1p(visits.length);
			into[at + 3] = Math.log1p(codes.size);
			into[at + 4] = Math.log1p((day - (days[0] ?? day)) / yearDays);
		},
	};
}

/** Moves futures on, each in its row: to the next visit, or by one record of a visit. */
export function futureMoves(
	{
		settings,
		vocab,
		steps,
	}: Readonly<{ settings: HazardSettings; vocab: number; steps: FutureSteps }>,
	rows: FutureRows,
	repeats: boolean,
) {
	const { queries } = rows;
	const ages = new Float32Array(ageFeatures);
	const { middle } = binsOf(settings);
	const drawWait = waitSampler(settings, steps);
	const drawCode = codeSampler(vocab);

	/** Whether the future goes on. */
	function wait(future: PartialFuture, row: number, step: FutureStep): boolean {
		const what = drawWait(future, row, step);
		const day = future.day + future.waited;
		if (what === "nothing") {
			future.bin++;
			if (future.bin === steps.bins) Object.assign(future, { day, waited: 0, bin: 0 });
			return day < future.end;
		}
		if (day > future.end) return false;
		Object.assign(future, { day, waited: 0, bin: 0 });
		if (what !== "visit") future.death = day;
		future.isVisit = what !== "death";
		return future.isVisit;
	}

	/** Whether the future goes on. */
	function record(future: PartialFuture, row: number, step: FutureStep): boolean {
		const { ofDay, day, kinds } = future;
		const token = drawCode(future, row, step);
		if (token >= 0) {
			rows.keep(row);
			future.tokens.push(token);
			future.times.push(day);
			future.past.add(token, day);
			kinds[token] = repeats ? isKnown : isExcluded;
			ofDay.push(token);
			if (ofDay.length < future.records) return true;
		}
		for (const token of ofDay) kinds[token] = isKnown;
		future.ofDay = [];
		future.isVisit = false;
		return future.death === null && day < future.end;
	}

	return {
		/** Writes what the next step is to predict for a future. */
		writeQuery(future: PartialFuture, row: number): void {
			const { day, tokens, times, past, isVisit, bin } = future;
			const last = times.at(-1);
			queries.tokens[row] = tokens.at(-1) ?? specialTokens.sos;
			queries.last[row] = last ?? Number.NaN;
			if (isVisit) queries.times[row] = day;
			else {
				past.write(queries.past, row * pastFeatures, day);
				writeAges(ages.fill(0), future, day);
				queries.ages.set(ages, row * ageFeatures);
				const isRecorded = (tokens.at(-1) ?? 0) >= specialCount;
				queries.sinceAny[row] = isRecorded ? day - Math.floor(last as number) : -1;
				queries.times[row] = Math.max(day, last ?? day) + middle[bin];
			}
		},
		/** Draws from the predictions of a step. Returns whether the future goes on. */
		move: (future: PartialFuture, row: number, step: FutureStep): boolean =>
			(future.isVisit ? record : wait)(future, row, step),
	};
}

/**
 * Draws a code by the time-specific query; −1 if none is left. Whether it is new to the patient is learned from next
 * visits: the query takes the visit as observed, and codes that a real visit would have been for are not due at a
 * drawn one. A code of the other kind stands in only where the visit would have none.
 */
function codeSampler(vocab: number) {
	const drawToken = tokenSampler(vocab);
	return (
		{ draw: { uniform }, kinds, newShare, ofDay }: PartialFuture,
		row: number,
		{ logits }: FutureStep,
	): number => {
		const wanted = uniform() < newShare ? isNew : isKnown;
		const at = uniform();
		const drawn = (kind: number) => drawToken(logits, row, at, kinds, kind);
		const token = drawn(wanted);
		return token < 0 && ofDay.length === 0 ? drawn(isNew | isKnown) : token;
	};
}

/** Records of one day, at most. */
const mostRecords = 64;

/** What ends a wait, or a bin of it. */
type Happening = "visit" | "death" | "visit and death" | "nothing";

/**
 * Draws what comes first in the bin that a future waits in. A hazard is the probability per day at risk, as it was
 * learned: the records divided by the days.
 */
function waitSampler(settings: HazardSettings, { visitBins }: FutureSteps) {
	const { to, within } = visitBinsOf(settings);
	return (future: PartialFuture, row: number, step: FutureStep): Happening => {
		const { draw } = future;
		for (let bin = within.indexOf(future.bin); within[bin] === future.bin; bin++) {
			const at = row * visitBins + bin;
			const seen = Math.exp(step.visits[at]);
			const dies = Math.exp(step.deaths[at]);
			while (future.waited < to[bin]) {
				future.waited++;
				if (draw.uniform() < seen) {
					future.records = drawRecords(draw, step, at);
					const newCodes = future.records === 1 ? step.newAlone : step.newCodes;
					future.newShare = probabilityOf(newCodes[at]);
					return draw.uniform() < dies ? "visit and death" : "visit";
				}
				if (draw.uniform() < dies) return "death";
			}
		}
		return "nothing";
	};
}

/** How many records a visit has. */
function drawRecords(draw: Random, { oneRecord, visitEnd }: FutureStep, at: number): number {
	if (draw.uniform() < probabilityOf(oneRecord[at])) return 1;
	const last = probabilityOf(visitEnd[at]);
	let records = 2;
	while (records < mostRecords && draw.uniform() >= last) records++;
	return records;
}

/** Draws the token at which the sum of probabilities passes a uniform number, among some kinds; −1 if there is none. */
function tokenSampler(vocab: number) {
	const sums = new Float64Array(vocab);
	return (
		logits: Float32Array, // [rows, vocab]
		row: number,
		uniform: number,
		kinds: Uint8Array, // [vocab]
		wanted: number,
	): number => {
		const first = row * vocab;
		const isWanted = (token: number) => (kinds[token] & wanted) !== 0;
		let highest = Number.NEGATIVE_INFINITY;
		for (let token = 0; token < vocab; token++)
			if (isWanted(token)) highest = Math.max(highest, logits[first + token]);
		let total = 0;
		let last = -1;
		for (let token = 0; token < vocab; token++) {
			if (isWanted(token)) {
				total += Math.exp(logits[first + token] - highest);
				last = token;
			}
			sums[token] = total;
		}
		const passed = uniform * total;
		for (let token = 0; token < last; token++) if (sums[token] > passed) return token;
		return last;
	};
}
