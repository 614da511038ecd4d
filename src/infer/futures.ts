import { InputError } from "../base/errors.js";
import { probabilityOf } from "../base/log-odds.js";
import { type Random, random } from "../base/random.js";
import { type Dedup, deathRecord } from "../cohort/reading/history-rules.js";
import { specialCount, specialTokens, type Vocabulary } from "../cohort/vocabulary.js";
import type { FutureStep, FutureSteps } from "../models/future-steps.js";
import { ageFeatures, pastFeatures, writeAges } from "../models/hazards/landmarks.js";
import { binsOf, type HazardSettings, visitBinsOf } from "../models/hazards/settings.js";
import type { CodeConfig } from "../models/heads/codes.js";
import type { Events, Model, ParameterValues, Predictor } from "../models/index.js";
import type { Runtime } from "../runtime/index.js";
import { type GrowingPast, growingPast } from "./growing-past.js";
import { hazardSettingsOf } from "./hazards.js";

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
export function futureRules(
	vocabulary: Pick<Vocabulary, "find">,
	dedup: Dedup,
): { readonly leftOut: readonly number[]; readonly repeats: boolean } {
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	return { leftOut: death === undefined ? [] : [death], repeats: dedup === "none" };
}

/** Samples futures. Programs stay compiled until it is disposed of. */
export interface FutureModel {
	readonly settings: HazardSettings;
	readonly vocab: number;
	/**
	 * Futures of each history after its index day, whose records and those before are known: [histories][samples].
	 * A future depends on the seed, on its history's place in the list and on its own number alone.
	 */
	draw(
		histories: readonly Events[],
		indexDays: ArrayLike<number>,
		options: FutureOptions,
	): Promise<Future[][]>;
	/** The same futures, part by part. */
	begin(
		histories: readonly Events[],
		indexDays: ArrayLike<number>,
		options: FutureOptions,
	): FutureDrawing;
	dispose(): Promise<void>;
}

/** Futures that are being drawn. */
export interface FutureDrawing {
	/** Draws on until all are complete, or no longer than `goesOn`, which is asked after each step. Returns whether all are complete. */
	advance(goesOn: () => boolean): Promise<boolean>;
	/** What is drawn of each future. */
	drawn(): Future[][];
	/** The last day up to which all futures of a history are drawn: [histories]. */
	drawnUntil(): number[];
}

/** Histories that are read at once. */
const mostHistories = 32;
/** Records of one day, at most. */
const mostRecords = 64;
/** Years of all futures together: at 85 records per year and 12 bytes per record, 1 GiB. */
const mostYears = 2 ** 20;

export function futureModel(
	runtime: Runtime,
	learned: {
		readonly model: Model;
		readonly config: unknown;
		readonly weights: ParameterValues;
	},
): FutureModel {
	const { model, weights } = learned;
	const config = learned.config as CodeConfig;
	const settings = hazardSettingsOf(learned);
	checkSamplesFutures(model);
	const steps = model.futureSteps(runtime, config, weights);
	const predictor = model.predictor(runtime, config, weights);
	const parts = { settings, vocab: config.vocab, steps, predictor };
	const begin: FutureModel["begin"] = (...given) => beginDrawing(parts, ...given);
	return {
		settings,
		vocab: config.vocab,
		begin,
		async draw(...given) {
			const drawing = begin(...given);
			await drawing.advance(() => true);
			return drawing.drawn();
		},
		async dispose() {
			await steps.dispose();
			await predictor.dispose();
		},
	};
}

interface Parts {
	readonly settings: HazardSettings;
	readonly vocab: number;
	readonly steps: FutureSteps;
	readonly predictor: Pick<Predictor, "start" | "observe">;
}

