import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, evaluatorOf, relativeError } from "../../engine/runtime/testing/evaluate.js";
import * as graph from "../../engine/tensor/index.js";
import { type EventBatch, lossFeeds, lossTerms } from "../model.js";
import { type TrajgptConfig, trajgptConfig } from "./config.js";
import { slotValues, trajgpt } from "./index.js";
import { network, type Slots } from "./network.js";

type Values = Record<string, ArrayLike<number>>;

const vocab = 12;
const small = (more: Partial<TrajgptConfig> = {}): TrajgptConfig =>
	trajgptConfig.parse({
		...{ vocab, layers: 2, heads: 2, dim: 8, key: 6, value: 8, ff: 10 },
		...{
			temperature: 2,
			decayUnitDays: 1,
			shortestPeriodDays: 0.5,
			longestPeriodDays: 50,
		},
		...more,
	});

const everyKind = [
	...(["event", "time", "fixed"] as const).flatMap((decay) =>
		(["rms", "layer"] as const).map((norm) => ({ decay, norm, position: "time" as const })),
	),
	...(["time", "index", "absolute"] as const).map((position) => ({
		...({ decay: "fixed-time", norm: "rms" } as const),
		position,
	})),
];

/** Weights as after some training: decays that depend on the data too. */
function weightsOf(config: TrajgptConfig): Values {
	const draw = random(5);
	return Object.fromEntries(
		[...trajgpt.init(config, draw)].map(([name, { data }]) => [
			name,
			name.endsWith(".decay") ? Float64Array.from(data, () => 0.5 * draw.normal()) : data,
		]),
	);
}

const symbolsOf = (config: TrajgptConfig, dtype: graph.FloatType) =>
	Object.fromEntries(
		[...trajgpt.init(config, random(5))].map(([name, { shape }]) => [
			name,
			graph.parameter(name, shape, dtype),
		]),
	);

/** One row of events. */
function history(length: number, seed = 1): EventBatch {
	const draw = random(seed);
	let time = 0;
	return {
		rows: 1,
		length,
		tokens: Int32Array.from({ length }, () => 6 + draw.integer(vocab - 6)),
		times: Float64Array.from({ length }, () => {
			time += 3 * draw.uniform();
			return time;
		}),
		lengths: Int32Array.of(length),
	};
}

const slotsOf = (prefix: string, rows: number, length: number, dtype: graph.FloatType): Slots => ({
	tokens: graph.input(`${prefix}.tokens`, [rows, length], "int32"),
	times: graph.input(`${prefix}.times`, [rows, length], "float64"),
	gaps: graph.input(`${prefix}.gaps`, [rows, length], dtype),
});

const under = (prefix: string, values: object): Values =>
	Object.fromEntries(Object.entries(values).map(([name, data]) => [`${prefix}.${name}`, data]));

interface Slot {
	readonly token: number;
	readonly time: number;
	readonly gap: number;
	readonly mask?: number;
}

/** The next-event slots of a batch of one row. */
function slotList(batch: EventBatch): Slot[] {
	const { tokens, times } = slotValues(batch);
	return Array.from(tokens, (token, n) => ({
		token,
		time: times[n],
		gap: n === 0 ? 0 : times[n] - times[n - 1], // in float64
	}));
}

const columns = (list: readonly Slot[]) => ({
	tokens: list.map((s) => s.token),
	times: list.map((s) => s.time),
	gaps: list.map((s) => s.gap),
});

interface Asked {
	readonly questions?: readonly Slot[];
	readonly read?: "before" | "after";
	readonly asNextEvent?: boolean;
	/** What an earlier call ended with. */
	readonly from?: {
		readonly states: ArrayLike<number>;
		readonly counts: ArrayLike<number>;
		readonly seen: ArrayLike<number>;
	};
	readonly dtype?: graph.FloatType;
}

