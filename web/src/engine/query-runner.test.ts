import { expect, test } from "vitest";
import type { Patient } from "../data/patient.js";
import { QueryRunner, type Request } from "./query-runner.js";

const patient: Patient = {
	sample: "s1",
	name: "Sample 1",
	sex: null,
	birth: null,
	events: [1, 2, 3].map((time) => ({ id: `e${time}`, token: 5, time })),
};
const at = (date: number): Request => ({
	...{ patient, events: patient.events, date, horizon: 1, zoom: null, since: 0 },
});

/** Predicts the same at every time, and fails at one. */
function failingModel(bad: number) {
	const vocab = 8;
	const state = {} as never;
	return {
		start: async () => state,
		observe: async () => state,
		queryWithin: async (_: unknown, __: unknown, [times]: readonly ArrayLike<number>[]) => {
			const queried = Array.from(times ?? []);
			if (queried.includes(bad)) throw new Error("the worker ended");
			return { vocab, logProbabilities: new Float32Array(queried.length * vocab) } as never;
		},
	};
}

test("reports a request that fails, and runs the one that waits behind it", async () => {
	const outcomes: string[] = [];
	const done = new Promise<void>((resolve) => {
		const runner = new QueryRunner(failingModel(3.125), patient, {
			onResult: ({ request, panels }) => {
				outcomes.push(`${request.date} ${panels.queries.date}`);
				if (request.date === 3.5) {
					runner.stop();
					resolve();
				}
			},
			onError: (message) => outcomes.push(message),
			onIdle: () => {},
		});
		runner.submit(at(2.5));
		runner.submit(at(3.5));
	});
	await done;
	expect(outcomes).toEqual(["the worker ended", "3.5 3.5"]);
});

test("predicts from the birth alone when all events are removed, and fails without a birth", async () => {
	const outcomes = (birth: number | null) =>
		new Promise<string>((resolve) => {
			const own = { ...patient, birth };
			const runner = new QueryRunner(failingModel(Number.NaN), own, {
				onResult: ({ before }) => {
					runner.stop();
					resolve(before ? "edited" : "unedited");
				},
				onError: (message) => {
					runner.stop();
					resolve(message);
				},
				onIdle: () => {},
			});
			runner.submit({ ...at(3.5), patient: own, events: [] });
		});
	expect(await outcomes(0)).toBe("edited");
	expect(await outcomes(null)).toBe("the history is empty and the birth is unknown; add an event");
});

test("when idle, queries the dates with zero and one known event", async () => {
	const model = failingModel(Number.NaN);
	const known: number[] = [];
	const queryWithin: typeof model.queryWithin = (state, events, times) => {
		const [own] = events as readonly { tokens: readonly number[] }[];
		known.push(own?.tokens.length ?? 0);
		return model.queryWithin(state, events, times);
	};
	await new Promise<void>((resolve) => {
		const runner = new QueryRunner({ ...model, queryWithin }, patient, {
			onResult: () => {},
			onError: () => {},
			onIdle: (ready) => {
				if (ready) resolve();
			},
		});
		runner.submit(at(3.5));
	});
	expect(known).toEqual([3, 0, 1]);
});
