import { concatenated } from "../base/arrays.js";
import { specialTokens } from "../data/cohort/vocabulary.js";
import { programs, type Runtime } from "../engine/runtime/index.js";
import { concat, reshape } from "../engine/tensor/index.js";
import { featureInputs, logHazards, prefix, readingOf } from "../model/hazards/head.js";
import { landmarkValues } from "../model/hazards/landmarks.js";
import { nextVisit } from "../model/hazards/next-visit.js";
import { binsOf, type HazardSettings } from "../model/hazards/settings.js";
import type { CodeConfig } from "../model/heads.js";
import type { Events, Model, ParameterValues, State } from "../model/index.js";
import type { MemoryPart } from "../model/model.js";
import { parametersOf, weightsOf } from "../model/nn/weights.js";
import { checkFinite } from "../model/predictor.js";
import { eventsOf, knownCount } from "./known-history.js";

/** The predictor's state after the first events of a history, from which it need not be read again. */
export interface HistoryStart {
	readonly events: number;
	/** Of one patient. */
	readonly state: State;
}

/** The records of a history up to an index day. */
export interface HistoryOnDay {
	readonly history: Events;
	readonly day: number;
}

/** How many of the events are known on the day: no fewer than at the start, if there is one. */
interface IndexedHistory extends HistoryOnDay {
	readonly known: number;
	readonly start?: HistoryStart | undefined;
}

/** Log hazards of histories by few programs, whatever their number and lengths. */
export interface OpenHazards {
	/** Of all outputs and of the next visit: [histories × days, width]. */
	run(
		histories: readonly Events[],
		days: readonly ArrayLike<number>[],
		starts?: readonly (HistoryStart | null)[],
	): Promise<Float32Array>;
	dispose(): Promise<void>;
}

/** Events of a history that a call reads: its memory must not grow with the history. The predictor reads those before. */
const mostEvents = 512;
/** Rows of a call read at most as many events after a shared state: a state of their own would take as long. */
const mostAgain = 16;
/** Slots of a call, padding included. */
const mostSlots = 4096;
/** Histories of a call. */
const mostRows = 32;
/** Of what is read of a history, padding is less than this share. */
const mostPadding = 0.4;

/** How many of the last rows share a call; their lengths do not fall. */
export function rowsOfCall(lengths: readonly number[]): number {
	const longest = lengths.at(-1) ?? 0;
	const fit = Math.min(mostRows, Math.floor(mostSlots / longest), lengths.length);
	let count = 1;
	while (count < fit && (lengths.at(-count - 1) as number) > (1 - mostPadding) * longest) count++;
	return count;
}

