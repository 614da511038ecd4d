import { InputError } from "../base/errors.js";
import { probabilityOf } from "../base/log-odds.js";
import { type Random, random } from "../base/random.js";
import { yearDays } from "../base/time.js";
import { type Dedup, deathRecord } from "../data/cohort/reading/rules.js";
import { specialCount, specialTokens, type Vocabulary } from "../data/cohort/vocabulary.js";
import type { Runtime } from "../engine/runtime/index.js";
import { ageFeatures, pastFeatures, recentDays, writeAges } from "../model/hazards/landmarks.js";
import { binsOf, type HazardSettings, visitBinsOf } from "../model/hazards/settings.js";
import type { CodeConfig } from "../model/heads.js";
import type { Events, Model, Predictor } from "../model/index.js";
import type { FutureRows, FutureStep, FutureSteps } from "../model/predictor.js";
import { hazardSettingsOf, type Learned } from "./hazards.js";
import { eventsOf, knownCount } from "./histories.js";

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

/** What is never drawn, or may be drawn again on a day, as a dataset's records have it. */
export function futureRules(vocabulary: Pick<Vocabulary, "find">, dedup: Dedup) {
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	return { leftOut: death === undefined ? [] : [death], repeats: dedup === "none" };
}

/** Years of all futures together: at 85 records per year and 12 bytes per record, 1 GiB. */
const mostYears = 2 ** 20;

/** Samples futures. Programs stay compiled until it is disposed of. */
export function futureModel(runtime: Runtime, learned: Learned) {
	const { model, weights } = learned;
	const config = learned.config as CodeConfig;
	const settings = hazardSettingsOf(learned);
	checkSamplesFutures(model);
	const steps = model.futureSteps(runtime, config, weights);
	const predictor = model.predictor(runtime, config, weights);
	return {
		settings,
		/**
		 * Futures of each history after its index day, whose records and those before are known: [histories][samples].
		 * A future depends on the seed, on its history's place in the list and on its own number alone.
		 */
		async draw(
			histories: readonly Events[],
			indexDays: ArrayLike<number>,
			options: FutureOptions,
		): Promise<Future[][]> {
			checkFutureOptions(options, histories.length);
			const starts = startsOf(predictor, histories, indexDays);
			return drawFutures(
				{ settings, vocab: config.vocab, steps },
				histories.length,
				starts,
				options,
			);
		},
		async dispose() {
			await steps.dispose();
			await predictor.dispose();
		},
	};
}

/**
 * The standard error of a share of so many futures, as if there were one more future with a record and one without:
 * a share of 0 or 1 is uncertain too.
 */
export function shareError(share: number, futures: number): number {
	const smoothed = (share * futures + 1) / (futures + 2);
	return Math.sqrt((smoothed * (1 - smoothed)) / futures);
}

/** Refuses a model that cannot sample futures. */
export function checkSamplesFutures(
	model: Model,
): asserts model is Model & Required<Pick<Model, "futureSteps">> {
	if (!model.futureSteps)
		throw new InputError(
			`${model.name} has no state that can be moved on record by record, so it samples no futures; use a run of TrajGPT`,
		);
}

/** Refuses futures that are none, and more than memory can hold. */
export function checkFutureOptions(
	{ days, samples }: Pick<FutureOptions, "days" | "samples">,
	histories: number,
): void {
	const refused = (field: "samples" | "days", value: number, problem: string) =>
		new InputError(problem, { field, value });
	if (!(Number.isInteger(samples) && samples >= 1))
		throw refused("samples", samples, `\`samples\` is ${samples}; expected a whole number from 1`);
	if (!(days >= 1)) throw refused("days", days, `\`days\` is ${days}; expected at least 1`);
	const years = Math.ceil((histories * samples * days) / 365);
	if (years > mostYears)
		throw refused(
			"samples",
			samples,
			`${samples} futures of ${days} days for ${histories} histories are ${years} years; expected at most ${mostYears}: lower \`samples\``,
		);
}

