import { expect, test } from "vitest";
import type { Patient } from "../data/patient.js";
import { Asking, type Request } from "./asking.js";

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

/** Answers every question alike, but for those about a date that it cannot bear. */
function fickleModel(bad: number) {
	const vocab = 8;
	const state = {} as never;
	return {
		start: async () => state,
		observe: async () => state,
		queryWithin: async (_: unknown, __: unknown, [times]: readonly ArrayLike<number>[]) => {
			const asked = Array.from(times ?? []);
			if (asked.includes(bad)) throw new Error("the worker ended");
			return { vocab, logProbabilities: new Float32Array(asked.length * vocab) } as never;
		},
	};
}

test("a question that fails is told of, and the one that waits behind it is answered", async () => {
	const told: string[] = [];
	const done = new Promise<void>((resolve) => {
		const asking = new Asking(fickleModel(2.5), patient, {
			tell: ({ request, panels }) => {
				told.push(`${request.date} ${panels.questions.date}`);
				if (request.date === 3.5) {
					asking.stop();
					resolve();
				}
			},
			fail: (message) => told.push(message),
			rest: () => {},
		});
		asking.ask(at(2.5));
		asking.ask(at(3.5));
	});
	await done;
	expect(told).toEqual(["the worker ended", "3.5 3.5"]);
});

test("a history without its events is asked from the birth; without that there is nothing to ask from", async () => {
	const told = (birth: number | null) =>
		new Promise<string>((resolve) => {
			const own = { ...patient, birth };
			const asking = new Asking(fickleModel(Number.NaN), own, {
				tell: ({ before }) => {
					asking.stop();
					resolve(before ? "beside what it was" : "as it was");
				},
				fail: (message) => {
					asking.stop();
					resolve(message);
				},
				rest: () => {},
			});
			asking.ask({ ...at(3.5), patient: own, events: [] });
		});
	expect(await told(0)).toBe("beside what it was");
	expect(await told(null)).toBe("without any event nothing is known to ask from; add one");
});

test("when nobody asks, the dates with nothing and with one event known are asked about", async () => {
	const model = fickleModel(Number.NaN);
	const known: number[] = [];
	const queryWithin: typeof model.queryWithin = (state, events, times) => {
		const [own] = events as readonly { tokens: readonly number[] }[];
		known.push(own?.tokens.length ?? 0);
		return model.queryWithin(state, events, times);
	};
	await new Promise<void>((resolve) => {
		const asking = new Asking({ ...model, queryWithin }, patient, {
			tell: () => {},
			fail: () => {},
			rest: (ready) => {
				if (ready) resolve();
			},
		});
		asking.ask(at(3.5));
	});
	expect(known).toEqual([3, 0, 1]);
});
