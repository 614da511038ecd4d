import { InputError } from "../base/errors.js";

/** The state of some patients: the model's memory, and the last event of each. */
export interface State {
	readonly patients: number;
	readonly tokens: Int32Array; // [patients]
	readonly times: Float64Array; // [patients]; NaN before the first event
	/** Arrays by name, for the model alone to read; none before the first event. */
	readonly memory: Readonly<Record<string, Float32Array | Float64Array | Int32Array>>;
}

/** Events of one patient, in order of time. */
export interface Events {
	readonly tokens: ArrayLike<number>;
	readonly times: ArrayLike<number>;
}

/** log p of every token, for each patient and query time. */
export interface Predictions {
	readonly patients: number;
	readonly queries: number;
	readonly vocab: number;
	readonly logProbabilities: Float32Array; // [patients, queries, vocab]
}

export interface QueryOptions {
	/**
	 * Whether the next event is known to be at the query's time, as when futures are made event by event. Where a
	 * model's state decays by event, it then decays by one event, as in training, and not by the time since the last one.
	 */
	readonly asNextEvent?: boolean | undefined;
}

/**
 * All inference uses this interface. It keeps no state between calls. Slot n holds the
 * token before it and its own time, so an event is observed by a slot with the token last seen at
 * the new event's time, and a query is such a slot that does not change the state.
 */
export interface Predictor {
	/** Number of tokens that a prediction covers. */
	readonly vocab: number;
	start(patients: number): State;
	/** The state after each patient's further events. */
	observe(state: State, events: readonly Events[]): Promise<State>;
	/** Predicts at these times from the state; every patient has the same number of times. */
	query(
		state: State,
		times: readonly ArrayLike<number>[],
		options?: QueryOptions,
	): Promise<Predictions>;
	/** Observes, then predicts, reading every weight once. */
	advance(
		state: State,
		events: readonly Events[],
		times: readonly ArrayLike<number>[],
		options?: QueryOptions,
	): Promise<{ readonly state: State; readonly predictions: Predictions }>;
	/** The states of these patients, in this order; a patient may be named many times. */
	select(state: State, patients: readonly number[]): State;
	/** Observes from the start and predicts, without returning a state. */
	score(events: readonly Events[], times: readonly ArrayLike<number>[]): Promise<Predictions>;
	/**
	 * Observes and predicts in one pass, without returning a state: each query uses the events
	 * strictly before its time. Times may be in any order. A query before a
	 * patient's first event is evolved backwards from it, with [SOS] as the only input.
	 */
	queryWithin(
		state: State,
		events: readonly Events[],
		times: readonly ArrayLike<number>[],
	): Promise<Predictions>;
	dispose(): Promise<void>;
}

/** What a query's slot holds, and which state it reads. */
export interface Query {
	/** Its position among the patient's queries. */
	readonly index: number;
	readonly token: number;
	readonly time: number;
	readonly gap: number;
	/** How many of the patient's events come before it. */
	readonly position: number;
}

const none: Events = { tokens: [], times: [] };

function mustFollow(last: number, time: number, patient: number, what: string): void {
	if (!Number.isFinite(time) || time < last)
		throw new InputError(
			`times must be finite and not decrease: patient ${patient} goes ${last} → ${time} at ${what}`,
		);
}

/** Refuses events that run backwards in time or are not in the vocabulary. */
function checkEvents(state: State, events: readonly Events[], vocab: number): void {
	for (const [patient, { tokens, times }] of events.entries()) {
		if (tokens.length !== times.length)
			throw new InputError(
				`patient ${patient} has ${tokens.length} tokens and ${times.length} times; give as many`,
			);
		let last = state.times[patient];
		for (let n = 0; n < tokens.length; n++) {
			const [token, time] = [tokens[n], times[n]];
			mustFollow(last, time, patient, `event ${n}`);
			if (!Number.isInteger(token) || token < 0 || token >= vocab)
				throw new InputError(
					`patient ${patient} has token ${token} at event ${n}; expected a whole number from 0 to ${vocab - 1}`,
				);
			last = time;
		}
	}
}

/**
 * The queries of each patient after all events, or within them, each after those strictly before it. One before a
 * patient's very first event looks back: it holds [SOS] at its own time and reads what the first slot left, which
 * is [SOS] at the first event's time.
 */
const queriesOf = (
	state: State,
	events: readonly Events[] | undefined,
	times: readonly ArrayLike<number>[],
	within: boolean,
): Query[][] =>
	times.map((queryTimes, patient) => {
		const history = events?.[patient] ?? none;
		const first = history.times[0];
		const [lastToken, lastTime] = [state.tokens[patient], state.times[patient]];
		const looksBack = within && Number.isNaN(lastTime);
		return Array.from(queryTimes, (time, index) => {
			if (looksBack && Number.isFinite(time) && time < first)
				return { index, token: lastToken, time, gap: time - first, position: 1 };
			const position = within ? countBefore(history.times, time) : history.times.length;
			const last = position === 0 ? lastTime : history.times[position - 1];
			mustFollow(last, time, patient, `query ${index}`);
			const token = position === 0 ? lastToken : history.tokens[position - 1];
			return { index, token, time, gap: Number.isNaN(last) ? 0 : time - last, position };
		});
	});

