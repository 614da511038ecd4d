import { expect } from "vitest";
import { random } from "../../../base/random.js";
import { nodeRuntime } from "../../../engine/runtime/node.js";
import { evaluate } from "../../../engine/runtime/testing/evaluate.js";
import { input, type Tensor } from "../../../engine/tensor/index.js";
import { nested, parametersOf } from "../../nn/weights.js";
import type { Predictions } from "../../predictor.js";
import { type TrajgptConfig, trajgptConfig } from "../config.js";
import { trajgpt } from "../index.js";
import { type NetworkInputs, network, type Slots } from "../network.js";
import { predictor } from "../state.js";

export const runtime = nodeRuntime({ threads: 2, purpose: "inference", spinning: false });

export const base = {
	vocab: 11,
	layers: 2,
	heads: 2,
	dim: 12,
	key: 8,
	value: 12,
	ff: 16,
	temperature: 2,
};

export function history(length: number, seed: number): { tokens: number[]; times: number[] } {
	const draw = random(seed);
	let time = 100 * draw.uniform();
	const tokens = Array.from({ length }, () => 5 + draw.integer(6));
	const times = tokens.map(() => {
		time += draw.uniform() < 0.2 ? 0 : -Math.log(draw.uniform()) * 3;
		return time;
	});
	return { tokens, times };
}

/** Small but not tiny weights, so that decay and rotation matter. */
export function weightsOf(config: TrajgptConfig) {
	const values = trajgpt.init(config, random(7));
	for (const [name, { data }] of values)
		if (name.endsWith(".decay") || name === "positions")
			data.set(data.map((_, i) => Math.sin(i + 1)));
	return values;
}

/** What there is to choose of the ways to know of times. */
export const kinds: readonly Partial<TrajgptConfig>[] = [
	...(["time", "event"] as const).map((decay) => ({ decay })),
	{ decay: "fixed", position: "index" },
	{ decay: "fixed-time", position: "absolute" },
];

/** Inputs of so many slots in one row. */
export const slotInputs = (prefix: string, length: number): Slots => ({
	tokens: input(`${prefix}.tokens`, [1, length], "int32"),
	times: input(`${prefix}.times`, [1, length], "float64"),
	gaps: input(`${prefix}.gaps`, [1, length]),
});

/** log p of every token at the slots and queries, from the network that training uses. */
export async function runNetwork(
	config: TrajgptConfig,
	inputs: NetworkInputs,
	values: Readonly<Record<string, Readonly<Record<keyof Slots, ArrayLike<number>>>>>,
) {
	const weights = weightsOf(config);
	const { logits, queryLogits = logits } = network(config, parametersOf(weights), inputs);
	const feeds = Object.entries(values).map(([prefix, slots]) => nested(prefix, { ...slots }));
	return evaluate(
		{
			logits: (logits as Tensor).logSoftmax(),
			queryLogits: (queryLogits as Tensor).logSoftmax(),
		},
		Object.assign(
			Object.fromEntries([...weights].map(([name, { data }]) => [name, data])),
			...feeds,
		),
	);
}

export function smallModel(kind: Partial<TrajgptConfig> = {}) {
	const config = trajgptConfig.parse({ ...base, ...kind });
	return predictor(runtime, config, weightsOf(config));
}

/** The answer to one query: log p of every token. */
export const row = (
	{ logProbabilities, vocab, queries }: Predictions,
	patient: number,
	query = 0,
): number[] =>
	Array.from(logProbabilities.slice((patient * queries + query) * vocab).slice(0, vocab));

/** Equal to rounding, over the largest value. */
export function expectClose(actual: ArrayLike<number>, wanted: ArrayLike<number>): void {
	expect(actual.length).toBe(wanted.length);
	let worst = 0;
	let scale = 0;
	for (let i = 0; i < wanted.length; i++) {
		worst = Math.max(worst, Math.abs(actual[i] - wanted[i]));
		scale = Math.max(scale, Math.abs(wanted[i]));
	}
	expect(worst / scale).toBeLessThan(1e-5);
}
