import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, input } from "../../engine/tensor/index.js";
import { slotStates } from "../heads.js";
import { applied, plainWeights, sigmoid, type Vector } from "../nn/testing/plain.js";
import { conformance } from "../testing/conformance.js";
import { batchOf, type TestHistory, vocab } from "../testing/histories.js";
import { daysSince, everSeen, gruD, lastSeen } from "./gru-d.js";

conformance("gru-d");

const config = gruD.config.parse({ dim: 5, vocab, decayDays: 60 });
const { dim, decayDays } = config;

/** Codes come again, also on the same day, and after long. */
const histories: readonly TestHistory[] = [
	{ tokens: [1, 7, 8, 7, 9, 9, 8], times: [2, 2, 2.5, 3.5, 3.5, 9, 10.5] },
	{ tokens: [10, 6, 10], times: [0, 40, 40.5] },
];
const batch = batchOf(histories);
const cells = batch.rows * batch.length * dim;

type Values = Readonly<Record<string, Vector>>;
const draw = random(8);
const { symbols, values: weights } = plainWeights(gruD.weights(config), { dtype: "float64" });

const decay = (rate: number) => Math.exp(-Math.max(0, rate));
/** Σ xᵢ (row i of the table). */
const mixed = (table: Vector, x: Vector) =>
	Array.from({ length: dim }, (_, d) => x.reduce((sum, xi, i) => sum + xi * table[i * dim + d], 0));

/** The equations of the paper over vectors of all codes: x̂, m and δ, place by place. */
function plainHidden(v: Values, { tokens, times: at }: TestHistory): number[][] {
	interface State {
		readonly h: readonly number[];
		/** By code: since when it was last seen, as of the last place, and the value seen then. */
		readonly delta: readonly number[];
		readonly last: readonly (number | undefined)[];
		readonly day: number;
	}
	function step(state: State, day: number, token?: number): State {
		const m = Array.from({ length: vocab }, (_, d) => Number(d === token));
		// Since the last time before this place, in units of decayDays; 0 while there was none.
		const delta = state.delta.map((x, d) =>
			state.last[d] === undefined ? 0 : x + (day - state.day) / decayDays,
		);
		const x = m.map((seen, d) => {
			if (seen) return 1;
			const last = state.last[d] ?? v.mean[d];
			const gamma = decay(v.inputDecay[d] * delta[d] + v.inputDecayBias[d]);
			return gamma * last + (1 - gamma) * v.mean[d];
		});
		const rates = applied(v["hiddenDecay.weight"], delta);
		const h = state.h.map((value, i) => decay(rates[i] + v["hiddenDecay.bias"][i]) * value);
		const fromX = applied(v["gru.input.weight"], mixed(v.inputs, x));
		const fromM = applied(v["mask.weight"], mixed(v.embedding, m));
		const from = (unit: number) => fromX[unit] + fromM[unit] + v["gru.input.bias"][unit];
		const fromH = applied(v["gru.gates.weight"], h);
		const z = h.map((_, i) => sigmoid(from(i) + fromH[i]));
		const reset = h.map((value, i) => sigmoid(from(dim + i) + fromH[dim + i]) * value);
		const fromReset = applied(v["gru.candidate.weight"], reset);
		return {
			h: h.map((value, i) => {
				const candidate = Math.tanh(from(2 * dim + i) + fromReset[i]);
				return (1 - z[i]) * value + z[i] * candidate;
			}),
			day,
			delta: delta.map((x, d) => (m[d] ? 0 : x)),
			last: state.last.map((x, d) => (m[d] ? 1 : x)),
		};
	}
	const start: State = {
		h: Array<number>(dim).fill(0),
		delta: Array<number>(vocab).fill(0),
		last: Array<undefined>(vocab).fill(undefined),
		day: 0,
	};
	const days = at.map((time) => time - at[0]);
	let state = step(start, 0, specialTokens.sos);
	return tokens.map((token, n) => {
		const asked = step(state, days[n]);
		state = step(state, days[n], token);
		return [...asked.h];
	});
}

/** All slots, with nothing in those that hold no event. */
const plainSlots = (v: Values) =>
	histories.flatMap((history) => {
		const slots = plainHidden(v, history).flat();
		return [...slots, ...Array<number>(batch.length * dim - slots.length).fill(0)];
	});

const mask = Array.from({ length: cells }, (_, i) => {
	const slot = Math.floor(i / dim);
	return Number(slot % batch.length < batch.lengths[Math.floor(slot / batch.length)]);
});
const scale = input("scale", [batch.rows, batch.length, dim], "float64");
const hidden = slotStates(gruD, config, symbols, batch).hidden.mul(scale);
const feeds = {
	...weights,
	...(gruD.filler(config, batch)("slots") as Record<string, Int32Array | Float32Array>),
};

test("each code fades from its last value to its mean, and the state to 0, up to the query time", async () => {
	const found = await evaluate({ hidden }, { ...feeds, scale: mask });
	expect(relativeError(found.hidden, plainSlots(weights))).toBeLessThan(1e-11);
});

test("gradients of every weight", async () => {
	const by = mask.map((one) => one * draw.normal());
	const names = Object.keys(symbols).filter((name) => name !== "head");
	const slopes = gradients(
		hidden.sum(),
		names.map((name) => symbols[name]),
	);
	const found = await evaluate(Object.fromEntries(slopes.map((g, i) => [`d ${names[i]}`, g])), {
		...feeds,
		scale: by,
	});
	const lossOf = (v: Values) => plainSlots(v).reduce((sum, x, i) => sum + x * by[i], 0);
	for (const name of names) {
		const own = weights[name];
		const wanted = own.map((_, i) => {
			const moved = (step: number) =>
				lossOf({ ...weights, [name]: own.map((x, j) => (i === j ? x + step : x)) });
			return (moved(1e-6) - moved(-1e-6)) / 2e-6;
		});
		expect(relativeError(found[`d ${name}`], wanted), name).toBeLessThan(1e-5);
	}
});

test("when each code was last seen, and how long ago", async () => {
	const tokens = input("tokens", [1, 5], "int32");
	const days = input("days", [1, 5], "float64");
	const { last, before } = lastSeen(tokens, days, 3);
	const found = await evaluate(
		{ last, before, seen: everSeen(last), since: daysSince(last, days) },
		{ tokens: [1, 0, 1, 1, 0], days: [0, 4, 4, 10, 10.5] },
	);
	const byPlace = (values: readonly number[]) =>
		Array.from({ length: 5 }, (_, place) => values.slice(3 * place, 3 * place + 3));
	expect(byPlace(found.last)).toEqual([
		[0, 1, 0],
		[5, 1, 0],
		[5, 5, 0],
		[5, 11, 0],
		[11.5, 11, 0],
	]);
	expect(byPlace(found.before)).toEqual([[0, 0, 0], ...byPlace(found.last).slice(0, 4)]);
	expect(byPlace(found.seen)).toEqual([
		[0, 1, 0],
		[1, 1, 0],
		[1, 1, 0],
		[1, 1, 0],
		[1, 1, 0],
	]);
	expect(byPlace(found.since)).toEqual([
		[0, 0, 0],
		[0, 4, 0],
		[0, 0, 0],
		[6, 0, 0],
		[0, 0.5, 0],
	]);
});
