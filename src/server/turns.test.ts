import { expect, test } from "vitest";
import type { Answers, Events, Predictor, State } from "../models/index.js";
import { turns } from "./turns.js";

const begun: State = {
	patients: 1,
	tokens: Int32Array.of(1),
	times: Float64Array.of(Number.NaN),
	memory: {},
};

/** Answers with the number of events and the time, when it is told to. */
function slowPredictor() {
	const passes: { rows: number; end(error?: Error): void }[] = [];
	const along = (_: State, events: readonly Events[], times: readonly ArrayLike<number>[]) =>
		new Promise<Answers>((resolve, reject) => {
			const questions = times[0]?.length ?? 0;
			const answers = {
				...{ patients: events.length, questions, vocab: 2 },
				logProbabilities: Float32Array.from(
					times.flatMap((own, row) =>
						Array.from(own).flatMap((time) => [events[row]?.times.length ?? 0, time]),
					),
				),
			};
			passes.push({
				rows: events.length,
				end: (error) => (error ? reject(error) : resolve(answers)),
			});
		});
	const predictor = {
		vocab: 2,
		along,
		start: (patients: number) => ({ ...begun, patients }),
		observe: async () => begun,
	} as unknown as Predictor;
	return { predictor, passes };
}

const history = (events: number): Events => ({
	tokens: Array(events).fill(1),
	times: Array.from({ length: events }, (_, i) => i),
});
const alive = new AbortController().signal;
/** Until everything that was settled has been heard of. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("two of like length are asked in one pass, and each hears its own answer", async () => {
	const { predictor, passes } = slowPredictor();
	const line = turns({ predictor, width: 1 }, 100);
	const ask = (events: number, times: number[]) =>
		line.predictor(alive).along(begun, [history(events)], [times]);
	const first = ask(10, [50]);
	const [one, other, two] = [ask(10, [61, 62]), ask(30, [99]), ask(10, [71, 72, 73])];
	expect(passes.map(({ rows }) => rows)).toEqual([1]);
	passes[0]?.end();
	await first;
	await settled();
	passes[1]?.end();
	expect([...(await one).logProbabilities]).toEqual([10, 61, 10, 62]);
	expect([...(await two).logProbabilities]).toEqual([10, 71, 10, 72, 10, 73]);
	expect((await two).questions).toBe(3);
	await expect.poll(() => passes.length).toBe(3);
	passes[2]?.end();
	expect([...(await other).logProbabilities]).toEqual([30, 99]);
	expect(passes.map(({ rows }) => rows)).toEqual([1, 2, 1]);
	expect(line.counts).toEqual({ turns: 3, calls: 4 });
});

test("where one spoils a pass, the other is answered all the same", async () => {
	const { predictor, passes } = slowPredictor();
	const line = turns({ predictor, width: 1 }, 100);
	const asked = [1, 2, 3].map((time) => line.predictor(alive).along(begun, [history(4)], [[time]]));
	const results = Promise.allSettled(asked);
	passes[0]?.end();
	await asked[0];
	await settled();
	passes[1]?.end(new Error("a bad one"));
	for (const [i, end] of [new Error("the bad one"), undefined].entries()) {
		await expect.poll(() => passes.length).toBe(3 + i);
		passes[2 + i]?.end(end);
	}
	expect((await results).map(({ status }) => status)).toEqual([
		...["fulfilled", "rejected", "fulfilled"],
	]);
});

test("what is given up is not asked, and what is too much is refused", async () => {
	const { predictor, passes } = slowPredictor();
	const line = turns({ predictor, width: 1 }, 2);
	const ask = (signal: AbortSignal, events: number) =>
		line.predictor(signal).along(begun, [history(events)], [[9]]);
	const running = ask(alive, 1);
	const giving = new AbortController();
	const given = ask(giving.signal, 8);
	const waiting = ask(alive, 64);
	await expect(ask(alive, 200)).rejects.toMatchObject({ status: 503, retry: 1 });
	giving.abort(new Error("gone"));
	await expect(given).rejects.toThrow("gone");
	expect(line.waiting).toBe(1);
	await expect(ask(giving.signal, 8)).rejects.toThrow("gone");
	passes[0]?.end();
	await running;
	await expect.poll(() => passes.length).toBe(2);
	passes[1]?.end();
	expect([...(await waiting).logProbabilities]).toEqual([64, 9]);
	expect(line.waiting).toBe(0);
});
