import { input } from "../../../engine/tensor/index.js";
import type { Model, Objective } from "../../index.js";

const pulled: Objective = {
	streams: () => [],
	terms(_config, parameters, _states, { rows, length }) {
		const difference = parameters.w
			.sub(input("to", [rows * length, 2]))
			.mul(input("counts", [rows * length, 1]));
		return [{ name: "next", total: difference.mul(difference).sum().mul(0.5) }];
	},
	feeds(_config, { rows, length, tokens, times, lengths }) {
		const to = new Float32Array(rows * length * 2);
		const counts = new Float32Array(rows * length);
		for (let at = 0; at < counts.length; at++) {
			to[2 * at] = tokens[at];
			to[2 * at + 1] = times[at];
			counts[at] = Number(at % length < lengths[Math.floor(at / length)]);
		}
		return { feeds: { to, counts }, targets: { next: counts.reduce((a, b) => a + b, 0) } };
	},
};

/**
 * A model to calculate by hand: one weight w [1, 2] that each event pulls by its token and time,
 *   loss = Σ ½ (w − (token, time))²,   gradient = Σ w − (token, time).
 * Time NaN makes the loss NaN.
 */
export const pull: Model = {
	id: "pull",
	name: "pull",
	cite: "",
	config: undefined as never,
	presets: {},
	pretraining: "next",
	forecasting: { methods: [], after: "pretraining" },
	usesQueryTime: false,
	init: () => new Map([["w", { shape: [1, 2], data: Float32Array.of(1, -1) }]]),
	weights: () => ({}),
	predictsEachEvent: false,
	states: () => [],
	filler: () => () => ({}),
	predictor: () => {
		throw new Error("it has nothing to say");
	},
	objectives: { next: [pulled], horizon: [pulled], visits: [pulled] },
};
