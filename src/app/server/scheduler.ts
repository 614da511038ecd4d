import { setImmediate } from "node:timers/promises";
import type { Events } from "../../model/index.js";
import type { Engine } from "./engine/engine.js";
import type { ForecastQuery } from "./engine/forecast.js";
import { activeAddresses } from "./http/addresses.js";
import { Refusal } from "./http/refusal.js";

/** The fixed cost of a call in events: reading weights, passing results. */
const workPerCall = 32;
/** Calls of more work are long: while several addresses are active, they leave one thread free. */
const longWork = 256;
/** Calls of more work leave one thread free even while only one address is active. */
const longestWork = 1200;
/** Every second turn goes to the oldest call that has waited longer than this. */
const ageLimitMs = 5000;

/** The model calls that a request can make. */
export type ModelCalls = Pick<
	Engine,
	"predictor" | "represent" | "forecast" | "incidence" | "scoreTask"
>;

/**
 * Decides which of the waiting calls to the model runs next: fair queueing by the amount of work.
 *
 * Every address gets an equal share of the model's time, and of that every client, that is every
 * connection. The address that has had the least work is next. The work of a call is estimated by its
 * events and query times. Progress of an address is the work that each of its clients could have had so
 * far, had all of them been served at once: a call that starts adds its work, divided by the number of its
 * clients that have calls. For each call
 *
 *     start = max(progress, due of the client's previous call)
 *     due = start + work
 *
 * Of the calls that progress has reached the start of, the one that is due first runs next (worst-case fair
 * weighted fair queueing, WF2Q, with equal weights). A client that sends many calls, or large ones, delays
 * itself; a small call overtakes large ones, but only for its client's share. Beyond this:
 *
 * - Every second call to start is one that has waited for `ageLimitMs` or longer, the oldest first.
 * - Long calls leave one thread free, where there are several threads and several addresses are
 *   active; the longest do so always. A call that runs is not interrupted, so a short one would wait for it.
 * - Each call has a pass of its own. Forecasts that share one gain little: preset paper with 112 events
 *   computes 25 per second and thread one by one, 26 in pairs, and a call that just missed a pair waits for both.
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
	/** Calls that have started so far. */
	readonly started: number;
}

interface Address {
	/** Work done for its calls; an address that returns starts with the least of the others. */
	served: number;
	/** Work that each of its clients could have received so far. */
	progress: number;
}

interface Client {
	readonly address: Address;
	/** When its last call is due. */
	due: number;
	/** The start of a refused call, which the next call takes over. */
	refusedStart: number | undefined;
}

interface Call {
	readonly client: Client;
	readonly start: number;
	readonly work: number;
	readonly due: number;
	/** When it began to wait, in ms. */
	readonly since: number;
	run(): Promise<void>;
	reject(error: unknown): void;
}

/** Hazards query the model once per bin, of which there are eight unless a run was trained otherwise. */
const queriesPerDay = 8;

