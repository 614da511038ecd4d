import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Events, Predictions, Predictor, State } from "../../model/index.js";
import type { Engine } from "./engine/engine.js";
import { scheduler } from "./scheduler.js";

const begun: State = {
	patients: 1,
	tokens: Int32Array.of(1),
	times: Float64Array.of(Number.NaN),
	memory: {},
};

interface Pass {
	readonly method: "queryWithin" | "observe" | "represent";
	/** Events of each history. */
	readonly events: readonly number[];
	/** When it began, in virtual ms. */
	readonly at: number;
	end(error?: Error): void;
}

/** Until every promise that is settled has been reacted to, and the next pass has started. */
const settled = async () => {
	for (let turn = 0; turn < 2; turn++) await setImmediate();
};

/** A model whose passes take a virtual ms per event, or end when they are told to. */
function fakeModel({ width = 1, mostWaiting = 1000 } = {}) {
	const passes: Pass[] = [];
	const running: { readonly until: number; readonly pass: Pass }[] = [];
	let now = 0;
	const pass = <T>(method: Pass["method"], histories: readonly Pick<Events, "times">[], value: T) =>
		new Promise<T>((resolve, reject) => {
			const events = histories.map(({ times }) => times.length);
			const until = now + events.reduce((sum, own) => sum + own, 0);
			const own = {
				...{ method, events, at: now },
				end: (error?: Error) => (error ? reject(error) : resolve(value)),
			};
			passes.push(own);
			running.push({ until, pass: own });
		});
	/** Answers with the number of events and the time. */
	const answersTo = (
		events: readonly Events[],
		times: readonly ArrayLike<number>[],
	): Predictions => ({
		...{ patients: events.length, queries: times[0]?.length ?? 0, vocab: 2 },
		logProbabilities: Float32Array.from(
			times.flatMap((own, row) =>
				Array.from(own).flatMap((time) => [events[row]?.times.length ?? 0, time]),
			),
		),
	});
	const engine = {
		width,
		represent: (histories: readonly Events[]) => pass("represent", histories, new Float32Array()),
		predictor: {
			start: (patients: number) => ({ ...begun, patients }),
			queryWithin: (_: State, events: readonly Events[], times: readonly ArrayLike<number>[]) =>
				pass("queryWithin", events, answersTo(events, times)),
			observe: (_: State, events: readonly Events[]) => pass("observe", events, begun),
		} as unknown as Predictor,
	} as unknown as Engine;
	const calls = scheduler(engine, mostWaiting, () => now);
	/** Makes calls, over a connection of its own where none is given. */
	const client = (signal = new AbortController().signal, connection = {}, address = "") => {
		const { predictor, represent } = calls.callsFor(connection, signal, address);
		return {
			forecast: (events: number, times = [9]) =>
				predictor.queryWithin(begun, [history(events)], [times]),
			embed: (events: number) => represent([history(events)]),
			/** A pass of an attribution: many rows that go on from a state. */
			attribute: () =>
				predictor.observe(
					{ ...begun, memory: { part: new Float32Array(1) } },
					Array.from({ length: 32 }, () => history(31)),
				),
		};
	};
	/** Ends the pass that is done first, in virtual time. */
	async function step(): Promise<void> {
		running.sort((a, b) => a.until - b.until);
		const next = running.shift();
		if (!next) throw new Error("no pass is running");
		now = next.until;
		next.pass.end();
		await settled();
	}
	/** Steps until the promise is settled; how many passes began meanwhile, and how long it took. */
	async function until(promise: Promise<unknown>, most = 1000) {
		const [before, from] = [passes.length, now];
		let isDone = false;
		promise.finally(() => {
			isDone = true;
		});
		while (!isDone && passes.length - before < most) await step();
		return { isDone, passes: passes.length - before, ms: now - from };
	}
	return { calls, client, passes, step, until };
}

const history = (events: number): Events => ({
	tokens: Array(events).fill(1),
	times: Array.from({ length: events }, (_, i) => i),
});

/** Calls again as soon as it is answered, for as long as the test steps. */
async function forever(call: () => Promise<unknown>): Promise<never> {
	for (;;) await call();
}

