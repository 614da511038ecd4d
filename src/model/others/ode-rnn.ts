/*
 * ODE-RNN (Rubanova et al., NeurIPS 2019). The state of a GRU follows a learned ODE from one event to the next:
 *
 *     h⁻ᵢ = ODESolve(f, hᵢ₋₁, tᵢ₋₁ → tᵢ)       hᵢ = GRU(h⁻ᵢ, xᵢ)
 *     dh/ds = ρ ⊙ (tanh(MLP(h)) − h),  s = log(1 + (t − tᵢ₋₁) / 30 days)
 *
 * For a query, the ODE runs from the last event to the query time.
 */

import type { z } from "zod";
import { add, filled, gather, relu, scan, type Tensor, tanh } from "../../engine/tensor/index.js";
import { causalModel } from "../kinds/causal.js";
import { fields, integer, modelSettings } from "../kinds/fields.js";
import * as nn from "../nn/index.js";

const config = modelSettings({
	dim: fields.dim(96),
	ff: fields.ff(96),
	steps: integer(1, 64, 2, "steps in which the ODE is solved from one event to the next"),
	stepsAhead: integer(1, 64, 8, "steps in which it is solved from the last event to a query time"),
});

type OdeRnnConfig = z.infer<typeof config>;

/** The scale of s, in days. */
const scaleDays = 30;

/** How far each unit goes: its rate times s = log(1 + gap / scale), in which decades are a few units long. */
const spansOf = (p: nn.Weights, gaps: Tensor): Tensor => {
	const s = add(1, relu(gaps).mul(1 / scaleDays)).log();
	return s.reshape([...gaps.shape, 1]).mul(p("logRate").exp()); // [rows, places, dim]
};

/** dh/ds = ρ ⊙ (tanh(MLP(h)) − h), with each unit's rate ρ in its span. */
const evolve = (p: nn.Weights, state: Tensor, span: Tensor, steps: number): Tensor =>
	nn.exponentialEuler((h) => nn.feedForward(p, "ode", h, tanh).tanh(), state, span, steps);

/** A GRU whose state follows an ODE from one event to the next, and on to the query time. */
export const odeRnn = causalModel<OdeRnnConfig>({
	id: "ode-rnn",
	name: "ODE-RNN",
	cite: "Rubanova, Chen, Duvenaud: Latent ODEs for Irregularly-Sampled Time Series, 2019",
	config,
	learningRate: 3e-2,
	presets: {
		tiny: { dim: 64, ff: 64 },
		default: {},
		paper: { dim: 200, ff: 400 },
	},
	pretraining: "none",
	weights: ({ dim, ff }) => ({
		...nn.nested("ode", nn.feedForwardWeights(dim, ff)),
		logRate: nn.filledWith(Math.log(0.1), [dim]),
		...nn.nested("gru", nn.gruWeights(dim, dim)),
	}),
	observe(config, p, { tokens, gaps }) {
		const rows = tokens.shape[0] as number;
		const fromInput = nn.gruInput(nn.within(p, "gru"), gather(p("embedding"), tokens)); // [rows, places, 3 dim]
		const spans = spansOf(p, gaps);
		const { outputs } = scan(
			(state: Tensor, [span, from]) => {
				const next = nn.gruStep(nn.within(p, "gru"), evolve(p, state, span, config.steps), from);
				return [next, next];
			},
			filled(0, [rows, config.dim], fromInput.dtype),
			[spans, fromInput],
		);
		return outputs; // [rows, places, dim]
	},
	query(config, p, known, { gaps }, from) {
		return evolve(p, from.at(known), spansOf(p, gaps), config.stepsAhead);
	},
});