/** Undefined where the runtime or the model needs fixed sizes. */
export function openHazards(
	runtime: Runtime,
	learned: { readonly model: Model; readonly config: unknown; readonly weights: ParameterValues },
	settings: HazardSettings,
): OpenHazards | undefined {
	const { model, weights } = learned;
	const config = learned.config as CodeConfig;
	if (!runtime.opensSizes || readingOf(model) !== "queries" || !model.statesAfterMore)
		return undefined;
	if (model.context && Number.isFinite(model.context(config))) return undefined;
	const parameters = parametersOf(weights);
	const queries = binsOf(settings).middle.length;
	const { hidden: states, memory } = model.statesAfterMore(
		config,
		parameters,
		binsOf(settings).middle,
	);
	const rowsOf = () => {
		const p = weightsOf(parameters);
		const features = featureInputs(settings, config.vocab, "batch", states.dtype);
		const { codes } = logHazards(config, p, states, features);
		const { visits } = nextVisit(settings, p, states, features);
		return concat([reshape(codes, ["batch", -1]), visits], 1);
	};
	const compiled = programs(runtime, () => ({
		outputs: { rows: rowsOf() },
		weights: new Map([...weights].map(([name, { data }]) => [name, data])),
	}));
	const predictor = model.predictor(runtime, learned.config, weights);

	/** In calls of histories of like length. */
	async function inCalls(histories: readonly IndexedHistory[]): Promise<Float32Array> {
		const order = [...histories.keys()].sort(
			(a, b) => lengthOf(histories[a]) - lengthOf(histories[b]),
		);
		let written = new Float32Array(0);
		while (order.length > 0) {
			const lengths = order.map((at) => lengthOf(histories[at]) + queries);
			const some = order.splice(-rowsOfCall(lengths));
			const longest = Math.max(1, lengthOf(histories[some.at(-1) as number]));
			const batch = some.map((at) => histories[at]);
			const feeds = feedsOf(batch, memory, settings, config);
			const sizes = { batch: batch.length, length: longest };
			const { rows } = await compiled.run("open", feeds, undefined, { sizes });
			const width = (rows as Float32Array).length / batch.length;
			if (written.length === 0) written = new Float32Array(histories.length * width);
			for (const [row, at] of some.entries())
				written.set((rows as Float32Array).subarray(row * width, (row + 1) * width), at * width);
		}
		return checkFinite(written, "value for a history");
	}

	/** On days of one history, each from a state of the predictor, which goes on from day to day unless days decrease. */
	async function alongDays(landmarks: readonly IndexedHistory[]): Promise<Float32Array[]> {
		const history = landmarks[0]?.history ?? { tokens: [], times: [] };
		const parts: Float32Array[] = [];
		let reached: HistoryStart | undefined;
		for (let from = 0; from < landmarks.length; from += mostRows) {
			const rows: IndexedHistory[] = [];
			for (const landmark of landmarks.slice(from, from + mostRows)) {
				const { known } = landmark;
				if (!reached || reached.events > known)
					reached = landmark.start ?? { events: 0, state: predictor.start(1) };
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
		async run(histories, days, starts = []) {
			const landmarks = histories.map((history, i) =>
				Array.from(days[i] ?? [], (day): IndexedHistory => {
					const known = knownCount(history, day);
					const start = starts[i];
					return { history, day, known, ...(start && start.events <= known && { start }) };
				}),
			);
			const isShort = ([first, ...others]: readonly IndexedHistory[]) =>
				others.length === 0 && lengthOf(first) <= mostEvents;
			if (landmarks.every(isShort)) return inCalls(landmarks.flat());
			const parts: Float32Array[] = [];
			for (const landmark of landmarks) parts.push(...(await alongDays(landmark)));
			return concatenated(parts);
		},
		async dispose() {
			await predictor.dispose();
			await compiled.dispose();
		},
	};
}

/** Events that are read. */
const lengthOf = (one: IndexedHistory | undefined): number =>
	one ? one.known - (one.start?.events ?? 0) : 0;

function feedsOf(
	histories: readonly IndexedHistory[],
	memory: readonly MemoryPart[],
	settings: HazardSettings,
	{ vocab }: CodeConfig,
) {
	const length = Math.max(1, ...histories.map(lengthOf));
	const { features, observe } = landmarkValues(settings, vocab, histories.length);
	const tokens = new Int32Array(histories.length * length);
	const times = new Float64Array(histories.length * length);
	const mask = new Uint8Array(histories.length * length);
	const lastToken = new Int32Array(histories.length).fill(specialTokens.sos);
	const lastTime = new Float64Array(histories.length).fill(Number.NaN);
	const states = memory.map(({ name, width }) => ({
		name,
		width,
		data: new Float32Array(histories.length * width),
	}));
	for (const [row, { history, day, known, start }] of histories.entries()) {
		const from = start?.events ?? 0;
		for (let n = from; n < known; n++) {
			tokens[row * length + n - from] = history.tokens[n];
			times[row * length + n - from] = history.times[n];
		}
		mask.fill(1, row * length, row * length + known - from);
		observe(row, history, day);
		if (!start) continue;
		lastToken[row] = start.state.tokens[0];
		lastTime[row] = start.state.times[0];
		for (const { name, width, data } of states) {
			const values = start.state.memory[name];
			if (values) data.set(values, row * width);
		}
	}
	return {
		tokens,
		times,
		mask,
		at: Float64Array.from(histories, ({ day }) => day),
		"last.token": lastToken,
		"last.time": lastTime,
		...Object.fromEntries(states.map(({ name, data }) => [name, data])),
		...Object.fromEntries(
			Object.entries(features).map(([name, data]) => [`${prefix}.${name}`, data]),
		),
	};
}