/** A future that is being drawn. */
interface Walk {
	readonly draw: Random;
	/** All records up to now, those of the history too. */
	readonly tokens: number[];
	readonly times: number[];
	readonly past: GrowingPast;
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

/** What a token is to a future on a day: one that cannot be drawn, a code that it does not have yet, or one that it has. */
const [isExcluded, isNew, isKnown] = [0, 1, 2] as const;

function beginDrawing(
	{ settings, vocab, steps, predictor }: Parts,
	histories: readonly Events[],
	indexDays: ArrayLike<number>,
	options: FutureOptions,
): FutureDrawing {
	const { days, samples, seed, firstSample = 0, leftOut = [], repeats = false } = options;
	checkFutureOptions({ days, samples }, histories.length);
	const found = histories.map((): Future[] => new Array(samples));
	const rows = steps.rows(histories.length * samples);
	const { queries } = rows;
	const ages = new Float32Array(ageFeatures);
	const { middle } = binsOf(settings);
	const waitIn = waits(settings, steps);
	const drawToken = tokenDraw(vocab);
	const allNew = new Uint8Array(vocab).fill(isNew, specialCount);
	for (const token of leftOut) allNew[token] = isExcluded;

	/** Futures to be drawn, with the state that each starts from. */
	async function* begin() {
		for await (const { memory, row, ...start } of starts(predictor, histories, indexDays))
			for (let sample = 0; sample < samples; sample++) {
				const { history, day, tokens, times } = start;
				const kinds = allNew.slice();
				for (const token of tokens) if (kinds[token] === isNew) kinds[token] = isKnown;
				const walk: Walk = {
					draw: random(seed)
						.fork(history)
						.fork(firstSample + sample),
					tokens: [...tokens],
					times: [...times],
					past: growingPast(start),
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
				yield { walk, memory, patient: row };
			}
	}

	/** Stores the records of a future up to a day. */
	const store = ({ history, sample, known, tokens, times, death }: Walk, day: number) => {
		const count = times.findLastIndex((time) => time <= day) + 1;
		(found[history] as Future[])[sample] = {
			tokens: Int32Array.from(tokens.slice(known, count)),
			times: Float64Array.from(times.slice(known, count)),
			death: death !== null && death <= day ? death : null,
		};
	};
	/** The last day whose records are all drawn. */
	const drawnDay = ({ isVisit, day, waited }: Walk) => (isVisit ? day - 1 : day + waited);

	function ask(walk: Walk, row: number): void {
		const { day, tokens, times, past, isVisit, bin } = walk;
		const last = times.at(-1);
		queries.tokens[row] = tokens.at(-1) ?? specialTokens.sos;
		queries.last[row] = last ?? Number.NaN;
		if (isVisit) queries.times[row] = day;
		else {
			past.write(queries.past, row * pastFeatures, day);
			writeAges(ages.fill(0), walk, day);
			queries.ages.set(ages, row * ageFeatures);
			const isRecorded = (tokens.at(-1) ?? 0) >= specialCount;
			queries.sinceAny[row] = isRecorded ? day - Math.floor(last as number) : -1;
			queries.times[row] = Math.max(day, last ?? day) + (middle[bin] as number);
		}
	}

	/** Whether the future goes on. */
	function wait(walk: Walk, row: number, step: FutureStep): boolean {
		const what = waitIn(walk, row, step);
		const day = walk.day + walk.waited;
		if (what === "nothing") {
			walk.bin++;
			if (walk.bin === steps.bins) Object.assign(walk, { day, waited: 0, bin: 0 });
			return day < walk.end;
		}
		if (day > walk.end) return false;
		Object.assign(walk, { day, waited: 0, bin: 0 });
		if (what !== "visit") walk.death = day;
		walk.isVisit = what !== "death";
		return walk.isVisit;
	}

	/**
	 * A code by the time-specific query; −1 if none is left. Whether it is new to the patient is learned from next
	 * visits: the query takes the visit as observed, and codes that a real visit would have been for are not due at a
	 * drawn one. A code of the other kind stands in only where the visit would have none.
	 */
	function drawCode(
		{ draw, kinds, newShare, ofDay }: Walk,
		row: number,
		{ logits }: FutureStep,
	): number {
		const wanted = draw.uniform() < newShare ? isNew : isKnown;
		const uniform = draw.uniform();
		const drawn = (kind: number) => drawToken(logits, row, uniform, kinds, kind);
		const found = drawn(wanted);
		return found < 0 && ofDay.length === 0 ? drawn(isNew | isKnown) : found;
	}

	/** Whether the future goes on. */
	function record(walk: Walk, row: number, step: FutureStep): boolean {
		const { ofDay, day, kinds } = walk;
		const token = drawCode(walk, row, step);
		if (token >= 0) {
			rows.keep(row);
			walk.tokens.push(token);
			walk.times.push(day);
			walk.past.add(token, day);
			kinds[token] = repeats ? isKnown : isExcluded;
			ofDay.push(token);
			if (ofDay.length < walk.records) return true;
		}
		for (const own of ofDay) kinds[own] = isKnown;
		walk.ofDay = [];
		walk.isVisit = false;
		return walk.death === null && day < walk.end;
	}

	const walks: Walk[] = [];
	const beginning = begin();
	/** Futures that are complete or being drawn. */
	let begun = 0;
	/** Whether there are futures to draw. */
	async function fill(): Promise<boolean> {
		while (walks.length < rows.capacity) {
			const next = await beginning.next();
			if (next.done) break;
			rows.start(walks.length, next.value.memory, next.value.patient);
			walks.push(next.value.walk);
			begun++;
		}
		return walks.length > 0;
	}
	async function takeStep(): Promise<void> {
		for (const [row, walk] of walks.entries()) ask(walk, row);
		const step = await rows.step(walks.length);
		const continues = walks.map((walk, row) => (walk.isVisit ? record : wait)(walk, row, step));
		for (let row = walks.length - 1; row >= 0; row--) {
			if (continues[row]) continue;
			store(walks[row] as Walk, Number.POSITIVE_INFINITY);
			const last = walks.pop() as Walk;
			if (row === walks.length) continue;
			rows.copy(walks.length, row);
			walks[row] = last;
		}
	}
	return {
		async advance(goesOn) {
			while (await fill()) {
				await takeStep();
				if (!goesOn()) return (await fill()) === false;
			}
			return true;
		},
		drawn() {
			for (const walk of walks) store(walk, drawnDay(walk));
			return found.map((own) => Array.from(own, (future) => future ?? nothingDrawn));
		},
		drawnUntil: () =>
			histories.map((_, history) => {
				const first = Math.floor(indexDays[history] as number);
				if (begun < (history + 1) * samples) return first;
				const own = walks.filter((walk) => walk.history === history).map(drawnDay);
				return Math.min(first + days, ...own);
			}),
	};
}

const nothingDrawn: Future = {
	tokens: new Int32Array(0),
	times: new Float64Array(0),
	death: null,
};

/** Each history with its records up to the index day, and the state after them. */
async function* starts(
	predictor: Parts["predictor"],
	histories: readonly Events[],
	indexDays: ArrayLike<number>,
) {
	for (let first = 0; first < histories.length; first += mostHistories) {
		const some = histories.slice(first, first + mostHistories).map((history, i) => {
			const day = Math.floor(indexDays[first + i] as number);
			let known = 0;
			while (known < history.times.length && Math.floor(history.times[known] as number) <= day)
				known++;
			return {
				...{ day, history: first + i, row: i },
				tokens: Array.from(history.tokens).slice(0, known),
				times: Array.from(history.times).slice(0, known),
			};
		});
		const { memory } = await predictor.observe(predictor.start(some.length), some);
		for (const start of some) yield { ...start, memory };
	}
}

type Happening = "visit" | "death" | "visit and death" | "nothing";

/**
 * Draws what comes first in the bin that a future waits in. A hazard is the probability per day at risk, as it was
 * learned: the records divided by the days.
 */
function waits(settings: HazardSettings, { visitBins }: FutureSteps) {
	const { to, within } = visitBinsOf(settings);
	return (walk: Walk, row: number, step: FutureStep): Happening => {
		const { draw } = walk;
		for (let bin = within.indexOf(walk.bin); within[bin] === walk.bin; bin++) {
			const at = row * visitBins + bin;
			const seen = Math.exp(step.visits[at] as number);
			const dies = Math.exp(step.deaths[at] as number);
			while (walk.waited < (to[bin] as number)) {
				walk.waited++;
				if (draw.uniform() < seen) {
					walk.records = drawRecords(draw, step, at);
					const newCodes = walk.records === 1 ? step.newAlone : step.newCodes;
					walk.newShare = probabilityOf(newCodes[at] as number);
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
	if (draw.uniform() < probabilityOf(oneRecord[at] as number)) return 1;
	const last = probabilityOf(visitEnd[at] as number);
	let records = 2;
	while (records < mostRecords && draw.uniform() >= last) records++;
	return records;
}

/** Draws the token at which the sum of probabilities passes a uniform number, among some kinds; −1 if there is none. */
function tokenDraw(vocab: number) {
	const sums = new Float64Array(vocab);
	return (
		logits: Float32Array, // [rows, vocab]
		row: number,
		uniform: number,
		kinds: Uint8Array, // [vocab]
		wanted: number,
	): number => {
		const first = row * vocab;
		const isWanted = (token: number) => ((kinds[token] as number) & wanted) !== 0;
		let highest = Number.NEGATIVE_INFINITY;
		for (let token = 0; token < vocab; token++)
			if (isWanted(token)) highest = Math.max(highest, logits[first + token] as number);
		let total = 0;
		let last = -1;
		for (let token = 0; token < vocab; token++) {
			if (isWanted(token)) {
				total += Math.exp((logits[first + token] as number) - highest);
				last = token;
			}
			sums[token] = total;
		}
		const passed = uniform * total;
		for (let token = 0; token < last; token++) if ((sums[token] as number) > passed) return token;
		return last;
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
	if (!(Number.isInteger(samples) && samples >= 1))
		throw new InputError(`\`samples\` is ${samples}; expected a whole number from 1`, {
			field: "samples",
			value: samples,
		});
	if (!(days >= 1))
		throw new InputError(`\`days\` is ${days}; expected at least 1`, {
			field: "days",
			value: days,
		});
	const years = Math.ceil((histories * samples * days) / 365);
	if (years > mostYears)
		throw new InputError(
			`${samples} futures of ${days} days for ${histories} histories are ${years} years; expected at most ${mostYears}: lower \`samples\``,
			{ field: "samples", value: samples },
		);
}