/** How many of the times, which do not decrease, are below this one. */
function countBefore(times: ArrayLike<number>, time: number): number {
	let [low, high] = [0, times.length];
	while (low < high) {
		const middle = (low + high) >> 1;
		if (times[middle] < time) low = middle + 1;
		else high = middle;
	}
	return low;
}

/** Checks that there is a list for every patient, and as many queries for each. */
function checkLists(
	patients: number,
	lists: {
		readonly events: readonly Events[] | undefined;
		readonly times: readonly ArrayLike<number>[] | undefined;
	},
): void {
	for (const [name, list] of Object.entries(lists))
		if (list && list.length !== patients)
			throw new InputError(`${name} of ${list.length} patients for a state of ${patients}`);
	if (lists.times?.some((t) => t.length !== lists.times?.[0]?.length))
		throw new InputError("expected the same number of query times for every patient");
}

/** What a step asks of each future: a time, the record before it, and what else predictions there depend on. */
interface FutureQueries {
	readonly tokens: Int32Array; // [rows]
	/** NaN where there is no record before. */
	readonly last: Float64Array; // [rows]
	readonly times: Float64Array; // [rows]
	/** The features of the hazards: see `LandmarkFeatures`. */
	readonly ages: Float32Array; // [rows, age features]
	readonly sinceAny: Float32Array; // [rows, 1]
	readonly past: Float32Array; // [rows, past features]
}

/** What comes first after a landmark, in the visit bins that lie in the bin of a query. */
type WaitStep = Readonly<
	Record<
		"visits" | "deaths" | "oneRecord" | "visitEnd" | "newAlone" | "newCodes",
		Float32Array // [rows, visit bins]
	>
>;

/**
 * What is predicted at the times of a step, until the next one. A query is either at the time of a record or in the
 * middle of a bin after a landmark, and only what is predicted for its kind is of use.
 */
export interface FutureStep extends WaitStep {
	/** Of the record at this time, given that there is one. */
	readonly logits: Float32Array; // [rows, vocab]
}

/** Futures side by side, each with its state in a row. */
export interface FutureRows {
	/** How many there can be. */
	readonly capacity: number;
	/** The queries of the next step, to be filled in. */
	readonly queries: FutureQueries;
	/** Puts the state of a patient in a predictor's memory into a row. */
	start(row: number, memory: State["memory"], patient: number): void;
	copy(from: number, to: number): void;
	/** Predicts at the queries of the first rows. */
	step(count: number): Promise<FutureStep>;
	/**
	 * Moves a row's state on to the time of the last step. The record of that time enters with the next step, as the
	 * token before.
	 */
	keep(row: number): void;
}

/** Predicts step by step from the states of many futures. */
export interface FutureSteps {
	/** How many bins and visit bins have predictions, from the first. */
	readonly bins: number;
	readonly visitBins: number;
	/** Rows for up to so many futures; fewer if that is faster. */
	rows(futures: number): FutureRows;
	dispose(): Promise<void>;
}

/** Refuses numbers of a model that are not finite: nothing may be made of them, and JSON would say null. */
export function checkFinite(values: Float32Array, what: string): Float32Array {
	for (let at = 0; at < values.length; at++)
		if (!Number.isFinite(values[at]))
			throw new InputError(
				`the model's ${what} is ${values[at]}, expected a finite number; check that the times of the events ` +
					"and the query times are plausible; if they are, the weights are at fault: train again",
			);
	return values;
}

/** What one kind of predictor differs in from another. */
interface PredictorParts extends Pick<Predictor, "vocab" | "start" | "select" | "dispose"> {
	/** The state after the events, if it is to be kept, and the answers to as many queries of each patient. */
	run(
		state: State,
		events: readonly Events[] | undefined,
		queries: readonly (readonly Query[])[],
		keep: boolean,
		options: QueryOptions,
	): Promise<{ readonly state: State; readonly predictions: Predictions }>;
}

interface CheckedOptions extends QueryOptions {
	readonly keep?: boolean;
	readonly within?: boolean;
}

/** A predictor that refuses events and times out of order, and to answer with what is not a finite number. */
export function predictorFrom({ run, ...parts }: PredictorParts): Predictor {
	const { vocab, start } = parts;
	const checked = async (
		state: State,
		events: readonly Events[] | undefined,
		times: readonly ArrayLike<number>[] | undefined,
		{ keep = false, within = false, ...options }: CheckedOptions = {},
	) => {
		checkLists(state.patients, { events, times });
		checkEvents(state, events ?? [], vocab);
		const result = await run(
			state,
			events,
			times ? queriesOf(state, events, times, within) : [],
			keep,
			options,
		);
		checkFinite(result.predictions.logProbabilities, "prediction");
		return result;
	};
	return {
		...parts,
		observe: async (state, events) =>
			(await checked(state, events, undefined, { keep: true })).state,
		query: async (state, times, options) =>
			(await checked(state, undefined, times, options)).predictions,
		advance: (state, events, times, options) =>
			checked(state, events, times, { ...options, keep: true }),
		score: async (events, times) =>
			(await checked(start(events.length), events, times)).predictions,
		queryWithin: async (state, events, times) =>
			(await checked(state, events, times, { within: true })).predictions,
	};
}
