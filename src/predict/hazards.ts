import { InputError } from "../base/errors.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import type { Runtime } from "../engine/runtime/index.js";
import { concat, constant, reshape, type Tensor } from "../engine/tensor/index.js";
import { binStates, featureInputs, logHazards, prefix, readingOf } from "../model/hazards/head.js";
import { competingIncidences, cumulativeIncidence } from "../model/hazards/incidence.js";
import { landmarkValues } from "../model/hazards/landmarks.js";
import { nextVisit } from "../model/hazards/next-visit.js";
import { columnsOf, hazardStream, queryTimes } from "../model/hazards/objective.js";
import { binsOf, type HazardSettings, outputsOf, visitBinsOf } from "../model/hazards/settings.js";
import type { CodeConfig } from "../model/heads.js";
import type { EventBatch, Events, Model, Parameters, ParameterValues } from "../model/index.js";
import type { BatchShape, States } from "../model/model.js";
import { weightsOf } from "../model/nn/weights.js";
import { type RowPrograms, rowPrograms } from "./history-rows.js";
import { knownCount } from "./known-history.js";
import { type HistoryOnDay, type HistoryStart, openHazards } from "./open-hazards.js";

/** Hazards of histories on index days, in the order of histories and days. */
export interface Hazards {
	/** log hazards per day, [bins, outputs]. */
	codes(at: number): Float32Array;
	/** log hazards per day of the next record of any code, [visit bins]. */
	visits(at: number): Float32Array;
	/** The probability of a record of each output (see `outputsOf`) within so many days, death competing. */
	incidence(at: number, days: number): Float64Array;
	/** The same within each of several horizons. */
	incidences(at: number, days: readonly number[]): Float64Array[];
}

/** What gives hazards: a model here, or one that runs elsewhere. */
export interface HazardSource {
	readonly settings: HazardSettings;
	readonly vocab: number;
	/** The farthest day after the index day that it can answer. */
	readonly longestDays: number;
	/**
	 * Hazards of each history on each of its index days, whose records and those before are known. Every history
	 * has as many days. Of histories longer than the model can read, the last events are seen. With `starts`, a
	 * history is read from a state on, if all events before it are known; they change nothing else.
	 */
	at(
		histories: readonly Events[],
		days: readonly ArrayLike<number>[],
		starts?: readonly (HistoryStart | null)[],
	): Promise<Hazards>;
}

/** Computes hazards. Programs stay compiled until it is disposed of. */
export interface HazardModel extends HazardSource {
	/** The same as numbers, which `hazardsIn` reads: [histories × days, width]. */
	rows(
		histories: readonly Events[],
		days: readonly ArrayLike<number>[],
		starts?: readonly (HistoryStart | null)[],
	): Promise<Float32Array>;
	dispose(): Promise<void>;
}

