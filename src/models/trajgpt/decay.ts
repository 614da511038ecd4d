import type { DecayVector, ParameterValues } from "../model.js";
import { decaysByTime, type TrajgptConfig } from "./config.js";

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
