import { constant, type Dim, type FloatType, type Tensor } from "../../engine/tensor/index.js";
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
