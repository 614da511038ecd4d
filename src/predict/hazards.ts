import { concatenated } from "../base/arrays.js";
import { InputError } from "../base/errors.js";
import { specialTokens } from "../data/cohort/vocabulary.js";
import { programs, type Runtime } from "../engine/runtime/index.js";
import { concat, constant } from "../engine/tensor/index.js";
import { binStates, featureInputs, logHazards, prefix, readingOf } from "../model/hazards/head.js";
import { competingIncidences, cumulativeIncidence } from "../model/hazards/incidence.js";
import { landmarkValues } from "../model/hazards/landmarks.js";
import { nextVisit } from "../model/hazards/next-visit.js";
import { columnsOf, hazardStream, queryTimes } from "../model/hazards/objective.js";
import { binsOf, type HazardSettings, outputsOf, visitBinsOf } from "../model/hazards/settings.js";
import type { CodeConfig } from "../model/heads.js";
import type { Events, State } from "../model/index.js";
import type { MemoryPart } from "../model/model.js";
import { parametersOf, weightsOf } from "../model/nn/weights.js";
import { checkFinite } from "../model/predictor.js";
import type { Trained } from "../model/train/index.js";
import { eventsOf, knownCount } from "./histories.js";
import { rowPrograms, withQuerySlot } from "./history-rows.js";

export type Learned = Pick<Trained, "model" | "config" | "weights">;

/** The hazard settings of a trained model; one without hazards is refused. */
export function hazardSettingsOf({ config }: Pick<Learned, "config">): HazardSettings {
	const { hazards } = config as CodeConfig;
	if (hazards) return hazards;
	throw new InputError(
		"the model has learned no hazards, so it cannot say by when something happens; train one with `trajgpt pretrain` (presets tiny and default, or --hazards)",
	);
}

/** Computes hazards. Programs stay compiled until it is disposed of. */
export type HazardModel = ReturnType<typeof hazardModel>;
/** What gives hazards: a model here, or one that runs elsewhere. */
export type HazardSource = Pick<HazardModel, "settings" | "vocab" | "longestDays" | "at">;

export function hazardModel(runtime: Runtime, learned: Learned) {
	const { model, config } = learned;
	const { vocab } = config as CodeConfig;
	const settings = hazardSettingsOf(learned);
	const rows = hazardPrograms(runtime, learned);
	const open = openHazards(runtime, learned, settings);
	const context = model.context?.(config) ?? Number.POSITIVE_INFINITY;

	async function inRows(histories: readonly Events[], days: readonly ArrayLike<number>[]) {
		const longest = histories.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
		// One pass over a history answers all its days, if the model can read all of it.
		const isTogether = longest < context;
		const indexed = histories.flatMap((history, i) => {
			const landmarks = Array.from(days[i], (day) => ({ history, day }));
			return isTogether ? [landmarkRow(landmarks)] : landmarks.map((one) => landmarkRow([one]));
		});
		const count = isTogether ? (days[0]?.length ?? 0) : 1;
		if (count === 0 || indexed.length === 0) return new Float32Array(0);
		const landmarks = roomFor(count);
		const values = await rows.run(indexed, { maxLength: context, landmarks });
		if (landmarks === count) return values;
		const width = values.length / (indexed.length * landmarks);
		const kept = new Float32Array(indexed.length * count * width);
		for (const i of indexed.keys()) {
			const from = i * landmarks * width;
			kept.set(values.subarray(from, from + count * width), i * count * width);
		}
		return kept;
	}

	return {
		settings,
		vocab,
		/** The farthest day after the index day that it can answer. */
		longestDays: settings.binDays.at(-1) as number,
		/**
		 * Hazards of each history on each of its index days, whose records and those before are known. Every history
		 * has as many days. Of histories longer than the model can read, the last events are seen. With `starts`, a
		 * history is read from a state on, if all events before it are known; they change nothing else.
		 */
		async at(
			histories: readonly Events[],
			days: readonly ArrayLike<number>[],
			starts: readonly (HistoryStart | null)[] = [],
		) {
			const values = open ? open.run(histories, days, starts) : inRows(histories, days);
			return hazardsIn(settings, vocab, await values);
		},
		async dispose() {
			await open?.dispose();
			await rows.dispose();
		},
	};
}

