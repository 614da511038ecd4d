import { expect, test } from "vitest";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { slotStates } from "../heads.js";
import { plainWeights, sigmoid } from "../nn/testing/plain.js";
import { conformance } from "../testing/conformance.js";
import { batchOf, type TestHistory, vocab } from "../testing/histories.js";
import { odeRnn } from "./ode-rnn.js";

conformance("ode-rnn");

const settings = { dim: 5, ff: 7, vocab };
const { symbols, values, rows, project, linear } = plainWeights(
	odeRnn.weights(odeRnn.config.parse(settings)),
	{ dtype: "float64" },
);
const { dim } = settings;

/** dh/ds = ρ ⊙ (tanh(MLP(h)) − h). */
function slope(h: readonly number[]): number[] {
	const inside = linear("ode.up", h).map(Math.tanh);
	return linear("ode.down", inside).map(
		(x, i) => Math.exp(values.logRate[i]) * (Math.tanh(x) - h[i]),
	);
}

/** In very many small steps, which need no rule of their own. */
function evolved(h: readonly number[], gap: number, fine = 500): number[] {
	const ds = Math.log(1 + gap / 30) / fine;
	let now = [...h];
	for (let i = 0; i < fine; i++) {
		const middle = slope(slope(now).map((x, j) => now[j] + (x * ds) / 2));
		now = now.map((x, j) => x + ds * middle[j]);
	}
	return now;
}

function updated(h: readonly number[], token: number): number[] {
	const from = linear("gru.input", rows("embedding")[token]);
	const fromH = project("gru.gates", h);
	const reset = h.map((value, i) => sigmoid(from[dim + i] + fromH[dim + i]) * value);
	const fromReset = project("gru.candidate", reset);
	return h.map((value, i) => {
		const z = sigmoid(from[i] + fromH[i]);
		return (1 - z) * value + z * Math.tanh(from[2 * dim + i] + fromReset[i]);
	});
}

/** The state before each event: the ODE from event to event, an update at each. */
function plainHidden({ tokens, times: at }: TestHistory): number[] {
	let h = updated(Array<number>(dim).fill(0), specialTokens.sos);
	return tokens.flatMap((token, n) => {
		const before = evolved(h, n === 0 ? 0 : at[n] - at[n - 1]);
		h = updated(before, token);
		return before;
	});
}

const history: TestHistory = {
	tokens: [1, 7, 8, 7, 9, 6],
	times: [2, 2, 2.5, 5.5, 5.5, 13.5],
};

async function errorIn(steps: number): Promise<number> {
	const batch = batchOf([history]);
	const config = odeRnn.config.parse({ ...settings, steps, stepsAhead: steps });
	const hidden = slotStates(odeRnn, config, symbols, batch).hidden;
	const feeds = odeRnn.filler(config, batch)("slots") as Record<string, Int32Array | Float32Array>;
	const found = await evaluate({ hidden }, { ...values, ...feeds });
	return relativeError(found.hidden, plainHidden(history));
}

test("more steps come nearer to the ODE between events, in their order", async () => {
	const [some, more] = [await errorIn(16), await errorIn(32)];
	expect(more).toBeLessThan(0.02);
	expect(some / more).toBeGreaterThan(1.85);
	expect(some / more).toBeLessThan(2.15);
});

test("the state stays within bounds however far ahead, and goes on changing for years", async () => {
	const config = odeRnn.config.parse(settings);
	const batch = batchOf([history]);
	const days = [0, 1, 30, 365, 3650, 36500, 3.65e6];
	for (const size of [1, 10]) {
		const larger = Object.fromEntries(
			Object.entries(values).map(([name, data]) => [
				name,
				name === "logRate" ? data : data.map((x) => size * x),
			]),
		);
		const known = slotStates(odeRnn, config, symbols, batch).hidden;
		const feeds = odeRnn.filler(config, batch)("slots") as Record<string, ArrayLike<number>>;
		const all: number[][] = [];
		for (const gap of days) {
			const asked = { ...feeds, "next.queryGaps": Array<number>(batch.length).fill(gap) };
			const { hidden } = await evaluate({ hidden: known }, { ...larger, ...asked });
			for (const x of hidden) expect(Math.abs(x)).toBeLessThanOrEqual(1);
			all.push(hidden.slice(-dim));
		}
		for (const [i, one] of all.entries())
			if (i > 0 && i < 5) expect(relativeError(one, all[i - 1])).toBeGreaterThan(1e-3);
	}
});
