import type { Answers, Events } from "../models/index.js";
import type { Engine } from "./engine/engine.js";
import { Refusal } from "./http/refusal.js";

/**
 * Forecasts of similar size that share a pass. Preset paper with 112 events computes 25 forecasts per
 * second and thread one by one, 26 in pairs and 27 in fours; but whoever just missed a pass of four
 * waits for all of it.
 */
const mostPerPass = 2;
/** What a call costs beside its events and query times, in events: reading weights, passing results. */
const workPerCall = 32;
/** A call of more work than this is long. A pass of an attribution is 1,056. */
const longWork = 1200;
/** Calls that have waited longer than this, in ms, get every second pass. */
const ageLimitMs = 5000;

/** The calls of the model that a request makes. */
export type ModelCalls = Pick<Engine, "predictor" | "represent">;

/**
 * Decides which of the waiting calls to the model runs next: fair queueing by the amount of work.
 *
 * Every address gets an equal share of the model's time, and of that every client, that is every
 * connection. The address that has had the least work is next. The work of a call is estimated by its
 * events and query times. Progress of an address is the work that each of its clients could have had so
 * far, had all of them been served at once: a pass that starts adds its work, divided by the number of its
 * clients that have calls. For each call
 *
 *     start = max(progress, due of the client's previous call)
 *     due = start + work
 *
 * Of the calls that progress has reached the start of, the one that is due first runs next (worst-case fair
 * weighted fair queueing, WF2Q, with equal weights). A client that sends many calls, or large ones, delays
 * itself; a small call overtakes large ones, but only for its client's share. Beyond this:
 *
 * - A call that has waited for `ageLimitMs` or longer gets every second pass, the oldest first.
 * - Long calls leave one thread free for others, where there are several threads.
 * - Two forecasts of similar size share a pass if both wait. No call waits for another to arrive.
 * - If too many wait, of the address with the most calls the one that is due last is refused: the new
 *   one, or one that waited.
 */
export interface Scheduler {
	/**
	 * The model, as a request of this connection calls it: every call waits until it is scheduled. Once
	 * the signal is aborted, its waiting calls leave the queue and further ones are not made.
	 */
	callsFor(connection: object, signal: AbortSignal, address?: string): ModelCalls;
	/** Calls that wait. */
	readonly waiting: number;
	/** So far: passes started, and the calls in them. */
	readonly counts: { readonly passes: number; readonly calls: number };
}

interface Address {
	/** Work that its calls have had; one that comes back has had as much as the least of the others. */
	served: number;
	/** Work that each of its clients could have had so far. */
	progress: number;
}

interface Client {
	readonly address: Address;
	/** When its last call is due. */
	due: number;
}

interface Call {
	readonly client: Client;
	readonly start: number;
	readonly work: number;
	readonly due: number;
	/** When it began to wait, in ms. */
	readonly since: number;
	readonly forecast: Forecast | undefined;
	run(): Promise<void>;
	reject(error: unknown): void;
}

/** The query of a whole history, which can share a pass. */
interface Forecast {
	readonly history: Events;
	readonly times: readonly number[];
	/** Forecasts of equal class are of similar size. */
	readonly sizeClass: string;
	resolve(answers: Answers): void;
}

const isLong = ({ work }: Pick<Call, "work">) => work > longWork;

