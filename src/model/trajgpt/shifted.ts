import type { Tensor } from "../../engine/tensor/index.js";
import { causalModel } from "../kinds/causal.js";
import { modelFromNetwork } from "../model-from-network.js";
import { plainTrajgptSettings, presets, type TrajgptConfig, trajgptConfig } from "./config.js";
import { network, trajgptWeights } from "./network.js";

const config = trajgptConfig
	.safeExtend({
		gap: trajgptConfig.shape.gap.unwrap().default(plainTrajgptSettings.gap),
		copies: trajgptConfig.shape.copies.unwrap().default(plainTrajgptSettings.copies),
	})
	.refine(({ copies, head }) => copies === 0 && head === "own", {
		path: ["copies"],
		error: "0, with a head of its own: the ablation has no heads that count",
	})
	.refine(({ position }) => position === "time", {
		path: ["position"],
		error: '"time": for other positions choose the model trajgpt',
	});

const shifted = causalModel<TrajgptConfig>({
	id: "trajgpt-shifted",
	name: "TrajGPT, times shifted",
	cite: "Song, Lu, Zhu, Buckeridge, Li: TrajGPT, 2025",
	config,
	presets: Object.fromEntries(
		Object.entries(presets).map(([name, preset]) => [name, { ...preset, ...plainTrajgptSettings }]),
	),
	pretraining: "next",
	weights: () => ({}),
	observe(c, p, { tokens, days, gaps }) {
		const names = Object.keys(trajgptWeights(c));
		const { hidden } = network(c, Object.fromEntries(names.map((name) => [name, p(name)])), {
			slots: { tokens, times: days.cast("float64"), gaps },
		});
		return hidden as Tensor;
	},
});

/**
 * TrajGPT for ablations: a slot holds a token and the token's own time, so the time of the
 * predicted event is not known.
 */
export const trajgptShifted = modelFromNetwork({ ...shifted, weights: trajgptWeights });
