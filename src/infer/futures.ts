import { InputError } from "../base/errors.js";
import { probabilityOf } from "../base/log-odds.js";
import { type Random, random } from "../base/random.js";
import { type Dedup, deathRecord } from "../cohort/reading/history-rules.js";
import { specialCount, specialTokens, type Vocabulary } from "../cohort/vocabulary.js";
import type { FutureMemory, FutureSteps, Waiting } from "../models/future-steps.js";
import { ageFeatures, pastFeatures, writeAges, writePast } from "../models/hazards/landmarks.js";
import { type HazardSettings, visitBinsOf } from "../models/hazards/settings.js";
import type { CodeConfig } from "../models/heads/codes.js";
import type { Events, Model, ParameterValues, Predictor } from "../models/index.js";
import type { Runtime } from "../runtime/index.js";
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
	dispose(): Promise<void>;
}

/** States are held for so many calls' futures at once, so that calls find enough that do the same next. */
const mostCalls = 4;
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
	return {
		settings,
		vocab: config.vocab,
		draw: (histories, indexDays, options) =>
			drawFutures(
				{ settings, vocab: config.vocab, steps, predictor },
				histories,
				indexDays,
				options,
			),
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
	/** How many of them are of the history. */
	readonly known: number;
	/** The last day. */
	readonly end: number;
	/** Its place among the states that are held. */
	readonly place: number;
	readonly history: number;
	readonly sample: number;
	/** The day up to which everything is known or, while a visit is recorded, the day of the visit. */
	day: number;
	/** The share of records with a new code on that day. */
	newShare: number;
	/** Log-odds that the visit has one record. */
	oneRecord: number;
	/** What is added to the log-odds that the visit ends. */
	endShift: number;
	/** 1 for each token that is recorded. */
	readonly has: Uint8Array; // [vocab]
	/** The records of that visit. */
	ofDay: number[];
	death: number | null;
}

async function drawFutures(
	{ settings, vocab, steps, predictor }: Parts,
	histories: readonly Events[],
	indexDays: ArrayLike<number>,
	{ days, samples, seed, firstSample = 0, leftOut = [], repeats = false }: FutureOptions,
): Promise<Future[][]> {
	checkFutureOptions({ days, samples }, histories.length);
	const { rows, widths } = steps;
	const found = histories.map((): Future[] => new Array(samples));
	const held = Object.fromEntries(
		Object.entries(widths).map(([name, width]) => [name, room(mostCalls * rows, width)]),
	);
	const free = Array.from({ length: mostCalls * rows }, (_, place) => place);
	const waiting: Walk[] = [];
	const recording: Walk[] = [];
	const never = Uint8Array.from({ length: vocab }, (_, token) => Number(token < specialCount));
	for (const token of leftOut) never[token] = 1;

	const finish = ({ place, history, sample, known, tokens, times, death }: Walk) => {
		free.push(place);
		(found[history] as Future[])[sample] = {
			tokens: Int32Array.from(tokens.slice(known)),
			times: Float64Array.from(times.slice(known)),
			death,
		};
	};

	/** Up to `rows` futures, with their states. */
	const batch = rowBatch(steps, held);

	async function wait(some: readonly Walk[]): Promise<void> {
		const features = {
			ages: room(rows, ageFeatures),
			sinceAny: room(rows, 1).fill(-1),
			past: room(rows, pastFeatures),
		};
		for (const [row, walk] of some.entries()) {
			const { day, tokens, times } = walk;
			const last = Math.floor(times.at(-1) ?? day);
			writeAges(features.ages.subarray(row * ageFeatures), walk, day);
			writePast(features.past.subarray(row * pastFeatures), walk, times.length, day);
			if ((tokens.at(-1) ?? 0) >= specialCount) features.sinceAny[row] = day - last;
		}
		const next = waitsIn(
			...([settings, steps.bins] as const),
			await steps.wait(
				...batch(some, ({ day, times }) => Math.max(day, times.at(-1) ?? day)),
				features,
			),
		);
		for (const [row, walk] of some.entries()) {
			const { after, what, newShare, oneRecord } = next(row, walk.draw);
			walk.newShare = newShare;
			walk.oneRecord = oneRecord;
			walk.day += after;
			if (walk.day > walk.end) finish(walk);
			else if (what === "nothing") waiting.push(walk);
			else {
				if (what !== "visit") walk.death = walk.day;
				if (what === "death") finish(walk);
				else recording.push(walk);
			}
		}
	}

	/**
	 * A code by the time-specific query; −1 if none is left. Whether it is new to the patient is learned from next
	 * visits: the query takes the visit as observed, and codes that a real visit would have been for are not due at a
	 * drawn one.
	 */
	function drawCode({ draw, has, newShare, ofDay }: Walk, logits: Float32Array): number {
		const wanted = draw.uniform() < newShare ? 0 : 1;
		const uniform = draw.uniform();
		const isExcluded = (token: number) =>
			never[token] === 1 || (!repeats && has[token] === 1 && ofDay.includes(token));
		const found = drawToken(
			...([logits, uniform] as const),
			(token) => has[token] !== wanted || isExcluded(token),
		);
		return found < 0 ? drawToken(logits, uniform, isExcluded) : found;
	}

	async function record(some: readonly Walk[]): Promise<void> {
		const before = {
			records: new Float32Array(rows),
			past: new Float32Array(rows * pastFeatures),
		};
		for (const [row, walk] of some.entries()) {
			const past = before.past.subarray(row * pastFeatures, (row + 1) * pastFeatures);
			before.records[row] = walk.ofDay.length;
			writePast(past, walk, walk.tokens.length, walk.day);
		}
		const { logits, visitEnd, keep } = await steps.record(...batch(some, ({ day }) => day), before);
		for (const [row, walk] of some.entries()) {
			const { ofDay, draw } = walk;
			const odds = visitEnd[row] as number;
			// The first record ends a visit with the probability predicted with it; later log-odds are shifted alike.
			if (ofDay.length === 1) walk.endShift = walk.oneRecord - odds;
			const ended =
				ofDay.length > 0 &&
				(draw.uniform() < probabilityOf(odds + walk.endShift) || ofDay.length === mostRecords);
			const token = ended ? -1 : drawCode(walk, logits.subarray(row * vocab, (row + 1) * vocab));
			if (token >= 0) {
				keep(row, held, walk.place);
				walk.tokens.push(token);
				walk.times.push(walk.day);
				walk.has[token] = 1;
				ofDay.push(token);
				recording.push(walk);
			} else {
				walk.ofDay = [];
				if (walk.death === null) waiting.push(walk);
				else finish(walk);
			}
		}
	}

	for await (const start of starts(predictor, histories, indexDays)) {
		for (let sample = 0; sample < samples; sample++) {
			while (free.length === 0) await step();
			const place = free.pop() as number;
			for (const [name, width] of Object.entries(widths)) {
				const own = start.memory[name]?.subarray(start.row * width, (start.row + 1) * width);
				if (own) held[name]?.set(own as Float32Array, place * width);
				else held[name]?.fill(0, place * width, (place + 1) * width);
			}
			const has = new Uint8Array(vocab);
			for (const token of start.tokens) has[token] = 1;
			waiting.push({
				draw: random(seed)
					.fork(start.history)
					.fork(firstSample + sample),
				tokens: [...start.tokens],
				times: [...start.times],
				known: start.tokens.length,
				day: start.day,
				end: start.day + days,
				...{
					place,
					history: start.history,
					sample,
					has,
					newShare: 0,
					oneRecord: 0,
					endShift: 0,
					ofDay: [],
					death: null,
				},
			});
		}
	}
	while (waiting.length + recording.length > 0) await step();
	return found;

	/** Moves the larger group on. */
	async function step(): Promise<void> {
		const isWait = waiting.length > recording.length;
		const group = isWait ? waiting : recording;
		const some = group.splice(Math.max(0, group.length - rows));
		await (isWait ? wait(some) : record(some));
	}
}

