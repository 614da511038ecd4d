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
	query(state: State, times: readonly ArrayLike<number>[]): Promise<Predictions>;
	/** Observes, then predicts, reading every weight once. */
	advance(
		state: State,
		events: readonly Events[],
		times: readonly ArrayLike<number>[],
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