describe("one forecast among other clients", () => {
	test("waits for no more than each client's share", async () => {
		const { client, until, step, passes } = fakeModel();
		for (let i = 0; i < 8; i++) {
			const { embed } = client();
			void forever(() => embed(100));
		}
		const victim = client();
		for (let i = 0; i < 20; i++) {
			await step();
			const { isDone, passes: count } = await until(victim.forecast(100));
			expect(isDone).toBe(true);
			// At most the rest of this round of 9 clients, and the next.
			expect(count).toBeLessThanOrEqual(2 * 9);
		}
		expect(passes.filter(({ method }) => method === "queryWithin")).toHaveLength(20);
		expect(passes.length).toBeLessThanOrEqual(20 * 11);
	});

	test("overtakes 40 clients whose requests take many large calls", async () => {
		const { client, until, step } = fakeModel({ width: 2 });
		for (let i = 0; i < 40; i++) {
			const { attribute } = client();
			void forever(attribute);
		}
		const victim = client();
		for (let i = 0; i < 10; i++) {
			await step();
			const { isDone, ms } = await until(victim.forecast(100));
			expect(isDone).toBe(true);
			// An eighth of a round of 40 calls, which take 992 ms each on two threads.
			expect(ms).toBeLessThan(4000);
		}
	});

	test("is not the one that is refused when large calls fill the queue", async () => {
		const { client, until } = fakeModel({ mostWaiting: 16 });
		const refused: unknown[] = [];
		for (let i = 0; i < 40; i++)
			client()
				.attribute()
				.catch((error) => refused.push(error));
		const forecast = client().forecast(100);
		expect(await until(forecast)).toMatchObject({ isDone: true });
		await expect(forecast).resolves.toMatchObject({ queries: 1 });
		expect(refused).toHaveLength(24);
		expect(refused[0]).toMatchObject({ status: 503, details: { retry: 1 } });
	});

	test("gets its share even if it is refused repeatedly", async () => {
		const { client, step } = fakeModel({ mostWaiting: 8 });
		const answered = Array.from({ length: 10 }, () => 0);
		for (const i of answered.keys()) {
			const { embed } = client();
			const attempt = () =>
				embed(100).then(
					() => {
						answered[i] = (answered[i] ?? 0) + 1;
					},
					() => setImmediate(),
				);
			void forever(attempt);
		}
		for (let i = 0; i < 300; i++) await step();
		expect(Math.min(...answered)).toBeGreaterThan(0.5 * Math.max(...answered));
	});

	test("does not wait for 300 connections of another address", async () => {
		const { calls, client, until, step } = fakeModel();
		for (let i = 0; i < 300; i++) {
			const { signal } = new AbortController();
			const { represent } = calls.callsFor({}, signal, "198.51.100.7");
			void forever(() => represent([history(100)]));
		}
		const victim = client();
		for (let i = 0; i < 20; i++) {
			await step();
			// The pass that runs, one more of the others, and one by age between.
			expect((await until(victim.forecast(100))).passes).toBeLessThanOrEqual(4);
		}
	});

	test("is not refused because of another address's queue", async () => {
		const { calls, client, until } = fakeModel({ mostWaiting: 16 });
		for (let i = 0; i < 40; i++)
			calls
				.callsFor({}, new AbortController().signal, "198.51.100.7")
				.represent([history(1)])
				.catch(() => {});
		const forecast = client().forecast(1000);
		expect(await until(forecast)).toMatchObject({ isDone: true });
		await expect(forecast).resolves.toMatchObject({ queries: 1 });
	});

	test("does not starve an old call by using a new connection each time", async () => {
		const { client, until } = fakeModel();
		void forever(() => client().forecast(10));
		void forever(() => client().forecast(10));
		const { isDone, ms } = await until(client().embed(1000));
		expect(isDone).toBe(true);
		expect(ms).toBeLessThan(5000 + 2 * 1000);
	});
});