/** Histories that are read at once. */
const mostHistories = 32;

/** The records of a history up to its index day. */
interface FutureStart extends Events {
	/** The place of the history in the list. */
	readonly history: number;
	readonly day: number;
}

/** Each history with its records up to the index day, and the state after them. */
async function* startsOf(
	predictor: Pick<Predictor, "start" | "observe">,
	histories: readonly Events[],
	indexDays: ArrayLike<number>,
) {
	for (let first = 0; first < histories.length; first += mostHistories) {
		const starts = histories.slice(first, first + mostHistories).map((history, i) => {
			const day = Math.floor(indexDays[first + i]);
			const known = eventsOf(history, 0, knownCount(history, day));
			return { ...known, day, history: first + i, row: i };
		});
		const { memory } = await predictor.observe(predictor.start(starts.length), starts);
		for (const start of starts) yield { ...start, memory };
	}
}

/** What futures are drawn with. */
interface FutureParts {
	readonly settings: HazardSettings;
	readonly vocab: number;
	readonly steps: FutureSteps;
}

/** Draws many futures at once, each in a row. A row whose future is complete is given to the next one. */
async function drawFutures(
	parts: FutureParts,
	histories: number,
	starts: ReturnType<typeof startsOf>,
	options: FutureOptions,
): Promise<Future[][]> {
	const { samples, leftOut = [], repeats = false } = options;
	const complete = Array.from({ length: histories }, (): Future[] => new Array(samples));
	const rows = parts.steps.rows(histories * samples);
	const { writeQuery, move } = futureMoves(parts, rows, repeats);
	const allNew = new Uint8Array(parts.vocab).fill(isNew, specialCount);
	for (const token of leftOut) allNew[token] = isExcluded;

	/** Futures to be drawn, with the state that each starts from. */
	async function* begin() {
		for await (const start of starts)
			for (let sample = 0; sample < samples; sample++)
				yield { future: beginFuture(start, sample, allNew, options), start };
	}
	const beginning = begin();
	const partial: PartialFuture[] = []; // [rows]
	for (;;) {
		while (partial.length < rows.capacity) {
			const next = await beginning.next();
			if (next.done) break;
			const { future, start } = next.value;
			rows.start(partial.length, start.memory, start.row);
			partial.push(future);
		}
		if (partial.length === 0) return complete;
		for (const [row, future] of partial.entries()) writeQuery(future, row);
		const step = await rows.step(partial.length);
		const goesOn = partial.map((future, row) => move(future, row, step));
		for (let row = partial.length - 1; row >= 0; row--) {
			if (goesOn[row]) continue;
			const { history, sample, known, tokens, times, death } = partial[row];
			complete[history][sample] = {
				tokens: Int32Array.from(tokens.slice(known)),
				times: Float64Array.from(times.slice(known)),
				death,
			};
			const last = partial.pop() as PartialFuture;
			if (row === partial.length) continue;
			rows.copy(partial.length, row);
			partial[row] = last;
		}
	}
}

/** What a token is to a future on a day: one that cannot be drawn, a code that it does not have yet, or one that it has. */
const [isExcluded, isNew, isKnown] = [0, 1, 2];

/** A future that is being drawn. */
type PartialFuture = ReturnType<typeof beginFuture>;