/** Runs the network over one row of slots. */
async function run(
	config: TrajgptConfig,
	slots: readonly Slot[],
	{ questions, read = "before", asNextEvent, from, dtype = "float64" }: Asked = {},
) {
	const { layers, heads, key, value } = config;
	const masks = slots.some((s) => s.mask !== undefined);
	const out = network(config, symbolsOf(config, dtype), {
		slots: slotsOf("slots", 1, slots.length, dtype),
		...(masks && { mask: graph.input("mask", [1, slots.length], dtype) }),
		...(from && {
			states: graph
				.input("states", [layers, heads, key / heads, value / heads], dtype)
				.split(0, new Array<number>(layers).fill(1)),
			counts: graph.input("counts", [1, config.copies, 1, vocab], dtype),
			seen: graph.input("seen", [1, 1], dtype),
		}),
		...(questions && { queries: { ...slotsOf("asked", 1, questions.length, dtype), read } }),
		asNextEvent,
	});
	const outputs: Record<string, graph.Tensor> = {
		logits: out.logits as graph.Tensor,
		hidden: out.hidden as graph.Tensor,
		newStates: graph.stack(out.states, 0),
		...(out.counts && { newCounts: out.counts }),
		...(out.seen && { newSeen: out.seen }),
		...(out.queryLogits && { answers: out.queryLogits }),
	};
	const values = await evaluate(outputs, {
		...weightsOf(config),
		...under("slots", columns(slots)),
		...(questions && under("asked", columns(questions))),
		...from,
		mask: slots.map((s) => s.mask ?? 1),
	});
	const { logits = [], newStates = [], newCounts = [], newSeen = [], answers = [] } = values;
	return { logits, states: newStates, counts: newCounts, seen: newSeen, answers };
}

const firstSlots = (logits: readonly number[], count: number) => logits.slice(0, count * vocab);
const slot = (logits: readonly number[], n: number) => logits.slice(n * vocab, (n + 1) * vocab);

const exact = 1e-12;

describe.each(everyKind)("decay $decay, norm $norm, position $position", (kind) => {
	const config = small(kind);
	const events = history(9);
	const slots = slotList(events);

	test("causality: an event changes nothing before it, and something after", async () => {
		const { logits } = await run(config, slots);
		const n = 4;
		const otherToken = { ...events, tokens: events.tokens.map((t, i) => (i === n ? t ^ 1 : t)) };
		const token = (await run(config, slotList(otherToken))).logits;
		// Slot n asks for event n, so it does not see its token, but it knows its time.
		expect(relativeError(firstSlots(token, n + 1), firstSlots(logits, n + 1))).toBeLessThan(exact);
		expect(relativeError(slot(token, n + 1), slot(logits, n + 1))).toBeGreaterThan(1e-3);
		expect(relativeError(slot(token, 8), slot(logits, 8))).toBeGreaterThan(1e-6);
		const later = { ...events, times: events.times.map((t, i) => (i >= n ? t + 0.7 : t)) };
		const time = (await run(config, slotList(later))).logits;
		expect(relativeError(firstSlots(time, n), firstSlots(logits, n))).toBeLessThan(exact);
		expect(relativeError(slot(time, n), slot(logits, n))).toBeGreaterThan(1e-6);
	});

	test("padding changes nothing, after a row's end or between its slots", async () => {
		const { logits, states } = await run(config, slots);
		const filler = { token: 0, time: 77, gap: 5 };
		const after = await run(config, [...slots, filler, filler]);
		expect(relativeError(firstSlots(after.logits, 9), logits)).toBeLessThan(exact);
		const masked = [...slots.slice(0, 4), { ...filler, mask: 0 }, ...slots.slice(4)];
		const between = await run(config, [...masked, { ...filler, mask: 0 }]);
		expect(relativeError(between.states, states)).toBeLessThan(exact);
		const kept = [
			...between.logits.slice(0, 4 * vocab),
			...between.logits.slice(5 * vocab, -vocab),
		];
		expect(relativeError(kept, logits)).toBeLessThan(exact);
	});

	test("a query about the next event equals its slot, and does not change the state", async () => {
		const alone = await run(config, slots);
		const asked = await run(config, slots, { questions: slots, asNextEvent: true });
		expect(relativeError(asked.answers, alone.logits)).toBeLessThan(exact);
		expect(relativeError(asked.logits, alone.logits)).toBeLessThan(exact);
		expect(relativeError(asked.states, alone.states)).toBeLessThan(exact);
		const others = slots.map((s) => ({ token: 6, time: s.time + 3, gap: s.gap + 3 }));
		const elsewhere = await run(config, slots, { questions: others });
		expect(relativeError(elsewhere.logits, alone.logits)).toBeLessThan(exact);
		expect(relativeError(elsewhere.answers, alone.logits)).toBeGreaterThan(1e-3);
	});

	test("queries after the last slot equal the slot that would follow", async () => {
		const { logits } = await run(config, slots);
		const [following, ...rest] = slots.slice(6) as [Slot, ...Slot[]];
		const asked = await run(config, slots.slice(0, 6), {
			questions: [following, ...rest],
			read: "after",
			asNextEvent: true,
		});
		expect(relativeError(slot(asked.answers, 0), slot(logits, 6))).toBeLessThan(exact);
	});

	test("a history fed in two parts, with the state carried, is the history fed at once", async () => {
		const whole = await run(config, slots);
		const first = await run(config, slots.slice(0, 4));
		const second = await run(config, slots.slice(4), { from: first });
		expect(relativeError([...first.logits, ...second.logits], whole.logits)).toBeLessThan(exact);
		expect(relativeError(second.states, whole.states)).toBeLessThan(exact);
		expect(relativeError(second.counts, whole.counts)).toBeLessThan(exact);
		expect(second.seen).toEqual(config.position === "time" ? [] : [9]);
	});

	test("the whole loss has the gradient that differences show", async () => {
		const batch: EventBatch = {
			rows: 2,
			length: 5,
			tokens: Int32Array.of(3, 7, 8, 7, 10, 5, 6, 9, 0, 0),
			times: Float64Array.of(-20, 1, 1, 4.5, 6, 2, 3, 8, 8, 8),
			lengths: Int32Array.of(5, 3),
		};
		const symbols = symbolsOf(config, "float64");
		const { horizon } = trajgpt.objectives;
		const { terms } = lossTerms(trajgpt, config, horizon, symbols, batch, false);
		expect(terms.map(({ name }) => name)).toEqual(["next", "horizon"]);
		const loss = terms.map(({ total }) => total).reduce((a, b) => a.add(b));
		const names = Object.keys(symbols);
		const slopes = graph.gradients(loss, Object.values(symbols));
		const program = await evaluatorOf({
			loss,
			...Object.fromEntries(names.map((name, i) => [`d ${name}`, slopes[i]])),
		} as Record<string, graph.Tensor>);
		const weights = weightsOf(config);
		const { feeds, targets } = lossFeeds(
			...([trajgpt, config, horizon, batch, { random: random(3), horizon: 3 }, false] as const),
		);
		expect(targets).toEqual({ next: 7, horizon: expect.any(Number) });
		const values = { ...feeds, ...weights };
		const result = await program.run(values);
		const step = 1e-5;
		for (const name of names) {
			const gradient = result[`d ${name}`];
			const steepest = gradient.reduce(
				(best, g, i) => (Math.abs(g) > Math.abs(gradient[best]) ? i : best),
				0,
			);
			expect(Math.abs(gradient[steepest]), name).toBeGreaterThan(1e-6);
			for (const at of new Set([steepest, Math.floor(gradient.length / 3)])) {
				const moved = async (by: number) => {
					const data = Float64Array.from(weights[name]);
					data[at] += by;
					return (await program.run({ ...values, [name]: data })).loss?.[0];
				};
				const slope = ((await moved(step)) - (await moved(-step))) / (2 * step);
				expect(Math.abs(gradient[at] - slope), `${name}[${at}]`).toBeLessThan(
					1e-7 * Math.max(1, Math.abs(slope)),
				);
			}
		}
		await program.dispose();
	});
});