describe("the order", () => {
	test("gives clients similar amounts of work, whatever the size of their calls", async () => {
		const { client, step, passes } = fakeModel();
		for (const events of [68, 168, 968]) {
			const { embed } = client();
			void forever(() => embed(events));
		}
		for (let i = 0; i < 400; i++) await step();
		// A call counts as 32 events more than it has.
		const work = [68, 168, 968].map(
			(size) => passes.filter(({ events }) => events[0] === size).length * (size + 32),
		);
		// A client with small calls waits while a large one runs, and cannot use its share meanwhile.
		expect(Math.max(...work) / Math.min(...work)).toBeLessThan(1.5);
	});

	test("lets a later client overtake one that sent many calls at once", async () => {
		const { client, until, passes } = fakeModel();
		const greedy = {};
		const all = Array.from({ length: 20 }, () => client(undefined, greedy).embed(100));
		// One more of the greedy client's calls before it, and one that starts after it.
		expect((await until(client().embed(100))).passes).toBe(3);
		await until(Promise.all(all));
		expect(passes).toHaveLength(21);
	});

	test("gives every second pass to calls that have waited for 5 s, the oldest first", async () => {
		const { client, until, step, passes } = fakeModel();
		const greedy = client();
		const all = Array.from({ length: 4 }, (_, i) => greedy.embed(1001 + i));
		void forever(() => client().forecast(10));
		await until(Promise.all(all));
		await step();
		const at = passes.filter(({ method }) => method === "represent").map(({ at }) => at);
		expect(at).toHaveLength(4);
		// The first at once. The others are due after a thousand each, but 5 s after they came they are old.
		expect(Math.max(...at)).toBeLessThan(5000 + 2 * 1004 + 30);
		const order = passes.flatMap(({ events: [size = 0] }) => (size > 1000 ? [size] : []));
		expect(order).toEqual([1001, 1002, 1003, 1004]);
	});

	test("leaves a thread free of long calls", async () => {
		const { client, passes, until } = fakeModel({ width: 2 });
		const long = [client().embed(5000), client().embed(5000)];
		expect(passes).toHaveLength(1);
		expect((await until(client().forecast(10))).ms).toBe(10);
		await until(Promise.all(long));
		expect(passes.map(({ at }) => at)).toEqual([0, 0, 5000]);
	});

	test("leaves a thread free of shorter ones only while another address is active", async () => {
		const { client, passes, until } = fakeModel({ width: 2 });
		const from = (address: string) => client(undefined, {}, address);
		await until(Promise.all([from("one").embed(500), from("one").embed(500)]));
		expect(passes.map(({ at }) => at)).toEqual([0, 0]);
		await until(from("another").forecast(10));
		const long = Promise.all([from("one").embed(500), from("one").embed(500)]);
		expect((await until(from("another").forecast(10))).ms).toBe(10);
		await until(long);
		// Until the other has not asked for 10 s.
		await until(from("one").embed(11_000));
		const after = passes.length;
		await until(Promise.all([from("one").embed(500), from("one").embed(500)]));
		const [first, second] = passes.slice(after);
		expect(first?.at).toBe(second?.at);
	});

	test("does not charge a client for work done before others arrived", async () => {
		const { client, until, step } = fakeModel();
		const from = (address: string) => client(undefined, {}, address);
		await until(from("one").embed(100_000));
		void forever(() => from("another").embed(100));
		for (let i = 0; i < 3; i++) await step();
		expect((await until(from("one").forecast(100))).passes).toBeLessThanOrEqual(3);
	});
});

test("a failing call does not affect the next", async () => {
	const { client, passes } = fakeModel();
	const results = Promise.allSettled([1, 2].map((time) => client().forecast(4, [time])));
	passes[0]?.end(new Error("a bad one"));
	await settled();
	passes[1]?.end();
	expect((await results).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

test("a result is processed before the next call starts", async () => {
	const { client, passes } = fakeModel();
	const order: string[] = [];
	const first = client()
		.forecast(4)
		.then(async () => {
			// As a request does that awaits several steps to its answer.
			for (let i = 0; i < 10; i++) await undefined;
			order.push(`used, ${passes.length} started`);
		});
	void client().forecast(4);
	passes[0]?.end();
	await first;
	await settled();
	order.push(`${passes.length} started`);
	expect(order).toEqual(["used, 1 started", "2 started"]);
});

test("an aborted call leaves the queue, and the call that is due last is refused", async () => {
	const { calls, client, passes } = fakeModel({ mostWaiting: 2 });
	const running = client().forecast(1);
	const leaving = new AbortController();
	const left = client(leaving.signal).forecast(8);
	const waiting = client().forecast(64);
	await expect(client().forecast(200)).rejects.toMatchObject({
		status: 503,
		details: { retry: 1 },
	});
	leaving.abort(new Error("gone"));
	await expect(left).rejects.toThrow("gone");
	expect(calls.waiting).toBe(1);
	await expect(client(leaving.signal).forecast(8)).rejects.toThrow("gone");
	passes[0]?.end();
	await running;
	await settled();
	passes[1]?.end();
	expect([...(await waiting).logProbabilities]).toEqual([64, 9]);
	expect(calls.waiting).toBe(0);
	expect(calls.started).toBe(2);
});
