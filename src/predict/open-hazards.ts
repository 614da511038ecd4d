import { concatenated } from "../base/arrays.js";
import { specialTokens } from "../data/cohort/vocabulary.js";
import { programs, type Runtime } from "../engine/runtime/index.js";
import { concat } from "../engine/tensor/index.js";
import { featureInputs, logHazards, prefix, readingOf } from "../model/hazards/head.js";
import { landmarkValues } from "../model/hazards/landmarks.js";
import { nextVisit } from "../model/hazards/next-visit.js";
import { binsOf, type HazardSettings } from "../model/hazards/settings.js";
import type { CodeConfig } from "../model/heads.js";
import type { Events, State } from "../model/index.js";
import type { MemoryPart } from "../model/model.js";
import { parametersOf, weightsOf } from "../model/nn/weights.js";
import { checkFinite } from "../model/predictor.js";
import type { Trained } from "../model/train/index.js";
import { eventsOf, knownCount } from "./histories.js";

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
	if (!runtime.opensSizes || readingOf(model) !== "queries" || !model.statesAfterMore)
		return undefined;
	if (model.context && Number.isFinite(model.context(config))) return undefined;
	const parameters = parametersOf(weights);
	const { middle } = binsOf(settings);
	const { hidden: states, memory } = model.statesAfterMore(config, parameters, middle);
	const compiled = programs(runtime, () => {
		const p = weightsOf(parameters);
		const features = featureInputs(settings, config.vocab, "batch", states.dtype);
		const { codes } = logHazards(config, p, states, features);
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