test("over several chunks, and in float32, the laws still hold", async () => {
	const config = small();
	const slots = slotList(history(150));
	const alone = await run(config, slots);
	const asked = await run(config, slots, { questions: slots });
	expect(relativeError(asked.answers, alone.logits)).toBeLessThan(exact);
	const changed = slots.map((s, n) => (n === 100 ? { ...s, token: s.token ^ 1 } : s));
	const other = await run(config, changed);
	expect(relativeError(firstSlots(other.logits, 100), firstSlots(alone.logits, 100))).toBeLessThan(
		exact,
	);
	expect(relativeError(slot(other.logits, 149), slot(alone.logits, 149))).toBeGreaterThan(1e-9);
	const short = await run(config, slots, { questions: slots, dtype: "float32" });
	expect(relativeError(short.logits, alone.logits)).toBeLessThan(1e-5);
	expect(relativeError(short.answers, short.logits)).toBeLessThan(1e-5);
});

describe("evolving a state, with keys of zero so that nothing is added", () => {
	/** The state after slots that all hold one token, so that the gate is the same in each. */
	async function evolved(decay: TrajgptConfig["decay"], gaps: readonly number[]) {
		const config = small({ layers: 1, decay, gap: "rotary" });
		const weights = weightsOf(config);
		const n = gaps.length;
		const state = [1, config.heads, config.key / config.heads, config.value / config.heads];
		const { states } = network(config, symbolsOf(config, "float64"), {
			slots: slotsOf("next", 1, n, "float64"),
			states: [graph.input("states", state, "float64")],
		});
		const draw = random(2);
		const { after } = await evaluate(
			{ after: states[0] },
			{
				...weights,
				"layers.0.key": new Float64Array((weights["layers.0.key"] as Float32Array).length),
				states: Array.from({ length: state.reduce((a, b) => a * b) }, () => draw.normal()),
				...under("next", { tokens: gaps.map(() => 7), times: gaps.map((_, i) => i), gaps }),
			},
		);
		return after;
	}

	test("decay by time: in two steps, or in ninety, equals one", async () => {
		const once = await evolved("time", [4.5]);
		expect(relativeError(await evolved("time", [1.25, 3.25]), once)).toBeLessThan(1e-13);
		const parts = Array.from({ length: 90 }, () => 0.05);
		expect(relativeError(await evolved("time", parts), once)).toBeLessThan(1e-13);
		expect(relativeError(await evolved("time", [4.4]), once)).toBeGreaterThan(1e-3);
	});

	test("a fixed decay by time: at the rates of one that is learned, before it is", async () => {
		const once = await evolved("fixed-time", [4.5]);
		expect(relativeError(await evolved("fixed-time", [1.25, 3.25]), once)).toBeLessThan(1e-13);
		const draw = random(2);
		// Heads of 3 × 4, whose logits are 1 and 6; τ is 2.
		const wanted = Array.from({ length: 24 }, (_, i) => {
			const rate = -Math.log1p(Math.exp(i < 12 ? -1 : -6)) / 2;
			return Math.exp(4.5 * rate) * draw.normal();
		});
		expect(relativeError(once, wanted)).toBeLessThan(1e-13);
	});

	test("decay by event: two steps are two, however long", async () => {
		const once = await evolved("event", [4.5]);
		expect(relativeError(await evolved("event", [1.25, 3.25]), once)).toBeGreaterThan(1e-3);
		expect(relativeError(await evolved("event", [0.1]), once)).toBe(0);
	});
});

