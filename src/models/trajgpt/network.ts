import {
	add,
	concat,
	constant,
	expand,
	type FloatType,
	gather,
	gelu,
	layerNorm,
	logSigmoid,
	matmul,
	mul,
	reshape,
	rmsNorm,
	silu,
	slice,
	stack,
	type Tensor,
	transpose,
} from "../../graph/index.js";
import { timeAngles, turn } from "../../nn/rotary-time.js";
import type { Parameters } from "../model.js";
import { attention } from "./attention.js";
import type { TrajgptConfig } from "./config.js";
import { initialDecay } from "./parameters.js";

/** A run of slots: the token last seen, the time asked about, and the time since the slot before. */
export interface Slots {
	readonly tokens: Tensor; // [batch, length], int32
	readonly times: Tensor; // [batch, length], float64
	readonly gaps: Tensor; // [batch, length]
}

export interface NetworkInputs {
	/** Left out, questions are put to the states as they are. */
	readonly slots?: Slots | undefined;
	/** 1 where a slot is real; without it all are, or what follows a row's end is not looked at. */
	readonly real?: Tensor | undefined; // [batch, length]
	readonly states?: Tensor | undefined; // [layers, batch, heads, key / heads, value / heads]
	/**
	 * Questions beside the slots: `before` reads the state before the slot of the same place (the
	 * horizon objective), `after` the state after the last slot (inference). They leave no trace.
	 */
	readonly questions?: (Slots & { readonly read: "before" | "after" }) | undefined;
}

export interface NetworkOutputs {
	readonly logits?: Tensor | undefined; // [batch, length, vocab]
	readonly questionLogits?: Tensor | undefined; // [batch, questions, vocab]
	readonly hidden?: Tensor | undefined; // [batch, length, dim], after the last norm
	readonly states: Tensor; // as the input
}

export function network(
	config: TrajgptConfig,
	parameters: Parameters,
	{ slots, real, states, questions }: NetworkInputs,
): NetworkOutputs {
	const p = (name: string): Tensor => {
		const tensor = parameters[name];
		if (!tensor) throw new Error(`no parameter "${name}"; are these another model's weights?`);
		return tensor;
	};
	const dtype = p("embedding").dtype as FloatType;
	const norm = config.norm === "rms" ? rmsNorm : layerNorm;
	// Slots and questions go through the products together, so that weights are read once.
	const streams = [slots, questions].filter((s) => s !== undefined);
	const joined = (part: (s: Slots) => Tensor) => concat(streams.map(part), 1);
	const tokens = joined((s) => s.tokens); // [batch, n]
	const gaps = joined((s) => s.gaps);
	const [batch, n] = tokens.shape as [number, number];
	const length = slots?.tokens.shape[1] ?? 0;

	const keySize = config.key / config.heads;
	const angles = timeAngles(
		joined((s) => s.times),
		Math.floor(keySize / 2),
		{
			shortestPeriod: config.shortestPeriodDays / config.unitDays,
			longestPeriod: config.longestPeriodDays / config.unitDays,
		},
		dtype,
	);
	const heads = (x: Tensor) => transpose(reshape(x, [batch, n, config.heads, -1]), [0, 2, 1, 3]); // [batch, heads, n, size]
	const linear = (x: Tensor, weight: Tensor) => matmul(x, weight, { transposeB: true });
	const logDecayOf = (h: Tensor, layer: string): Tensor => {
		if (config.decay === "fixed") {
			const rate = initialDecay(config.heads).map(
				(b) => -Math.log1p(Math.exp(-b)) / config.temperature,
			);
			return expand(constant(rate, [1, config.heads, 1], dtype), [batch, config.heads, n]);
		}
		const logits = add(linear(h, p(`${layer}.decay`)), p(`${layer}.decayBias`));
		const byTime = config.decay === "time";
		const rate = (byTime ? config.unitDays / config.decayUnitDays : 1) / config.temperature;
		const perStep = transpose(mul(logSigmoid(logits), rate), [0, 2, 1]);
		return byTime ? mul(perStep, reshape(gaps, [batch, 1, n])) : perStep;
	};

	let x = gather(p("embedding"), tokens); // [batch, n, dim]
	const finalStates: Tensor[] = [];
	for (let i = 0; i < config.layers; i++) {
		const layer = `layers.${i}`;
		const h = norm(x);
		const q = turn(heads(linear(h, mul(p(`${layer}.query`), 1 / Math.sqrt(keySize)))), angles);
		const k = turn(heads(linear(h, p(`${layer}.key`))), angles);
		const v = heads(linear(h, p(`${layer}.value`)));
		const logDecay = logDecayOf(h, layer); // [batch, heads, n]
		const { output, state } = attention({
			q,
			k,
			v,
			logDecay,
			slots: length,
			read: questions?.read,
			real,
			state: states && reshape(slice(states, 0, i, i + 1), states.shape.slice(1)),
		});
		finalStates.push(state);
		const perHead = reshape(transpose(norm(output), [0, 2, 1, 3]), [batch, n, config.value]);
		const gated = mul(perHead, silu(linear(h, p(`${layer}.gate`))));
		x = add(x, linear(gated, p(`${layer}.out`)));
		x = add(x, linear(gelu(linear(norm(x), p(`${layer}.up`))), p(`${layer}.down`)));
	}
	const hidden = norm(x);
	// The embedding has entries of size 1: as a head it is scaled as a fresh head would be.
	const logits =
		config.head === "own"
			? linear(hidden, p("head"))
			: mul(linear(hidden, p("embedding")), 1 / Math.sqrt(config.dim));
	return {
		states: stack(finalStates, 0),
		...(slots && { logits: slice(logits, 1, 0, length), hidden: slice(hidden, 1, 0, length) }),
		...(questions && { questionLogits: slice(logits, 1, length) }),
	};
}
