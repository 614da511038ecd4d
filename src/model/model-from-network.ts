import { roundLength } from "../data/cohort/batches.js";
import { specialTokens } from "../data/cohort/vocabulary.js";
import { programs, type Runtime } from "../engine/runtime/index.js";
import { readingOf } from "./hazards/head.js";
import { hazardsOfConfig, hazardWeights } from "./hazards/objective.js";
import type { CodeConfig } from "./heads.js";
import type { EventBatch, Model, Network, ParameterValues, QueryStream } from "./model.js";
import { drawWeights, parametersOf } from "./nn/weights.js";
import { type Events, type Predictor, predictorFrom, type Query, type State } from "./predictor.js";

/** Most positions per pass, including queries, and pass shapes that stay compiled. */
const mostPositions = 4096;
const mostPrograms = 24;

/** Events and the query times that follow them. */
interface Row {
	readonly events: Events;
	readonly times: readonly number[];
	/** Where each prediction goes. */
	readonly to: readonly number[];
}

interface PassShape {
	readonly rows: number;
	readonly length: number;
	readonly queries: number;
}

const powerOfTwo = (n: number) => 2 ** Math.ceil(Math.log2(Math.max(1, n)));

const afterAll = (queries: number): QueryStream => ({ name: "seen", landmarks: "end", queries });

/** Histories as rows of a batch, each with one more event, which is not known, at the time of its first query. */
function withQuery(rows: readonly Row[]): EventBatch {
	const length = Math.max(...rows.map(({ events }) => events.tokens.length)) + 1;
	const tokens = new Int32Array(rows.length * length);
	const times = new Float64Array(rows.length * length);
	for (const [row, { events, times: queries }] of rows.entries()) {
		tokens.set(Array.from(events.tokens), row * length);
		times.set([...Array.from(events.times), queries[0]], row * length);
	}
	const lengths = Int32Array.from(rows, ({ events }) => events.tokens.length + 1);
	return { rows: rows.length, length, tokens, times, lengths };
}

/**
 * Predicts from whole histories. The state is the history itself: observing costs nothing, and every
 * query reads all of it again.
 */
