import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { parameter } from "../../engine/tensor/index.js";
import { dot } from "../nn/testing/plain.js";
import { conformance } from "../testing/conformance.js";
import * as raindrop from "./raindrop.js";

conformance("raindrop");

const [vocab, places, width, receiver, time] = [9, 7, 3, 2, 4] as const;
const kept = 0.6;

/** Two windows: one padded, with two codes at one time, one of them twice; one full. */
const tokens = [
	[0, 0, 5, 6, 5, 5, 7],
	[8, 5, 7, 5, 6, 3, 7],
] as const;
const days = [
	[0, 0, 0, 3, 3, 3, 9],
	[0, 1, 1, 2, 5, 5, 6],
] as const;
const shown = [
	[0, 0, 1, 1, 1, 1, 1],
	[1, 1, 1, 1, 1, 1, 1],
] as const;

const draw = random(4);
const drawn = (count: number) => Array.from({ length: count }, () => draw.normal());
const layers = [0, 1].map(() =>
	Object.fromEntries(
		Object.entries(raindrop.propagationWeights(vocab, { width, receiver, time })).map(
			([name, { shape }]) => [name, { shape, data: drawn(shape.reduce((a, b) => a * b, 1)) }],
		),
	),
);
const own = { shape: [vocab, width], data: drawn(vocab * width) };
const encodedDay = (day: number) => Array.from({ length: time }, (_, i) => Math.sin(day + 2 * i));

const rowOf = ({ shape, data }: { shape: readonly number[]; data: number[] }, row: number) =>
	data.slice(row * shape[1], (row + 1) * shape[1]);
const key = (...parts: number[]) => parts.join();

/** The paper's equations, sensor by sensor and time by time, for one window. */
function byHand(row: 0 | 1) {
	const seen = tokens[row].flatMap((code, place) =>
		shown[row][place] ? [{ code, day: days[row][place] as number }] : [],
	);
	const sensors = [...new Set(seen.map(({ code }) => code))];
	const times = [...new Set(seen.map(({ day }) => day))];
	const active = (code: number, day: number) =>
		seen.some((event) => event.code === code && event.day === day);
	let h = new Map<string, number[]>();
	let e = new Map<string, number>();
	for (const v of sensors) {
		for (const u of sensors) e.set(key(u, v), 1);
		for (const t of times)
			h.set(
				key(t, v),
				rowOf(own, v).map((x) => (active(v, t) ? Math.max(0, x) : 0)),
			);
	}
	for (const [i, layer] of layers.entries()) {
		const { message, receiver: r, dependency: D } = layer as Required<typeof layer>;
		if (i > 0) {
			const heaviest = [...e.values()].sort((a, b) => b - a);
			const least = heaviest[Math.floor(kept * heaviest.length) - 1];
			for (const [edge, weight] of e) if (weight < least) e.set(edge, 0);
		}
		const alpha = (u: number, v: number, t: number) => {
			const side = [...rowOf(r as never, v), ...encodedDay(t)];
			const met = (h.get(key(t, u)) as number[]).map((x, k) => x * dot(rowOf(D as never, k), side));
			return 1 / (1 + Math.exp(-met.reduce((a, b) => a + b, 0)));
		};
		const nextH = new Map<string, number[]>();
		const nextE = new Map<string, number>();
		for (const v of sensors) {
			const w_v = rowOf(message as never, v);
			for (const t of times) {
				const arrives = sensors
					.filter((u) => active(u, t))
					.map(
						(u) =>
							dot(h.get(key(t, u)) as number[], rowOf(message as never, u)) *
							alpha(u, v, t) *
							(e.get(key(u, v)) as number),
					)
					.reduce((a, b) => a + b, 0);
				const before = h.get(key(t, v)) as number[];
				nextH.set(
					key(t, v),
					before.map((x, k) => Math.max(0, x + arrives * w_v[k])),
				);
			}
			for (const u of sensors) {
				const own = seen.filter(({ code }) => code === u).map(({ day }) => alpha(u, v, day));
				const mean = own.reduce((a, b) => a + b, 0) / own.length;
				nextE.set(key(u, v), (e.get(key(u, v)) as number) * mean);
			}
		}
		[h, e] = [nextH, nextE];
	}
	return { sensors, h, e };
}

