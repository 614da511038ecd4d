import {
	concat,
	constant,
	type Dim,
	type FloatType,
	type Tensor,
} from "../../engine/tensor/index.js";
import type { DecayVector, ParameterValues } from "../model.js";
import type { Weights } from "../nn/weights.js";
import { decayIsFixed, decaysByTime, type TrajgptConfig } from "./config.js";

/** Logits of the heads' decay at the start: from quick forgetting to slow. */
export const initialDecay = (heads: number): number[] =>
	Array.from({ length: heads }, (_, h) => 1 + (5 * h) / Math.max(1, heads - 1));

/** log γ = log σ(h W + b) / τ of one unit of time, or of one event where the model decays by event: [batch, heads, n]. */
export function decayRateOf(config: TrajgptConfig, p: Weights, h: Tensor): Tensor {
	const unit = decaysByTime(config) ? 1 / config.decayUnitDays : 1;
	if (!decayIsFixed(config)) {
		const logits = h.matmul(p("decay"), { transposeB: true }).add(p("decayBias"));
		return logits
			.logSigmoid()
			.mul(unit / config.temperature)
			.transpose([0, 2, 1]);
	}
	const rates = initialDecay(config.heads).map(
		(bias) => (-Math.log1p(Math.exp(-bias)) * unit) / config.temperature,
	);
	const [batch, n] = h.shape as [Dim, Dim];
	const perHead = constant(rates, [1, config.heads, 1], h.dtype as FloatType);
	return perHead.expand([batch, config.heads, n]);
}

interface Tokens {
	/** Days since the event before, of slots and then of queries. */
	readonly gaps: Tensor; // [batch, n]
	readonly slots: Dim;
	/** Whether a gap may be negative: the time of a query before that of the state. */
	readonly backwards: boolean;
	/** Whether a query decays as a slot would, where the model decays by event. */
	readonly asNextEvent: boolean;
}

/** Backwards in time decay is growth: its exponent stops here, so that nothing explodes. */
const mostBackwards = 1;

/** log γ^Δt, from log γ of one unit of time: [batch, heads, n]. */
export function overGaps(rate: Tensor, { gaps, backwards }: Omit<Tokens, "slots" | "asNextEvent">) {
	const [batch] = gaps.shape as [Dim, Dim];
	const decay = rate.mul(gaps.reshape([batch, 1, -1]));
	return backwards ? decay.minimum(mostBackwards) : decay;
}

/**
 * The log of what each token leaves of the state before it, from the model's decay rates: [batch, heads, n].
 * - By time: log γ^Δt.
 * - By event: log γ at a slot (Eq. 2); at a query log γ^Δt, the paper's D_Δt (§3.2), with Δt in units of
 *   `decayUnitDays` since the last event.
 */
export function logDecayOf(config: TrajgptConfig, rate: Tensor, tokens: Tokens): Tensor {
	const { gaps, slots, asNextEvent, backwards } = tokens;
	if (decaysByTime(config)) return overGaps(rate, tokens);
	if (asNextEvent || gaps.shape[1] === slots) return rate;
	const elapsed = gaps.slice(1, slots).mul(1 / config.decayUnitDays);
	const ofQueries = overGaps(rate.slice(2, slots), { gaps: elapsed, backwards });
	return slots === 0 ? ofQueries : concat([rate.slice(2, 0, slots), ofQueries], 2);
}

export const decaysPer = (config: TrajgptConfig): "time" | "event" =>
	decaysByTime(config) ? "time" : "event";

/**
 * w of log γ = logsigmoid(x·w + b)/τ. In the first layer x is the token's embedding (and what the gap adds to it),
 * normed: the nearer its direction to that of w, the longer the head remembers once the token has come.
 */
export function decayVectors(config: TrajgptConfig, weights: ParameterValues): DecayVector[] {
	const decay = weights.get("layers.0.decay");
	if (!decay) return []; // a fixed decay
	return Array.from({ length: config.heads }, (_, head) => ({
		layer: 1,
		head: head + 1,
		vector: decay.data.slice(head * config.dim, (head + 1) * config.dim),
	}));
}