const room = (futures: number, width: number) => new Float32Array(futures * width);

/** Puts the states and times of some futures into the rows of a call. */
function rowBatch({ rows, widths }: FutureSteps, held: FutureMemory) {
	const memory = Object.fromEntries(
		Object.entries(widths).map(([name, width]) => [name, room(rows, width)]),
	);
	return (some: readonly Walk[], timeOf: (walk: Walk) => number) => {
		const times = {
			tokens: new Int32Array(rows),
			last: new Float64Array(rows).fill(Number.NaN),
			times: new Float64Array(rows),
		};
		for (const [row, walk] of some.entries()) {
			for (const [name, width] of Object.entries(widths))
				memory[name]?.set(
					(held[name] as Float32Array).subarray(walk.place * width, (walk.place + 1) * width),
					row * width,
				);
			times.tokens[row] = walk.tokens.at(-1) ?? specialTokens.sos;
			times.last[row] = walk.times.at(-1) ?? Number.NaN;
			times.times[row] = timeOf(walk);
		}
		return [memory, times] as const;
	};
}

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

type Waited = {
	/** Days. */
	readonly after: number;
	readonly what: "visit" | "death" | "visit and death" | "nothing";
	readonly newShare: number;
	/** Log-odds that the visit has one record. */
	readonly oneRecord: number;
};

/**
 * Draws what comes first after a landmark. A hazard is the probability per day at risk, as it was learned: the
 * records divided by the days.
 */
function waitsIn(
	settings: HazardSettings,
	bins: number,
	{ visits, deaths, newCodes, oneRecord }: Waiting,
): (row: number, draw: Random) => Waited {
	const { to, within } = visitBinsOf(settings);
	const ends = to.slice(0, within.filter((bin) => bin < bins).length);
	return (row, draw) => {
		let after = 0;
		for (const [bin, end] of ends.entries()) {
			const at = row * ends.length + bin;
			const [seen, dies] = [visits, deaths].map((own) => Math.exp(own[at] as number)) as [
				number,
				number,
			];
			const newShare = probabilityOf(newCodes[at] as number);
			const found = (what: Waited["what"]) => ({
				...{ after, what, newShare },
				oneRecord: oneRecord[at] as number,
			});
			for (; after < end; ) {
				after++;
				if (draw.uniform() < seen)
					return found(draw.uniform() < dies ? "visit and death" : "visit");
				if (draw.uniform() < dies) return found("death");
			}
		}
		return { after, what: "nothing", newShare: 0, oneRecord: 0 };
	};
}

/** The token at which the sum of probabilities passes a uniform number; −1 if all are excluded. */
function drawToken(
	logits: Float32Array,
	uniform: number,
	isExcluded: (token: number) => boolean,
): number {
	let highest = Number.NEGATIVE_INFINITY;
	for (let token = 0; token < logits.length; token++)
		if ((logits[token] as number) > highest && !isExcluded(token))
			highest = logits[token] as number;
	let total = 0;
	let last = -1;
	const sums = new Float64Array(logits.length);
	for (let token = 0; token < logits.length; token++) {
		if (!isExcluded(token)) {
			total += Math.exp((logits[token] as number) - highest);
			last = token;
		}
		sums[token] = total;
	}
	const wanted = uniform * total;
	for (let token = 0; token < last; token++) if ((sums[token] as number) > wanted) return token;
	return last;
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
