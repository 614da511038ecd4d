/** What is known of some patients: what the model remembers, and the last event of each. */
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

/** log p of every token, for each patient and each time asked about. */
export interface Predictions {
	readonly patients: number;
	readonly queries: number;
	readonly vocab: number;
	readonly logProbabilities: Float32Array; // [patients, questions, vocab]
}

/**
 * All inference goes through here. State goes in and comes out; nothing is kept. Slot n holds the
 * token before it and its own time, so an event is observed by a slot with the token last seen at
 * the new event's time, and a question is such a slot that leaves no trace.
 */
export interface Predictor {
	/** Tokens that an answer is over. */
	readonly vocab: number;
	start(patients: number): State;
	/** The state after each patient's further events. */
	observe(state: State, events: readonly Events[]): Promise<State>;
	/** What comes at these times, from the state as it is; as many times for each patient. */
	query(state: State, times: readonly ArrayLike<number>[]): Promise<Predictions>;
	/** Observes, then asks, reading every weight once. */
	advance(
		state: State,
		events: readonly Events[],
		times: readonly ArrayLike<number>[],
	): Promise<{ readonly state: State; readonly predictions: Predictions }>;
	/** The states of these patients, in this order; a patient may be named many times. */
	select(state: State, patients: readonly number[]): State;
	/** Observes from the start and asks, keeping no state. */
	score(events: readonly Events[], times: readonly ArrayLike<number>[]): Promise<Predictions>;
	/**
	 * Observes and asks on the way, keeping no state: each question is answered from the events
	 * strictly before its time, in the same pass. Times may come in any order. One before a
	 * patient's very first event is answered by looking back from it, with [SOS] alone known.
	 */
	queryWithin(
		state: State,
		events: readonly Events[],
		times: readonly ArrayLike<number>[],
	): Promise<Predictions>;
	dispose(): Promise<void>;
}