/** A future in which nothing has happened yet. Its random stream depends on its history and its number alone. */
function beginFuture(
	{ history, day, tokens, times }: FutureStart,
	sample: number,
	allNew: Uint8Array, // [vocab]
	{ days, seed, firstSample = 0 }: FutureOptions,
) {
	const kinds = allNew.slice(); // [vocab]
	for (const token of Array.from(tokens)) if (kinds[token] === isNew) kinds[token] = isKnown;
	return {
		draw: random(seed)
			.fork(history)
			.fork(firstSample + sample),
		/** All records up to now, those of the history too. */
		tokens: Array.from(tokens),
		times: Array.from(times),
		past: growingPast({ tokens, times }),
		/** What each token is on this day. */
		kinds,
		/** How many records are of the history. */
		known: tokens.length,
		/** The last day. */
		end: day + days,
		history,
		sample,
		/** The day up to which everything is known or, while a visit is recorded, the day of the visit. */
		day,
		/** Whether a visit is recorded; if not, the next one is waited for. */
		isVisit: false,
		/** The days of the wait in which nothing happened, and the bin of the next one. */
		waited: 0,
		bin: 0,
		/** How many records this visit has, at most. */
		records: 0,
		/** The share of them with a new code. */
		newShare: 0,
		ofDay: [] as number[],
		death: null as number | null,
	};
}

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
function futureMoves({ settings, vocab, steps }: FutureParts, rows: FutureRows, repeats: boolean) {
	const { queries } = rows;
	const ages = new Float32Array(ageFeatures);
	const { middle } = binsOf(settings);
	const drawWait = waitSampler(settings, steps);
	const drawCode = codeSampler(vocab);

	/** Returns whether the future goes on. */
	function wait(future: PartialFuture, row: number, step: FutureStep): boolean {
		const happening = drawWait(future, row, step);
		const day = future.day + future.waited;
		if (happening === "nothing") {
			future.bin++;
			if (future.bin === steps.bins) Object.assign(future, { day, waited: 0, bin: 0 });
			return day < future.end;
		}
		if (day > future.end) return false;
		Object.assign(future, { day, waited: 0, bin: 0 });
		if (happening !== "visit") future.death = day;
		future.isVisit = happening !== "death";
		return future.isVisit;
	}

	/** Returns whether the future goes on. */
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

/** Records of one day, at most. */
const mostRecords = 64;

/**
 * Draws what comes first in the bin that a future waits in. A hazard is the probability per day at risk, as it was
 * learned: the records divided by the days.
 */
function waitSampler(settings: HazardSettings, { visitBins }: FutureSteps) {
	const { to, within } = visitBinsOf(settings);
	return (future: PartialFuture, row: number, step: FutureStep) => {
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

function drawRecords(draw: Random, { oneRecord, visitEnd }: FutureStep, at: number): number {
	if (draw.uniform() < probabilityOf(oneRecord[at])) return 1;
	const last = probabilityOf(visitEnd[at]);
	let records = 2;
	while (records < mostRecords && draw.uniform() >= last) records++;
	return records;
}

/**
 * Draws a code by the time-specific query; −1 if none is left. Whether it is new to the patient is learned from next
 * visits: the query takes the visit as observed, and codes that a real visit would have been for are not due at a
 * drawn one. A code of the other kind stands in only where the visit would have none.
 */
function codeSampler(vocab: number) {
	const sums = new Float64Array(vocab);
	return (
		{ draw, kinds, newShare, ofDay }: PartialFuture,
		row: number,
		{ logits }: FutureStep, // [rows, vocab]
	): number => {
		const wanted = draw.uniform() < newShare ? isNew : isKnown;
		const uniform = draw.uniform();
		const first = row * vocab;
		/** The token at which the sum of probabilities passes the uniform number; −1 if there is none of these kinds. */
		const drawn = (kind: number) => {
			let highest = Number.NEGATIVE_INFINITY;
			for (let token = 0; token < vocab; token++)
				if (kinds[token] & kind) highest = Math.max(highest, logits[first + token]);
			let total = 0;
			let last = -1;
			for (let token = 0; token < vocab; token++) {
				if (kinds[token] & kind) {
					total += Math.exp(logits[first + token] - highest);
					last = token;
				}
				sums[token] = total;
			}
			const passed = uniform * total;
			for (let token = 0; token < last; token++) if (sums[token] > passed) return token;
			return last;
		};
		const token = drawn(wanted);
		return token < 0 && ofDay.length === 0 ? drawn(isNew | isKnown) : token;
	};
}