function historyPredictor<C extends CodeConfig>(
	runtime: Runtime,
	network: Network<C>,
	config: C,
	weights: ParameterValues,
): Predictor {
	const { vocab } = config;
	const { usesQueryTime } = network;
	const context = network.context?.(config) ?? Number.POSITIVE_INFINITY;
	const atOnce = network.queriesAtOnce?.(config);
	const symbols = parametersOf(weights);
	const resident = runtime.resident(weights);
	const compiled = programs(
		runtime,
		({ rows, length, queries }: PassShape) => {
			const streams = [afterAll(queries)];
			const [states] = network.states(config, symbols, { rows, length }, streams);
			return { outputs: { predictions: states.logits.logSoftmax() } };
		},
		{ keyText: JSON.stringify, most: mostPrograms },
	);

	// Windows always have the same length.
	const lengthOf = ({ events }: Row) =>
		network.predictsEachEvent ? Math.min(roundLength(events.tokens.length + 1), context) : context;
	const queryCountOf = ({ times }: Row) => atOnce ?? (usesQueryTime ? powerOfTwo(times.length) : 1);

	/** Splits a row into rows with at most as many queries as one pass takes, of the same history. */
	const splitQueries = (row: Row): Row[] => {
		if (!usesQueryTime || atOnce === undefined || row.times.length <= atOnce) return [row];
		return Array.from({ length: Math.ceil(row.times.length / atOnce) }, (_, part) => ({
			...row,
			times: row.times.slice(part * atOnce, (part + 1) * atOnce),
			to: row.to.slice(part * atOnce, (part + 1) * atOnce),
		}));
	};

	async function predict(rows: readonly Row[], into: Float32Array): Promise<void> {
		const left = rows
			.flatMap(splitQueries)
			.sort((a, b) => lengthOf(b) - lengthOf(a) || queryCountOf(b) - queryCountOf(a));
		while (left.length > 0) {
			const first = left[0];
			const length = lengthOf(first);
			const room = powerOfTwo(mostPositions / (length + queryCountOf(first)));
			const some = left.splice(0, Math.max(1, room));
			const queries = Math.max(...some.map(queryCountOf));
			const shape = { rows: powerOfTwo(some.length), length, queries };
			const all = Array.from({ length: shape.rows }, (_, row) => some[row] ?? first);
			const landmarks = all.map(({ events, times }) => [
				{
					known: events.tokens.length,
					times: Array.from({ length: queries }, (_, i) => times[Math.min(i, times.length - 1)]),
				},
			]);
			const fill = network.filler(config, withQuery(all), length);
			const outputs = await compiled.run(shape, fill(afterAll(queries), landmarks), resident);
			const predictions = outputs.predictions as Float32Array;
			const each = predictions.length / (shape.rows * vocab);
			for (const [row, { to }] of some.entries())
				for (const [i, position] of to.entries()) {
					const from = (row * each + Math.min(i, each - 1)) * vocab;
					into.set(predictions.subarray(from, from + vocab), position * vocab);
				}
		}
	}

	const start = (patients: number): State =>
		stateOf(Array.from({ length: patients }, () => ({ tokens: [], times: [] })));

	const grown = (state: State, events: readonly Events[] | undefined) =>
		Array.from({ length: state.patients }, (_, patient) => {
			const past = historyOf(state, patient);
			const more = events?.[patient];
			return {
				tokens: [...Array.from(past.tokens), ...Array.from(more?.tokens ?? [])],
				times: [...Array.from(past.times), ...Array.from(more?.times ?? [])],
			};
		});

	return predictorFrom({
		vocab,
		start,
		select: (state, patients) => stateOf(patients.map((patient) => historyOf(state, patient))),
		async run(state, events, queries, keep) {
			const { patients } = state;
			const histories = grown(state, events);
			const queriesPerPatient = queries[0]?.length ?? 0;
			const logProbabilities = new Float32Array(patients * queriesPerPatient * vocab);
			const rows = queries.flatMap((ofPatient, patient): Row[] => {
				const { tokens, times } = histories[patient];
				const before = historyOf(state, patient).tokens.length;
				// One that looks back from the first event knows of none.
				const knownTo = ({ position, gap }: Query) => (gap < 0 ? 0 : before + position);
				return [...new Set(ofPatient.map(knownTo))].map((known) => {
					const group = ofPatient.filter((query) => knownTo(query) === known);
					return {
						events: { tokens: tokens.slice(0, known), times: times.slice(0, known) },
						times: group.map(({ time }) => time),
						to: group.map(({ index }) => patient * queriesPerPatient + index),
					};
				});
			});
			await predict(rows, logProbabilities);
			return {
				state: keep ? stateOf(histories) : state,
				predictions: { patients, queries: queriesPerPatient, vocab, logProbabilities },
			};
		},
		async dispose() {
			resident.dispose();
			await compiled.dispose();
		},
	});
}

/** Histories side by side, each in a row as long as the longest. */
function stateOf(histories: readonly Events[]): State {
	const patients = histories.length;
	const width = Math.max(0, ...histories.map(({ tokens }) => tokens.length));
	const tokens = new Int32Array(patients * width);
	const times = new Float64Array(patients * width);
	for (const [patient, history] of histories.entries()) {
		tokens.set(Array.from(history.tokens), patient * width);
		times.set(Array.from(history.times), patient * width);
	}
	const last = <T>(values: ArrayLike<number>, before: T) => values[values.length - 1] ?? before;
	return {
		patients,
		tokens: Int32Array.from(histories, (history) => last(history.tokens, specialTokens.sos)),
		times: Float64Array.from(histories, (history) => last(history.times, Number.NaN)),
		memory: {
			tokens,
			times,
			lengths: Int32Array.from(histories, (history) => history.tokens.length),
		},
	};
}

function historyOf({ memory, patients }: State, patient: number): Events {
	const { tokens, times, lengths } = memory;
	const width = (tokens?.length ?? 0) / patients;
	const [from, to] = [patient * width, patient * width + (lengths?.[patient] ?? 0)];
	return { tokens: tokens?.subarray(from, to) ?? [], times: times?.subarray(from, to) ?? [] };
}

/** A model is a network with weights that are drawn, a predictor and, if it learns them, hazards. */
export const modelFromNetwork = <C extends CodeConfig>(network: Network<C>): Model<C> => {
	const weights: Network<C>["weights"] = (config) => ({
		...network.weights(config),
		...(config.hazards && hazardWeights(config.hazards, readingOf(network), config)),
	});
	const hazards = hazardsOfConfig<C>(readingOf(network));
	const { next, horizon, visits } = network.objectives;
	return {
		predictor: (runtime, config, values) => historyPredictor(runtime, network, config, values),
		...network,
		objectives: {
			next: [...next, hazards],
			horizon: [...horizon, hazards],
			visits: [...visits, hazards],
		},
		weights,
		init: (config, random) => drawWeights(weights(config), random),
	};
};
