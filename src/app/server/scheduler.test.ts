import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Events } from "../../model/index.js";
import type { Engine } from "./engine/engine.js";
import { scheduler } from "./scheduler.js";

interface Pass {
	readonly events: number;
	/** In virtual ms. */
	readonly start: number;
	readonly until: number;
	end(error?: Error): void;
}

/** Until every promise that is settled has been reacted to, and the next pass has started. */
const settled = async () => {
	for (let turn = 0; turn < 2; turn++) await setImmediate();
};

/** A model whose passes take a virtual ms per event, or end when they are told to. */
function fakeModel({ width = 1, maxWaiting = 1000 } = {}) {
	const passes: Pass[] = [];
	let running: Pass[] = [];
	let now = 0;
	const represent = ([history]: readonly Pick<Events, "times">[]) =>
		new Promise<Float32Array>((resolve, reject) => {
			const events = history?.times.length ?? 0;
			const pass: Pass = {
				events,
				start: now,
				until: now + events,
				end(error) {
					running = running.filter((other) => other !== pass);
					if (error) reject(error);
					else resolve(Float32Array.of(events));
				},
			};
			passes.push(pass);
			running.push(pass);
		});
	const calls = scheduler({ width, represent } as Partial<Engine> as Engine, maxWaiting, () => now);
	/** A call of an address; "victim" is another one than "crowd". */
	const embed = (events: number, address = "crowd", signal = new AbortController().signal) =>
		calls.callsFor(signal, address).represent([{ tokens: [], times: Array(events).fill(0) }]);
	/** Ends the pass that is done first, in virtual time. */
	async function step(): Promise<void> {
		const [next] = running.toSorted((a, b) => a.until - b.until);
		if (!next) throw new Error("no pass is running");
		now = next.until;
		next.end();
		await settled();
	}
	/** Steps until the promise is settled: how many passes began meanwhile, and how long it took. */
	async function until(promise: Promise<unknown>) {
		const [before, from] = [passes.length, now];
		let isDone = false;
		promise.finally(() => {
			isDone = true;
		});
		while (!isDone) await step();
		return { passes: passes.length - before, ms: now - from };
	}
	return { calls, embed, passes, step, until };
}

/** Calls again as soon as it is answered, for as long as the test steps. */
async function forever(call: () => Promise<unknown>): Promise<never> {
	for (;;) await call();
}

test("a call does not wait for 300 others of another address", async () => {
	const { embed, until, step } = fakeModel();
	for (let i = 0; i < 300; i++) void forever(() => embed(100));
	for (let i = 0; i < 20; i++) {
		await step();
		// The pass that runs, and one more of the others.
		expect((await until(embed(100, "victim"))).passes).toBeLessThanOrEqual(3);
	}
});

test("every address gets as many calls, and those of one address run in order", async () => {
	const { embed, until, passes } = fakeModel();
	const first = Array.from({ length: 3 }, (_, i) => embed(101 + i, "a"));
	const second = Array.from({ length: 3 }, (_, i) => embed(201 + i, "b"));
	await until(Promise.all([...first, ...second]));
	expect(passes.map(({ events }) => events)).toEqual([101, 102, 201, 103, 202, 203]);
});

test("long calls leave a thread free while another address is active", async () => {
	const { embed, until, passes } = fakeModel({ width: 2 });
	await until(Promise.all([embed(500), embed(500)]));
	expect(passes.map(({ start }) => start)).toEqual([0, 0]);
	await until(embed(10, "victim"));
	const long = Promise.all([embed(500), embed(500)]);
	expect((await until(embed(10, "victim"))).ms).toBe(10);
	await until(long);
	// Until the other has not called for 10 s.
	await until(embed(11_000));
	await until(Promise.all([embed(500), embed(500)]));
	const [one, other] = passes.slice(-2);
	expect(one?.start).toBe(other?.start);
});

test("when the queue is full, the latest call of the address with the most calls is refused", async () => {
	const { calls, embed, until } = fakeModel({ maxWaiting: 16 });
	const crowd = Promise.allSettled(Array.from({ length: 40 }, () => embed(10)));
	expect(calls.waiting).toBe(16);
	const served = embed(10, "victim");
	expect(calls.waiting).toBe(16);
	await until(served);
	await until(crowd);
	const refused = (await crowd).filter(({ status }) => status === "rejected");
	expect(refused).toHaveLength(24);
	expect(refused[0]).toMatchObject({ reason: { status: 503, details: { retry: 1 } } });
});

test("a failing call does not affect the next", async () => {
	const { embed, passes } = fakeModel();
	const results = Promise.allSettled([embed(4), embed(4)]);
	passes[0]?.end(new Error("a bad one"));
	await settled();
	passes[1]?.end();
	expect((await results).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
});

test("a result is processed before the next call starts", async () => {
	const { embed, passes } = fakeModel();
	const order: string[] = [];
	const first = embed(4).then(async () => {
		// As a request does that awaits several steps to its answer.
		for (let i = 0; i < 10; i++) await undefined;
		order.push(`used, ${passes.length} started`);
	});
	void embed(4);
	passes[0]?.end();
	await first;
	await settled();
	order.push(`${passes.length} started`);
	expect(order).toEqual(["used, 1 started", "2 started"]);
});

test("an aborted call leaves the queue, and makes no further calls", async () => {
	const { calls, embed, until } = fakeModel();
	const leaving = new AbortController();
	const [first, left, last] = [embed(1), embed(8, "crowd", leaving.signal), embed(64)];
	leaving.abort(new Error("gone"));
	await expect(left).rejects.toThrow("gone");
	expect(calls.waiting).toBe(1);
	await expect(embed(8, "crowd", leaving.signal)).rejects.toThrow("gone");
	await until(Promise.all([first, last]));
	expect(await last).toEqual(Float32Array.of(64));
	expect([calls.waiting, calls.started]).toEqual([0, 2]);
});