/** Hazards of histories on index days, in the order of histories and days. */
export function hazardsIn(
	settings: HazardSettings,
	vocab: number,
	values: Float32Array, // [histories × days, width]
) {
	const outputs = outputsOf(settings, vocab);
	const codes = settings.binDays.length * outputs.count;
	const width = codes + visitBinsOf(settings).to.length;
	const codesOf = (at: number) => values.subarray(at * width, at * width + codes);
	return {
		values,
		/** log hazards per day, [bins, outputs]. */
		codes: codesOf,
		/** log hazards per day of the next record of any code, [visit bins]. */
		visits: (at: number) => values.subarray(at * width + codes, (at + 1) * width),
		/** The probability of a record of each output (see `outputsOf`) within so many days, death competing. */
		incidence: (at: number, days: number) =>
			cumulativeIncidence(settings, vocab, codesOf(at), days),
		/** The same within each of several horizons. */
		incidences: (at: number, days: readonly number[]) =>
			competingIncidences(binsOf(settings), outputs, codesOf(at), days),
	};
}

/** Landmarks per row are rounded up to a power of two, so that few programs are compiled. */
export const roomFor = (landmarks: number) => 2 ** Math.ceil(Math.log2(landmarks));

/** One row for landmarks of a patient, whose histories begin alike: the longest of them. */
export function landmarkRow(landmarks: readonly HistoryOnDay[]) {
	const counts = landmarks.map(({ history, day }) => knownCount(history, day));
	const count = Math.max(...counts);
	const { history } = landmarks[counts.indexOf(count)];
	const last = Math.max(...landmarks.map(({ day }) => day));
	return {
		landmarks,
		...withQuerySlot(history, count, Math.max(last, history.times[count - 1] ?? last)),
	};
}

interface HazardPart {
	readonly outputs: readonly number[];
	/** The first bins; where a network is not queried at each bin, all are computed. */
	readonly bins: number;
}

/**
 * Computes the log hazards of rows that `landmarkRow` makes, [rows, landmarks × width]: of all outputs and of the next
 * visit, or of a part, [bins, outputs].
 */
export function hazardPrograms(
	runtime: Runtime,
	{ model, config: modelConfig, weights }: Learned,
	part?: HazardPart,
) {
	const config = modelConfig as CodeConfig;
	const { vocab } = config;
	const reading = readingOf(model);
	const allSettings = hazardSettingsOf({ config });
	const settings =
		part && reading === "queries"
			? { ...allSettings, binDays: allSettings.binDays.slice(0, part.bins) }
			: allSettings;
	return rowPrograms(runtime, {
		weights,
		build(parameters, shape, perRow) {
			const landmarks = shape.rows * perRow;
			const streams = [hazardStream(settings, reading, perRow)];
			const [{ hidden }] = model.states(config, parameters, shape, streams);
			const p = weightsOf(parameters);
			const states = binStates(settings, reading, p, hidden.reshape([landmarks, -1, config.dim]));
			const outputs = part?.outputs;
			const features = featureInputs(settings, vocab, landmarks, hidden.dtype, outputs?.length);
			const columns = outputs && constant(outputs, [outputs.length], "int32");
			const { codes } = logHazards(settings, config, p, states, features, columns);
			if (part) return codes.reshape([shape.rows, -1]);
			const { visits } = nextVisit(settings, p, states, features);
			return concat([codes.reshape([landmarks, -1]), visits], 1).reshape([shape.rows, -1]);
		},
		feeds(batch, perRow) {
			const { features, observe } = landmarkValues(settings, vocab, batch.rows * perRow);
			const landmarks = Array.from({ length: batch.rows }, (_, row) => {
				const source = batch.sources?.[row]?.history as ReturnType<typeof landmarkRow> | undefined;
				const events = batch.times.subarray(row * batch.length);
				return Array.from({ length: perRow }, (_, i) => {
					const landmark = source?.landmarks[i];
					if (!landmark) return { known: 0, times: queryTimes(settings, reading, events[0]) };
					const { history, day } = landmark;
					observe(row * perRow + i, history, day);
					let known = 0;
					const all = Math.min(batch.lengths[row] - 1, history.tokens.length);
					while (known < all && Math.floor(events[known]) <= day) known++;
					const time = Math.max(day, known > 0 ? events[known - 1] : day);
					return { known, times: queryTimes(settings, reading, time) };
				});
			});
			const { sinceAny, since, ...ofCodes } = features;
			const read = part
				? {
						...ofCodes,
						since: columnsOf(
							since,
							outputsOf(settings, vocab).count,
							Int32Array.from(part.outputs),
						),
					}
				: features;
			return {
				...model.filler(config, batch)(hazardStream(settings, reading, perRow), landmarks),
				...Object.fromEntries(
					Object.entries(read).map(([name, data]) => [`${prefix}.${name}`, data]),
				),
			};
		},
	});
}