/** A trained model. */
export interface Learned {
	readonly model: Model;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** The hazard settings of a trained model; one without hazards is refused. */
export function hazardSettingsOf({ config }: Pick<Learned, "config">): HazardSettings {
	const { hazards } = config as CodeConfig;
	if (hazards) return hazards;
	throw new InputError(
		"the model has learned no hazards, so it cannot say by when something happens; train one with `trajgpt pretrain` (presets tiny and default, or --hazards)",
	);
}

/** Which hazards are computed, if not all. */
interface HazardPart {
	/** See `outputsOf`. */
	readonly outputs: readonly number[];
	/** The first bins; where a network is not queried at each bin, all are computed. */
	readonly bins: number;
}

/**
 * Computes the log hazards of rows that `landmarkRow` makes, [rows, landmarks × width]: of all outputs and of the next
 * visit, or of a part, [bins, outputs].
 */
export function hazardPrograms(runtime: Runtime, learned: Learned, part?: HazardPart): RowPrograms {
	const { model, weights } = learned;
	const config = learned.config as CodeConfig;
	const all = hazardSettingsOf(learned);
	const settings =
		part && readingOf(model) === "queries"
			? { ...all, binDays: all.binDays.slice(0, part.bins) }
			: all;
	return rowPrograms(runtime, {
		weights,
		build: (parameters, shape, landmarks) =>
			hazardRows(model, config, settings, parameters, shape, landmarks, part),
		feeds: (batch, landmarks) => hazardFeeds(model, config, settings, batch, landmarks, part),
	});
}

export function hazardModel(runtime: Runtime, learned: Learned): HazardModel {
	const { model } = learned;
	const config = learned.config as CodeConfig;
	const settings = hazardSettingsOf(learned);
	const rows = hazardPrograms(runtime, learned);
	const open = openHazards(runtime, learned, settings);
	const context = model.context?.(config) ?? Number.POSITIVE_INFINITY;
	const source: Pick<HazardModel, "settings" | "vocab" | "longestDays" | "rows"> = {
		settings,
		vocab: config.vocab,
		longestDays: settings.binDays.at(-1) as number,
		async rows(histories, days, starts = []) {
			if (open) return open.run(histories, days, starts);
			const longest = histories.reduce((most, { tokens }) => Math.max(most, tokens.length), 0);
			// One pass over a history answers all its days, if the model can read all of it.
			const together = longest < context;
			const indexed = histories.flatMap((history, i) => {
				const indexDays = Array.from(days[i] ?? []);
				const landmarks = indexDays.map((day) => ({ history, day }));
				return together ? [landmarkRow(landmarks)] : landmarks.map((one) => landmarkRow([one]));
			});
			const count = together ? (days[0]?.length ?? 0) : 1;
			if (count === 0 || indexed.length === 0) return new Float32Array(0);
			const landmarks = roomFor(count);
			const values = await rows.run(indexed, { maxLength: context, landmarks });
			if (landmarks === count) return values;
			const width = values.length / (indexed.length * landmarks);
			const kept = new Float32Array(indexed.length * count * width);
			for (const [i] of indexed.entries()) {
				const from = i * landmarks * width;
				kept.set(values.subarray(from, from + count * width), i * count * width);
			}
			return kept;
		},
	};
	return {
		...source,
		at: async (...given) => hazardsIn(source, await source.rows(...given)),
		async dispose() {
			await open?.dispose();
			await rows.dispose();
		},
	};
}

/** Landmarks per row are rounded up to a power of two, so that few programs are compiled. */
export const roomFor = (landmarks: number) => 2 ** Math.ceil(Math.log2(landmarks));

/** Reads the numbers of a model's hazards. */
export function hazardsIn(
	{ settings, vocab }: Pick<HazardModel, "settings" | "vocab">,
	rows: Float32Array,
): Hazards {
	const codes = settings.binDays.length * outputsOf(settings, vocab).count;
	const width = codes + visitBinsOf(settings).to.length;
	const codesOf = (at: number) => rows.subarray(at * width, at * width + codes);
	return {
		codes: codesOf,
		visits: (at) => rows.subarray(at * width + codes, (at + 1) * width),
		incidence: (at, horizon) => cumulativeIncidence(settings, vocab, codesOf(at), horizon),
		incidences: (at, horizons) =>
			competingIncidences(binsOf(settings), outputsOf(settings, vocab), codesOf(at), horizons),
	};
}

/**
 * One row for landmarks of a patient, whose histories begin alike: the longest of them, and one more event, whose own
 * token nothing reads.
 */
export function landmarkRow(landmarks: readonly HistoryOnDay[]) {
	const counts = landmarks.map(({ history, day }) => knownCount(history, day));
	const count = Math.max(...counts);
	const { tokens, times } = landmarks[counts.indexOf(count)].history;
	const last = Math.max(...landmarks.map(({ day }) => day));
	const end = Math.max(last, times[count - 1] ?? last);
	const longer = {
		landmarks,
		tokens: new Int32Array(count + 1),
		times: new Float64Array(count + 1).fill(end),
		// A birth stays where a history is longer than can be read.
		birthEvents: (tokens[0] ?? specialCount) < specialCount ? (1 as const) : (0 as const),
	};
	for (let n = 0; n < count; n++) {
		longer.tokens[n] = tokens[n];
		longer.times[n] = times[n];
	}
	return longer;
}

/** The log hazards of each row's landmarks, in one row of numbers. */
function hazardRows(
	model: Model,
	config: CodeConfig,
	settings: HazardSettings,
	parameters: Parameters,
	shape: BatchShape,
	perRow: number,
	part?: HazardPart,
): Tensor {
	const reading = readingOf(model);
	const landmarks = shape.rows * perRow;
	const streams = [hazardStream(settings, reading, perRow)];
	const [{ hidden }] = model.states(config, parameters, shape, streams) as [States];
	const p = weightsOf(parameters);
	const states = binStates(settings, reading, p, reshape(hidden, [landmarks, -1, config.dim]));
	const { outputs } = part ?? {};
	const features = featureInputs(settings, config.vocab, landmarks, hidden.dtype, outputs?.length);
	const some = outputs && constant(outputs, [outputs.length], "int32");
	const { codes } = logHazards(config, p, states, features, some);
	if (part) return reshape(codes, [shape.rows, -1]);
	const { visits } = nextVisit(settings, p, states, features);
	const each = concat([reshape(codes, [landmarks, -1]), visits], 1);
	return reshape(each, [shape.rows, -1]);
}

function hazardFeeds(
	model: Model,
	config: CodeConfig,
	settings: HazardSettings,
	batch: EventBatch,
	perRow: number,
	part?: HazardPart,
) {
	const reading = readingOf(model);
	const { features, observe } = landmarkValues(settings, config.vocab, batch.rows * perRow);
	const landmarks = Array.from({ length: batch.rows }, (_, row) => {
		const source = batch.sources?.[row]?.history as ReturnType<typeof landmarkRow> | undefined;
		const events = batch.times.subarray(row * batch.length);
		return Array.from({ length: perRow }, (_, i) => {
			const landmark = source?.landmarks[i];
			if (!landmark) return { known: 0, times: queryTimes(settings, reading, events[0]) };
			const { history, day } = landmark;
			observe(row * perRow + i, history, day);
			let count = 0;
			const all = Math.min(batch.lengths[row] - 1, history.tokens.length);
			while (count < all && Math.floor(events[count]) <= day) count++;
			const time = Math.max(day, count > 0 ? events[count - 1] : day);
			return { known: count, times: queryTimes(settings, reading, time) };
		});
	});
	const { sinceAny, ...ofCodes } = features;
	const read = part
		? {
				...ofCodes,
				since: columnsOf(
					features.since,
					outputsOf(settings, config.vocab).count,
					Int32Array.from(part.outputs),
				),
			}
		: features;
	return {
		...model.filler(config, batch)(hazardStream(settings, reading, perRow), landmarks),
		...Object.fromEntries(Object.entries(read).map(([name, data]) => [`${prefix}.${name}`, data])),
	};
}
