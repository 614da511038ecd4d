import type { Events, Predictions, State } from "../../../src/models/index.js";
import type { History } from "../data/patient.js";

/** What a session needs of a model, wherever that runs. */
export interface Asked {
	start(patients: number): Promise<State>;
	observe(state: State, events: readonly Events[]): Promise<State>;
	queryWithin(
		state: State,
		events: readonly Events[],
		times: readonly ArrayLike<number>[],
	): Promise<Predictions>;
}

/** One call of the model: from a remembered state, over the events after it. */
export interface Pass {
	/** Events that the state has seen. */
	readonly from: number;
	/** Events observed, and times asked about. */
	readonly events: number;
	readonly times: number;
}

/** log p of every token at some times; rows are looked up by time. */
export interface AnswerSet {
	readonly date: number;
	row(time: number): Float32Array;
}

/** Events between two remembered states. */
const stride = 8;
/** More states than this are thinned out. */
const mostStates = 96;
/** More answers than this are forgotten: a row of the vocabulary each. */
const mostAnswers = 4096;
/** Where an answer stands that looks back from the first event. */
const lookingBack = -1;

/**
 * One patient's history, asked again and again while it is edited. States on the way are kept, and
 * answers by what was known when they were given, so that an edit costs what comes after it: one
 * call, for all times that are asked about.
 */
export interface Session {
	/** The history from now on; what it has in common with the one before stays known. */
	use(history: History): void;
	/** What comes at these times, none before the first event; nothing recorded from `date` on is known. */
	ask(date: number, times: readonly number[]): Promise<AnswerSet>;
	/** Remembers one state more, for quick answers later; false when all is done. */
	prepare(): Promise<boolean>;
	/** What the last answer cost: events observed and times asked about; undefined where all was known. */
	readonly lastPass: Pass | undefined;
	/** Another session that knows all that this one knows now. */
	fork(): Session;
}

interface Known {
	readonly history: History;
	/** The state after so many events. */
	readonly states: Map<number, State>;
	/** By how many events were known, or `lookingBack`, then by time. */
	readonly answers: Map<number, Map<number, Float32Array>>;
}

const nothing = (): Known => ({
	history: { tokens: [], times: [], birthEvents: 0 },
	states: new Map(),
	answers: new Map(),
});

export function patientSession(model: Asked, known = nothing()): Session {
	let { history } = known;
	const { states, answers } = known;
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
	 * The last state that serves: at most `least` events seen, and two left to observe, as the model
	 * has a program of its own for fewer.
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
			// Without the first event there is none to look back from.
			for (const known of answers.keys()) if (known > kept || kept === 0) answers.delete(known);
			history = next;
		},
		async ask(date, times) {
			const held = [...answers.values()].reduce((sum, { size }) => sum + size, 0);
			if (held > mostAnswers) answers.clear();
			const end = countBefore(date);
			const first = end > 0 ? (history.times[0] as number) : Number.NEGATIVE_INFINITY;
			const known = (time: number) =>
				time < first ? lookingBack : countBefore(Math.min(time, date));
			const missing = [...new Set(times)].filter((time) => !answers.get(known(time))?.has(time));
			const asked = history;
			lastPass = undefined;
			if (missing.length > 0) {
				const least = missing.reduce((least, time) => Math.min(least, known(time)), end);
				const from = startOf(least, end);
				lastPass = { from, events: end - from, times: missing.length };
				const places = missing.map(known);
				const found = await model.queryWithin(await stateAfter(from), [part(from, end)], [missing]);
				// Whoever has changed the history since wants none of this.
				if (history === asked)
					for (const [at, time] of missing.entries()) {
						const place = places[at] as number;
						const own = answers.get(place) ?? new Map<number, Float32Array>();
						answers.set(place, own);
						own.set(time, found.logProbabilities.slice(at * found.vocab, (at + 1) * found.vocab));
					}
			}
			const rows = new Map(
				history === asked
					? times.map((time) => [time, answers.get(known(time))?.get(time) as Float32Array])
					: [],
			);
			return { date, row: (time) => rows.get(time) as Float32Array };
		},
		fork: () =>
			patientSession(model, {
				history,
				states: new Map(states),
				answers: new Map([...answers].map(([at, own]) => [at, new Map(own)])),
			}),
		async prepare() {
			const last = [...states.keys()].reduce((most, at) => Math.max(most, at), 0);
			const step =
				stride * 2 ** Math.ceil(Math.log2(Math.max(1, history.times.length / stride / mostStates)));
			const next = (Math.floor(last / step) + 1) * step;
			if (next > history.times.length) return false;
			const asked = history;
			const state = await model.observe(await stateAfter(last), [part(last, next)]);
			if (history === asked) states.set(next, state);
			return true;
		},
	};
}