/** The predictor's state after the first events of a history, from which it need not be read again. */
export interface HistoryStart {
	readonly events: number;
	readonly state: State;
}

/** The records of a history up to an index day. */
export interface HistoryOnDay {
	readonly history: Events;
	readonly day: number;
}

interface IndexedHistory extends HistoryOnDay {
	/** How many of the events are known on the day: no fewer than at the start, if there is one. */
	readonly known: number;
	readonly start?: HistoryStart | undefined;
}

/** Events of a history that a call reads: its memory must not grow with the history. The predictor reads those before. */
const mostEvents = 512;
/** Rows of a call read at most as many events after a shared state: a state of their own would take as long. */
const mostAgain = 16;
/** Slots of a call, padding included. */
const mostSlots = 4096;
const mostRows = 32;
/** Of what is read of a history, padding is less than this share. */
const mostPadding = 0.4;

/** How many of the last rows share a call; their lengths do not fall. */
export function rowsOfCall(lengths: readonly number[]): number {
	const longest = lengths.at(-1) ?? 0;
	const fit = Math.min(mostRows, Math.floor(mostSlots / longest), lengths.length);
	let count = 1;
	while (count < fit && lengths[lengths.length - count - 1] > (1 - mostPadding) * longest) count++;
	return count;
}

/**
 * Log hazards of histories by few programs, whatever their number and lengths. Undefined where the runtime or the model
 * needs fixed sizes.
 */