test("position by index is position by time where a slot's time is its index", async () => {
	const kind = { decay: "event", gap: "rotary", copies: 0 } as const;
	const slots = slotList(history(9));
	const asked = { questions: [{ ...slots[8], token: 7 }], read: "after" } as const;
	const got = await run(small({ ...kind, position: "index" }), slots, asked);
	const numbered = slots.map((s, n) => ({ ...s, time: n }));
	const wanted = await run(small({ ...kind, position: "time" }), numbered, {
		...asked,
		questions: [{ ...asked.questions[0], time: 9 }],
	});
	expect(relativeError(got.logits, wanted.logits)).toBeLessThan(exact);
	expect(relativeError(got.answers, wanted.answers)).toBeLessThan(exact);
	expect(relativeError(got.logits, (await run(small(kind), slots)).logits)).toBeGreaterThan(1e-3);
});

describe("absolute positions", () => {
	const kind = { position: "absolute", positions: 6, gap: "rotary", copies: 0 } as const;
	const slots = slotList(history(9));
	const elsewhen = slots.map((s, n) => ({ ...s, time: s.time + 2 ** n, gap: s.gap + 1 }));

	test("know of no time, but for the decay", async () => {
		const byEvent = small({ ...kind, decay: "fixed" });
		const { logits } = await run(byEvent, slots);
		expect((await run(byEvent, elsewhen)).logits).toEqual(logits);
		const byTime = small({ ...kind, decay: "fixed-time" });
		const shifted = slots.map((s) => ({ ...s, time: s.time * 7 }));
		expect((await run(byTime, shifted)).logits).toEqual((await run(byTime, slots)).logits);
		const error = relativeError((await run(byTime, elsewhen)).logits, logits);
		expect(error).toBeGreaterThan(1e-3);
	});

	test("stand in the order of slots; those past the last vector share it", async () => {
		const same = slots.map((s) => ({ ...s, token: 7, gap: 0 }));
		// Nothing is forgotten without gaps: what each slot reads differs by positions alone.
		const { logits } = await run(small({ ...kind, decay: "fixed-time", layers: 1 }), same);
		expect(relativeError(slot(logits, 4), slot(logits, 3))).toBeGreaterThan(1e-4);
		const from = { states: new Float64Array(24), counts: [], seen: [5] };
		const config = small({ ...kind, decay: "fixed-time", layers: 1 });
		const late = await run(config, same, { from });
		const later = await run(config, same, { from: { ...from, seen: [400] } });
		expect(later.logits).toEqual(late.logits);
		const early = await run(config, same, { from: { ...from, seen: [4] } });
		expect(relativeError(slot(early.logits, 0), slot(late.logits, 0))).toBeGreaterThan(1e-4);
	});
});

test("weights of another model are refused by name", () => {
	const config = small();
	const { "layers.1.gate": _, ...others } = symbolsOf(config, "float32");
	const slots = slotsOf("slots", 1, 2, "float32");
	expect(() => network(config, others, { slots })).toThrow(
		'no parameter "layers.1.gate"; are these another model\'s weights?',
	);
});