export function scheduler(
	{ predictor, represent, forecast, incidence, scoreTask, width }: Engine,
	mostWaiting: number,
	clock: () => number = () => performance.now(),
): Scheduler {
	const clients = new WeakMap<object, Client>();
	/** In order of arrival. */
	let queue: Call[] = [];
	const running = new Set<Call>();
	const addresses = activeAddresses(clock, (): Address => ({ served: 0, progress: 0 }));
	let wasByAge = false;
	let started = 0;

	const removeFromQueue = (gone: Call) => {
		queue = queue.filter((call) => call !== gone);
	};

	/** The call to start next; undefined where none may start now. */
	function nextCall(): Call | undefined {
		const long = addresses.size > 1 ? longWork : longestWork;
		const isLong = ({ work }: Call) => work > long;
		const mayBeLong = width === 1 || [...running].filter(isLong).length < width - 1;
		const ready = queue.filter((call) => mayBeLong || !isLong(call));
		const [oldest] = ready;
		if (!oldest) return undefined;
		wasByAge = !wasByAge && clock() - oldest.since >= ageLimitMs;
		if (wasByAge) return oldest;
		const { address } = ready
			.map(({ client }) => client)
			.reduce((least, own) => (own.address.served < least.address.served ? own : least));
		const own = ready.filter(({ client }) => client.address === address);
		// If every client is ahead of its share, the least ahead is next, so that no thread stays idle.
		address.progress = Math.max(address.progress, Math.min(...own.map(({ start }) => start)));
		return own
			.filter(({ start }) => start <= address.progress)
			.reduce((first, call) => (call.due < first.due ? call : first));
	}

	function startCalls(): void {
		while (running.size < width) {
			const call = nextCall();
			if (!call) return;
			running.add(call);
			removeFromQueue(call);
			started++;
			const { address } = call.client;
			const active = new Set([...queue, ...running].map(({ client }) => client));
			address.served += call.work;
			address.progress += call.work / [...active].filter((own) => own.address === address).length;
			call
				.run()
				.catch(call.reject)
				.finally(async () => {
					// Let this thread process the result before the next call starts: results that queue up here
					// would delay every other request.
					await setImmediate();
					running.delete(call);
					addresses.forgetInactive(withCalls());
					startCalls();
				});
		}
	}

	/** Refuses the call due last if the queue is full, so that one client cannot lock out the others. */
	function makeRoomFor(call: Call): void {
		queue.push(call);
		if (queue.length <= mostWaiting) return;
		const counts = new Map<Address, number>();
		for (const { client } of queue)
			counts.set(client.address, (counts.get(client.address) ?? 0) + 1);
		const most = Math.max(...counts.values());
		const last = queue
			.filter(({ client }) => counts.get(client.address) === most)
			.reduce((last, own) => (own.due >= last.due ? own : last));
		removeFromQueue(last);
		// Refused work is not charged, and its place is kept, or a client that retries would always be last.
		last.client.due -= last.work;
		last.client.refusedStart = last.start;
		last.reject(
			new Refusal(503, `${mostWaiting} calls wait already; try again in a moment`, { retry: 1 }),
		);
	}

	/** The addresses of the calls that wait or run. */
	const withCalls = () => new Set([...queue, ...running].map(({ client }) => client.address));

	function addressNamed(name: string): Address {
		const others = withCalls();
		addresses.forgetInactive(others);
		const address = addresses.seen(name);
		// Usage before an idle period does not count, for or against the address.
		if (!others.has(address) && others.size > 0)
			address.served = Math.min(...[...others].map(({ served }) => served));
		return address;
	}

	function callsFor(connection: object, signal: AbortSignal, name = ""): ModelCalls {
		const schedule = <T>(size: number, run: () => Promise<T>): Promise<T> =>
			new Promise((resolve, reject) => {
				if (signal.aborted) return reject(signal.reason);
				const address = addressNamed(name);
				const known = clients.get(connection);
				// The clients of a forgotten address start anew.
				const client =
					known?.address === address ? known : { address, due: 0, refusedStart: undefined };
				clients.set(connection, client);
				const work = workPerCall + size;
				const start = client.refusedStart ?? Math.max(address.progress, client.due);
				client.refusedStart = undefined;
				client.due = start + work;
				const leave = () => {
					if (queue.includes(call)) client.due -= work;
					removeFromQueue(call);
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
					run: async () => settle(resolve)(await run()),
					reject: settle(reject),
				};
				signal.addEventListener("abort", leave, { once: true });
				makeRoomFor(call);
				startCalls();
			});

		return {
			represent: (histories) => schedule(eventsIn(histories), () => represent(histories)),
			forecast: (query) => schedule(sizeOf(query), () => forecast(query)),
			incidence: (histories, codes, days, horizons) =>
				schedule(eventsIn(histories) + queriesPerDay * timesIn(days), () =>
					incidence(histories, codes, days, horizons),
				),
			scoreTask: (histories) =>
				schedule(2 * eventsIn(histories) + queriesPerDay * histories.length, () =>
					scoreTask(histories),
				),
			predictor: {
				...predictor,
				observe: (state, events) =>
					schedule(eventsIn(events), () => predictor.observe(state, events)),
				query: (state, times) => schedule(timesIn(times), () => predictor.query(state, times)),
				advance: (state, events, times) =>
					schedule(eventsIn(events) + timesIn(times), () =>
						predictor.advance(state, events, times),
					),
				score: (events, times) =>
					schedule(eventsIn(events) + timesIn(times), () => predictor.score(events, times)),
				queryWithin: (state, events, times) =>
					schedule(eventsIn(events) + timesIn(times), () =>
						predictor.queryWithin(state, events, times),
					),
			},
		};
	}

	return {
		callsFor,
		get waiting() {
			return queue.length;
		},
		get started() {
			return started;
		},
	};
}

const sizeOf = ({ of, times }: ForecastQuery) =>
	times.length + ("history" in of ? of.history.times.length : 0);
const eventsIn = (histories: readonly Pick<Events, "times">[]) =>
	histories.reduce((sum, { times }) => sum + times.length, 0);
const timesIn = (times: readonly ArrayLike<number>[]) =>
	times.reduce((sum, { length }) => sum + length, 0);