export function scheduler(
	{ predictor, represent, width }: Engine,
	mostWaiting: number,
	clock: () => number = () => performance.now(),
): Scheduler {
	const clients = new WeakMap<object, Client>();
	/** In order of arrival. */
	let queue: Call[] = [];
	const running = new Set<readonly Call[]>();
	/** Those with calls that wait or run. */
	const addresses = new Map<string, Address>();
	let wasByAge = false;
	const counts = { passes: 0, calls: 0 };

	const removeFromQueue = (gone: readonly Call[]) => {
		queue = queue.filter((call) => !gone.includes(call));
	};

	/** The call to start next; undefined where none may start now. */
	function nextCall(): Call | undefined {
		const longCount = [...running].filter((pass) => pass.some(isLong)).length;
		const mayBeLong = width === 1 || longCount < width - 1;
		const ready = queue.filter((call) => mayBeLong || !isLong(call));
		const [oldest] = ready;
		if (!oldest) return undefined;
		wasByAge = !wasByAge && clock() - oldest.since >= ageLimitMs;
		if (wasByAge) return oldest;
		const { address } = ready
			.map(({ client }) => client)
			.reduce((least, own) => (own.address.served < least.address.served ? own : least));
		const own = ready.filter(({ client }) => client.address === address);
		// Where every client is ahead of its share, the least ahead is next: no thread stays idle.
		address.progress = Math.max(address.progress, Math.min(...own.map(({ start }) => start)));
		return own
			.filter(({ start }) => start <= address.progress)
			.reduce((first, call) => (call.due < first.due ? call : first));
	}

	/** The call, with others that share its pass. */
	function passWith(first: Call): readonly Call[] {
		const { forecast } = first;
		if (!forecast || first.work * mostPerPass > longWork) return [first];
		const similar = queue
			.filter((call) => call !== first && call.forecast?.sizeClass === forecast.sizeClass)
			.sort((a, b) => a.due - b.due);
		return [first, ...similar.slice(0, mostPerPass - 1)];
	}

	function startCalls(): void {
		while (running.size < width) {
			const first = nextCall();
			if (!first) return;
			const pass = passWith(first);
			running.add(pass);
			removeFromQueue(pass);
			const active = new Set([...queue, ...[...running].flat()].map(({ client }) => client));
			for (const { client, work } of pass) {
				const { address } = client;
				address.served += work;
				address.progress += work / [...active].filter((own) => own.address === address).length;
			}
			counts.passes++;
			counts.calls += pass.length;
			runPass(pass).finally(() => {
				running.delete(pass);
				forgetIdle();
				startCalls();
			});
		}
	}

	async function runPass(pass: readonly Call[]): Promise<void> {
		const forecasts = pass.flatMap(({ forecast }) => forecast ?? []);
		if (pass.length > 1)
			try {
				const answers = await forecastAll(forecasts);
				for (const [row, { times, resolve }] of forecasts.entries())
					resolve(answersOf(answers, row, times.length));
				return;
			} catch {
				// One call made the pass fail, and only that call should: each runs alone.
			}
		for (const call of pass) await call.run().catch(call.reject);
	}

	/** As many times per history: the last again, whose answers are not read. */
	function forecastAll(forecasts: readonly Forecast[]): Promise<Answers> {
		const most = Math.max(...forecasts.map(({ times }) => times.length));
		return predictor.along(
			predictor.start(forecasts.length),
			forecasts.map(({ history }) => history),
			forecasts.map(({ times }) =>
				Array.from({ length: most }, (_, i) => times[Math.min(i, times.length - 1)] as number),
			),
		);
	}

	/** Calls are refused by due time, so that one client cannot keep the others out. */
	function makeRoomFor(call: Call): void {
		queue.push(call);
		if (queue.length <= mostWaiting) return;
		const count = (own: Call) =>
			queue.filter(({ client }) => client.address === own.client.address).length;
		const most = Math.max(...queue.map(count));
		const last = queue
			.filter((own) => count(own) === most)
			.reduce((last, own) => (own.due >= last.due ? own : last));
		removeFromQueue([last]);
		// Refused work is not charged, or a client that tries again would be last for ever.
		last.client.due -= last.work;
		last.reject(
			new Refusal(503, `${mostWaiting} calls wait already; try again in a moment`, { retry: 1 }),
		);
	}

	/** Addresses without calls are forgotten: their number has no bound. */
	function forgetIdle(): void {
		const active = new Set([...queue, ...[...running].flat()].map(({ client }) => client.address));
		for (const [name, address] of addresses) if (!active.has(address)) addresses.delete(name);
	}

	function addressNamed(name: string): Address {
		const known = addresses.get(name);
		if (known) return known;
		const others = [...addresses.values()].map(({ served }) => served);
		const made = { served: others.length > 0 ? Math.min(...others) : 0, progress: 0 };
		addresses.set(name, made);
		return made;
	}

	function callsFor(connection: object, signal: AbortSignal, name = ""): ModelCalls {
		const schedule = <T>(
			size: number,
			run: () => Promise<T>,
			forecastOf?: (resolve: (answers: T) => void) => Forecast,
		): Promise<T> =>
			new Promise((resolve, reject) => {
				if (signal.aborted) return reject(signal.reason);
				const address = addressNamed(name);
				const known = clients.get(connection);
				// An address that was forgotten begins anew, and so do its clients.
				const client = known?.address === address ? known : { address, due: 0 };
				clients.set(connection, client);
				const work = workPerCall + size;
				const start = Math.max(address.progress, client.due);
				client.due = start + work;
				const leave = () => {
					if (queue.includes(call)) client.due -= work;
					removeFromQueue([call]);
					reject(signal.reason);
				};
				const settle = <V>(how: (value: V) => void) => {
					return (value: V) => {
						signal.removeEventListener("abort", leave);
						how(value);
					};
				};
				const call: Call = {
					...{ client, start, work, due: client.due, since: clock() },
					forecast: forecastOf?.(settle(resolve)),
					run: async () => settle(resolve)(await run()),
					reject: settle(reject),
				};
				signal.addEventListener("abort", leave, { once: true });
				makeRoomFor(call);
				startCalls();
			});

		return {
			represent: (histories) => schedule(eventsIn(histories), () => represent(histories)),
			predictor: {
				...predictor,
				observe: (state, events) =>
					schedule(eventsIn(events), () => predictor.observe(state, events)),
				ask: (state, times) => schedule(timesIn(times), () => predictor.ask(state, times)),
				advance: (state, events, times) =>
					schedule(eventsIn(events) + timesIn(times), () =>
						predictor.advance(state, events, times),
					),
				score: (events, times) =>
					schedule(eventsIn(events) + timesIn(times), () => predictor.score(events, times)),
				along(state, events, times) {
					const [history, own] = [events[0], Array.from(times[0] ?? [])];
					const isWhole = Object.keys(state.memory).length === 0 && Number.isNaN(state.times[0]);
					const isForecast = state.patients === 1 && isWhole && history && own.length > 0;
					return schedule(
						eventsIn(events) + timesIn(times),
						() => predictor.along(state, events, times),
						isForecast
							? (resolve) => ({
									...{ history, times: own, resolve },
									sizeClass: sizeClassOf(history.times.length, own.length),
								})
							: undefined,
					);
				},
			},
		};
	}

	return {
		callsFor,
		counts,
		get waiting() {
			return queue.length;
		},
	};
}

const eventsIn = (histories: readonly Pick<Events, "times">[]) =>
	histories.reduce((sum, { times }) => sum + times.length, 0);
const timesIn = (times: readonly ArrayLike<number>[]) =>
	times.reduce((sum, { length }) => sum + length, 0);

/** Histories at most an eighth of a power of two apart, and query times at most a factor of four. */
const sizeClassOf = (events: number, times: number) =>
	`${Math.ceil(8 * Math.log2(Math.max(1, events)))}/${Math.ceil(Math.log2(times) / 2)}`;

/** The first answers of one row. */
const answersOf = ({ questions, vocab, logProbabilities }: Answers, row: number, count: number) => {
	const from = row * questions * vocab;
	return {
		...{ patients: 1, questions: count, vocab },
		logProbabilities: logProbabilities.slice(from, from + count * vocab),
	};
};
