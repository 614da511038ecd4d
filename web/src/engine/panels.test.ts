import { afterAll, expect, test } from "vitest";
import { smallModel } from "../../../src/model/trajgpt/testing/small-model.js";
import { attributeCodeProbability } from "../../../src/predict/index.js";
import { driversAt } from "./drivers.js";
import { curveTimes, initialDate, panelsOf, queriesFor, rankOf } from "./panels.js";

const model = smallModel();
afterAll(() => model.dispose());

const events = Array.from({ length: 20 }, (_, at) => ({
	id: `e${at}`,
	token: 5 + (at % 6),
	time: 100 + 10 * Math.floor(at / 2),
}));
const span = [100, 190] as const;
const recorded = new Set(events.map(({ time }) => time));

test("curve times are evenly spaced, and snap to recorded events", () => {
	const along = curveTimes(events, span, 191);
	expect(along).toHaveLength(36);
	const step = 90 / 35;
	expect(along.filter((time) => recorded.has(time))).toEqual([...recorded]);
	for (const [at, time] of along.entries())
		if (recorded.has(time)) expect(Math.abs(time - (100 + at * step))).toBeLessThan(step / 2);
		else expect(time).toBeCloseTo(100 + at * step, 9);
	expect(curveTimes([], [0, 70], 71)).toEqual(Array.from({ length: 36 }, (_, at) => 2 * at));
});

test("curve times are denser before an early date, and stay while it moves a little", () => {
	const [early, later] = [curveTimes([], [0, 70], 18), curveTimes([], [0, 70], 34)];
	expect(early).toEqual(Array.from({ length: 18 }, (_, at) => at));
	expect(later).toEqual(Array.from({ length: 34 }, (_, at) => at));
	expect(curveTimes([], [0, 70], 17)).toHaveLength(34);
	expect(curveTimes([], [0, 70], 36)).toEqual(Array.from({ length: 18 }, (_, at) => 2 * at));
	expect(curveTimes([], [0, 70], 1e-6)).toEqual([0]);
	for (const date of [-1, 0]) expect(curveTimes([], [0, 70], date)).toEqual([]);
	expect(curveTimes(events, [100, 100], 120)).toEqual([]);
});

test("a few curve times lead to a date long after the span", () => {
	const after = (date: number) => curveTimes([], [0, 70], date).slice(36);
	expect(after(72)).toEqual([]);
	expect(after(74)).toEqual([72]);
	expect(after(75)).toEqual([70 + 5 / 3, 70 + 10 / 3]);
	expect(after(120)).toEqual([80, 90, 100, 110]);
	expect(curveTimes(events, span, 240).slice(36)).toEqual([200, 210, 220, 230]);
	expect(curveTimes([], [0, 70], 120).slice(0, 36)).toEqual(curveTimes([], [0, 70], 71));
});

test("queries cover the curve, the horizon beyond the date, and the later events within it", () => {
	const along = curveTimes(events, span, 155);
	const { curve, later, times, moreLater } = queriesFor(events, along, 155, 33);
	expect(curve[0]).toBe(100);
	expect(curve).toContain(156);
	expect(curve.at(-1)).toBe(189);
	expect(curve.toSorted((a, b) => a - b)).toEqual(curve);
	expect(later.map(({ time }) => time)).toEqual([160, 160, 170, 170, 180, 180]);
	expect(moreLater).toBe(false);
	expect(times).toHaveLength(curve.length + 3);
	expect(times.length).toBeLessThanOrEqual(96);
});

test("a date before all events queries itself and later times", () => {
	const { curve } = queriesFor(events, curveTimes(events, span, 100), 99, 8);
	expect(curve).toEqual([100, 101, 102, 103, 104, 105, 106, 107, 108]);
});

test("records of the index day are known, whatever their time of day", () => {
	const timed = [155, 155.9, 156, 156.2].map((time, at) => ({ id: `e${at}`, token: 5, time }));
	const laterThan = (date: number) => queriesFor(timed, [], date, 10).later.map(({ id }) => id);
	expect(laterThan(155)).toEqual(["e2", "e3"]);
	expect(laterThan(155.95)).toEqual(["e2", "e3"]);
	expect(laterThan(154.5)).toEqual(["e0", "e1", "e2", "e3"]);
});

test("panels rank codes without special tokens", () => {
	const row = Float32Array.from([9, 9, 9, 9, 9, -3, -1, -2, -1]);
	expect([5, 6, 7, 8].map((token) => rankOf(row, token))).toEqual([4, 1, 3, 2]);
	const queries = queriesFor(events.slice(0, 2), [], 99, 11);
	const { top, later, curve } = panelsOf(
		queries,
		{ date: 100, row: () => row },
		{
			tokens: [],
			times: [],
			birthEvents: 0,
		},
	);
	expect(top.map(({ token }) => token)).toEqual([6, 8, 7, 5]);
	expect(later.map(({ rank, hit }) => [rank, hit])).toEqual([
		[4, true],
		[1, true],
	]);
	expect(curve(6).probability[0]).toBeCloseTo(Math.exp(-1), 6);
});

test("a file is predicted from its last record, a sample after 50 events or two thirds of fewer", () => {
	const many = Array.from({ length: 80 }, (_, at) => ({ id: `${at}`, token: 5, time: at }));
	const dates = (sample: string | null) =>
		[80, 60, 9, 1, 0].map((count) => initialDate({ sample, events: many.slice(0, count) }));
	expect(dates(null)).toEqual([79, 59, 8, 0, 0]);
	expect(dates("s1")).toEqual([49.5, 49.5, 5.5, 1, 0]);
});

test("drivers equal the library's attribution of the last events", async () => {
	const history = {
		tokens: [3, ...Array.from({ length: 40 }, (_, at) => 5 + ((at * 5) % 6))],
		times: [0, ...Array.from({ length: 40 }, (_, at) => 400 + 3 * at)],
		birthEvents: 1 as const,
	};
	const date = 500;
	const calls = {
		start: async (patients: number) => model.start(patients),
		select: async (...values: Parameters<typeof model.select>) => model.select(...values),
		observe: model.observe,
		queryWithin: model.queryWithin,
	};
	const drivers = await driversAt(calls, history, date);
	const { effect } = await attributeCodeProbability(model, history, { codes: [7], times: [date] });
	expect(drivers).toHaveLength(31);
	for (const { at, effect: own } of drivers) expect(own[7]).toBeCloseTo(effect[at]!, 5);
});
