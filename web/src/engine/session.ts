import type { Events, State } from "../../../src/model/index.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { HistoryStart } from "../../../src/predict/open-hazards.js";
import type { History } from "../data/patient.js";

/** The calls of a model that a session makes. */
export type ModelCalls = Pick<Calls, "start" | "observe" | "queryWithin">;

/** One call of the model: from a cached state, over the events after it. */
export interface Pass {
	/** Events that the cached state has observed. */
	readonly from: number;
	/** Events observed, and query times, in this call. */
	readonly events: number;
	readonly times: number;
}

/** Log-probabilities of every token, one row per query time. */
export interface PredictionSet {
	readonly date: number;
	row(time: number): Float32Array;
}

/** Events between two cached states. */
const stride = 8;
/** The stride doubles until at most so many states are cached. */
const mostStates = 96;
/** Beyond this many cached predictions, each a row of the vocabulary, the cache is emptied. */
const mostPredictions = 4096;
/** Cache key of predictions at times before the first event. */
const beforeFirstEvent = -1;

/**
 * Predictions for one patient's history while it is edited. States along the history are cached, and
 * predictions by the number of events they are based on, so that after an edit one call recomputes
 * only what follows it, for all query times.
 */
export interface Session {
	/** Replaces the history; what is cached for the common beginning stays valid. */
	use(history: History): void;
	/** Predicts at these times from the events before `date`. */
	predict(date: number, times: readonly number[]): Promise<PredictionSet>;
	/** Caches one more state; false when all are cached. */
	cacheNextState(): Promise<boolean>;
	/** The cached state after the most events that a history begins with too, all before a time; null if there is none. */
	startFor(history: History, until: number): HistoryStart | null;
	/** What the last prediction computed; undefined if everything was cached. */
	readonly lastPass: Pass | undefined;
	/** A session with a copy of this cache. */
	fork(): Session;
}

interface Cache {
	readonly history: History;
	/** By the number of events observed. */
	readonly states: Map<number, State>;
	/** By the number of events before the query time, or `beforeFirstEvent`, then by time. */
	readonly predictions: Map<number, Map<number, Float32Array>>;
}

const emptyCache = (): Cache => ({
	history: { tokens: [], times: [], birthEvents: 0 },
	states: new Map(),
	predictions: new Map(),
});

export function patientSession(model: ModelCalls, cache = emptyCache()): Session {
	let { history } = cache;
	const { states, predictions } = cache;
	let lastPass: Pass | undefined;
	let start: Promise<State> | undefined;

	const common = (other: History): number => {
		const most = Math.min(history.times.length, other.times.length);
		for (let at = 0; at < most; at++)
			if (history.tokens[at] !== other.tokens[at] || history.times[at] !== other.times[at])
				return at;
		return most;
	};
	const countBefore = (time: number): number => {
		let [low, high] = [0, history.times.length];
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((history.times[middle] as number) < time) low = middle + 1;
			else high = middle;
		}
		return low;
	};
	const part = (from: number, to: number): Events => ({
		tokens: history.tokens.slice(from, to),
		times: history.times.slice(from, to),
	});
	const stateAfter = async (events: number): Promise<State> => {
		start ??= model.start(1);
		return states.get(events) ?? (await start);
	};

	/**
	 * The last cached state of at most `least` events that leaves two to observe: for fewer, the model
	 * needs another program.
	 */
	const startOf = (least: number, end: number): number =>
		Math.max(0, ...[...states.keys()].filter((at) => at <= Math.min(least, end - 2)));

	return {
		get lastPass() {
			return lastPass;
		},
		use(next) {
			const kept = common(next);
			for (const at of states.keys()) if (at > kept) states.delete(at);
			// If the first event changes, predictions before it are no longer valid.
			for (const key of predictions.keys()) if (key > kept || kept === 0) predictions.delete(key);
			history = next;
		},
		async predict(date, times) {
			const cached = [...predictions.values()].reduce((sum, { size }) => sum + size, 0);
			if (cached > mostPredictions) predictions.clear();
			const end = countBefore(date);
			const first = end > 0 ? (history.times[0] as number) : Number.NEGATIVE_INFINITY;
			const keyOf = (time: number) =>
				time < first ? beforeFirstEvent : countBefore(Math.min(time, date));
			const missing = [...new Set(times)].filter(
				(time) => !predictions.get(keyOf(time))?.has(time),
			);
			const queried = history;
			lastPass = undefined;
			if (missing.length > 0) {
				const least = missing.reduce((least, time) => Math.min(least, keyOf(time)), end);
				const from = startOf(least, end);
				lastPass = { from, events: end - from, times: missing.length };
				const keys = missing.map(keyOf);
				const found = await model.queryWithin(await stateAfter(from), [part(from, end)], [missing]);
				// The history may have been replaced during the call.
				if (history === queried)
					for (const [at, time] of missing.entries()) {
						const key = keys[at] as number;
						const own = predictions.get(key) ?? new Map<number, Float32Array>();
						predictions.set(key, own);
						own.set(time, found.logProbabilities.slice(at * found.vocab, (at + 1) * found.vocab));
					}
			}
			const rows = new Map(
				history === queried
					? times.map((time) => [time, predictions.get(keyOf(time))?.get(time) as Float32Array])
					: [],
			);
			return { date, row: (time) => rows.get(time) as Float32Array };
		},
		startFor(other, until) {
			const known = other.times.findLastIndex((time) => time < until) + 1;
			const most = Math.min(common(other), known);
			const events = Math.max(0, ...[...states.keys()].filter((at) => at <= most));
			const state = states.get(events);
			return state ? { events, state } : null;
		},
		fork: () =>
			patientSession(model, {
				history,
				states: new Map(states),
				predictions: new Map([...predictions].map(([at, own]) => [at, new Map(own)])),
			}),
		async cacheNextState() {
			const last = [...states.keys()].reduce((most, at) => Math.max(most, at), 0);
			const step =
				stride * 2 ** Math.ceil(Math.log2(Math.max(1, history.times.length / stride / mostStates)));
			const next = (Math.floor(last / step) + 1) * step;
			if (next > history.times.length) return false;
			const queried = history;
			const state = await model.observe(await stateAfter(last), [part(last, next)]);
			if (history === queried) states.set(next, state);
			return true;
		},
	};
}