export function openHazards(
	runtime: Runtime,
	{ model, config: modelConfig, weights }: Pick<Trained, "model" | "config" | "weights">,
	settings: HazardSettings,
) {
	const config = modelConfig as CodeConfig;
	if (!runtime.opensSizes || readingOf(model) !== "queries") return undefined;
	const parameters = parametersOf(weights);
	const { middle } = binsOf(settings);
	const after = model.statesAfterMore?.(config, parameters, middle);
	if (!after) return undefined;
	const { hidden: states, memory } = after;
	const compiled = programs(runtime, () => {
		const p = weightsOf(parameters);
		const features = featureInputs(settings, config.vocab, "batch", states.dtype);
		const { codes } = logHazards(settings, config, p, states, features);
		const { visits } = nextVisit(settings, p, states, features);
		return {
			outputs: { rows: concat([codes.reshape(["batch", -1]), visits], 1) },
			weights: new Map([...weights].map(([name, { data }]) => [name, data])),
		};
	});
	const predictor = model.predictor(runtime, config, weights);

	/** In calls of histories of like length. */
	async function inCalls(histories: readonly IndexedHistory[]): Promise<Float32Array> {
		const order = [...histories.keys()].sort(
			(a, b) => lengthOf(histories[a]) - lengthOf(histories[b]),
		);
		let written = new Float32Array(0);
		while (order.length > 0) {
			const lengths = order.map((at) => lengthOf(histories[at]) + middle.length);
			const batch = order.splice(-rowsOfCall(lengths));
			const read = batch.map((at) => histories[at]);
			const length = Math.max(1, ...read.map(lengthOf));
			const feeds = feedsOf(read, length, memory, settings, config);
			const { rows } = await compiled.run("open", feeds, undefined, {
				sizes: { batch: batch.length, length },
			});
			const values = rows as Float32Array;
			const width = values.length / batch.length;
			if (written.length === 0) written = new Float32Array(histories.length * width);
			for (const [row, at] of batch.entries())
				written.set(values.subarray(row * width, (row + 1) * width), at * width);
		}
		return checkFinite(written, "value for a history");
	}

	/** On days of one history, each from a state of the predictor, which goes on from day to day unless days decrease. */
	async function alongDays(landmarks: readonly IndexedHistory[]): Promise<Float32Array[]> {
		const parts: Float32Array[] = [];
		let reached: HistoryStart | undefined;
		for (let from = 0; from < landmarks.length; from += mostRows) {
			const rows: IndexedHistory[] = [];
			for (const landmark of landmarks.slice(from, from + mostRows)) {
				const { history, known, start } = landmark;
				if (!reached || reached.events > known)
					reached = start ?? { events: 0, state: predictor.start(1) };
				const { events, state } = reached;
				if (known - events > mostAgain) {
					const more = eventsOf(history, events, known);
					reached = { events: known, state: await predictor.observe(state, [more]) };
				}
				rows.push({ ...landmark, start: reached });
			}
			parts.push(await inCalls(rows));
		}
		return parts;
	}

	return {
		/** Of all outputs and of the next visit: [histories × days, width]. */
		async run(
			histories: readonly Events[],
			days: readonly ArrayLike<number>[],
			starts: readonly (HistoryStart | null)[],
		): Promise<Float32Array> {
			const landmarks = histories.map((history, i) =>
				Array.from(days[i], (day): IndexedHistory => {
					const known = knownCount(history, day);
					const start = starts[i];
					return { history, day, known, ...(start && start.events <= known && { start }) };
				}),
			);
			const isShort = ([first, ...others]: readonly IndexedHistory[]) =>
				first === undefined || (others.length === 0 && lengthOf(first) <= mostEvents);
			if (landmarks.every(isShort)) return inCalls(landmarks.flat());
			const parts: Float32Array[] = [];
			for (const ofHistory of landmarks) parts.push(...(await alongDays(ofHistory)));
			return concatenated(parts);
		},
		async dispose() {
			await predictor.dispose();
			await compiled.dispose();
		},
	};
}

const lengthOf = ({ known, start }: IndexedHistory): number => known - (start?.events ?? 0);

function feedsOf(
	histories: readonly IndexedHistory[],
	length: number,
	memory: readonly MemoryPart[],
	settings: HazardSettings,
	{ vocab }: CodeConfig,
) {
	const rows = histories.length;
	const { features, observe } = landmarkValues(settings, vocab, rows);
	const feeds = {
		tokens: new Int32Array(rows * length),
		times: new Float64Array(rows * length),
		mask: new Uint8Array(rows * length),
		at: Float64Array.from(histories, ({ day }) => day),
		"last.token": new Int32Array(rows).fill(specialTokens.sos),
		"last.time": new Float64Array(rows).fill(Number.NaN),
	};
	const states = new Map(memory.map(({ name, width }) => [name, new Float32Array(rows * width)]));
	for (const [row, { history, day, known, start }] of histories.entries()) {
		const from = start?.events ?? 0;
		const { tokens, times } = eventsOf(history, from, known);
		feeds.tokens.set(tokens, row * length);
		feeds.times.set(times, row * length);
		feeds.mask.fill(1, row * length, row * length + known - from);
		observe(row, history, day);
		if (!start) continue;
		feeds["last.token"][row] = start.state.tokens[0];
		feeds["last.time"][row] = start.state.times[0];
		for (const { name, width } of memory)
			states.get(name)?.set(start.state.memory[name] ?? [], row * width);
	}
	return {
		...feeds,
		...Object.fromEntries(states),
		...Object.fromEntries(
			Object.entries(features).map(([name, data]) => [`${prefix}.${name}`, data]),
		),
	};
}