const window = {
	tokens: parameter("tokens", [2, places], "int32"),
	...{ days: parameter("days", [2, places], "float64"), gaps: undefined as never },
	...{ mask: undefined as never, shown: parameter("shown", [2, places], "float64") },
};
const fed = { tokens: tokens.flat(), days: days.flat(), shown: shown.flat() };
const sensors = raindrop.sensorsOf(window);

describe("messages between sensors", () => {
	test("are those of the paper's equations, layer after layer, and edges are re-weighted by them", async () => {
		const specs = raindrop.observationWeights(vocab, width);
		expect(specs.observation?.shape).toEqual(own.shape);
		const times = parameter("times", [2, places, time], "float64");
		let now = {
			known: raindrop.observedStates(() => parameter("own", own.shape, "float64"), sensors),
			edges: raindrop.completeGraph(sensors),
		};
		const values: Record<string, ArrayLike<number>> = {
			...fed,
			own: own.data,
			times: days.flat().flatMap(encodedDay),
		};
		for (const [i, layer] of layers.entries()) {
			const p = (name: string) => {
				values[`${i}.${name}`] = layer[name]?.data ?? [];
				return parameter(`${i}.${name}`, layer[name]?.shape ?? [], "float64");
			};
			const edges = i === 0 ? now.edges : raindrop.prune(now.edges, sensors, kept);
			now = raindrop.propagate(p, sensors, { ...now, edges }, times);
		}
		const { known, edges } = await evaluate(now, values);
		for (const row of [0, 1] as const) {
			const wanted = byHand(row);
			const first = (code: number) =>
				tokens[row].findIndex((token, place) => token === code && shown[row][place] === 1);
			for (let t = 0; t < places; t++)
				for (let v = 0; v < places; v++) {
					const code = tokens[row][v] as number;
					const isSensor = shown[row][v] === 1 && first(code) === v;
					const at = ((row * places + t) * places + v) * width;
					const got = known.slice(at, at + width);
					const expected =
						shown[row][t] && isSensor
							? (wanted.h.get(key(days[row][t] as number, code)) as number[])
							: [0, 0, 0];
					for (const [k, x] of expected.entries()) expect(got[k]).toBeCloseTo(x, 10);
					const u = tokens[row][t] as number;
					const joins = isSensor && shown[row][t] === 1 && first(u) === t;
					expect(edges[(row * places + t) * places + v]).toBeCloseTo(
						joins ? (wanted.e.get(key(u, code)) as number) : 0,
						10,
					);
				}
		}
		// Something was pruned, and something was not.
		const worth = [...byHand(1).e.values()];
		expect(worth.filter((weight) => weight === 0)).toHaveLength(25 - 15);
	});
});

describe("the distance between the graphs of two windows", () => {
	test("is the mean difference of the edges that both have", async () => {
		const weights = Array.from({ length: 2 * places * places }, () => draw.uniform());
		const edges = parameter("edges", [2, places, places], "float64");
		const { distance } = await evaluate(
			{ distance: raindrop.graphDistance(sensors, edges) },
			{ ...fed, edges: weights },
		);
		// Codes 5, 6 and 7 are in both, at these places first.
		const [one, two] = [
			[2, 3, 6],
			[1, 4, 2],
		] as const;
		const differences = [0, 1, 2].flatMap((u) =>
			[0, 1, 2].map((v) =>
				Math.abs(weights[one[u] * places + one[v]] - weights[(places + two[u]) * places + two[v]]),
			),
		);
		// Each window is held against the other.
		expect(relativeError(distance, [differences.reduce((a, b) => a + b, 0) / 9])).toBeLessThan(
			1e-10,
		);
	});
});
