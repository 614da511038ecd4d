import { z } from "zod";
import { cast, mul, slice, type Tensor } from "../../graph/index.js";
import { drawWeights, normal } from "../../nn/weights.js";
import { causalModel } from "../kinds/causal.js";
import type { Model } from "../model.js";
import { presets, trajgptConfig } from "../trajgpt/config.js";
import { network } from "../trajgpt/network.js";
import { initialParameters, parameterShapes } from "../trajgpt/parameters.js";

const config = trajgptConfig
	.safeExtend({
		position: z
			.enum(["time", "absolute"])
			.default("time")
			.describe("where an event stands: by its time, or by its number"),
		positions: z
			.int()
			.min(2)
			.max(65536)
			.default(256)
			.describe("places with a vector of their own, where events stand by number"),
		gap: trajgptConfig.shape.gap.unwrap().default("rotary"),
		copies: trajgptConfig.shape.copies.unwrap().default(0),
		head: trajgptConfig.shape.head.unwrap().default("own"),
	})
	.refine(({ copies, head }) => copies === 0 && head === "own", {
		path: ["copies"],
		error: "0, with a head of its own: the ablation has no heads that count",
	});

type ShiftedConfig = z.infer<typeof config>;

const places = ({ positions, dim }: ShiftedConfig) => ({
	positions: normal([positions, dim], 0.02),
});

const shifted = causalModel<ShiftedConfig>({
	id: "trajgpt-shifted",
	name: "TrajGPT, times shifted",
	cite: "Song, Lu, Zhu, Buckeridge, Li: TrajGPT, 2025",
	config,
	presets: Object.fromEntries(
		Object.entries(presets).map(([name, preset]) => [
			name,
			{ ...preset, gap: "rotary", copies: 0 },
		]),
	),
	pretraining: "next",
	context: "positions",
	weights: (c) => (c.position === "absolute" ? places(c) : {}),
	observe(c, p, { tokens, days, gaps }) {
		const length = tokens.shape[1] as number;
		const inUnits = (x: Tensor) => mul(x, 1 / c.unitDays);
		const names = [...parameterShapes(c).keys()];
		const { hidden } = network(c, Object.fromEntries(names.map((name) => [name, p(name)])), {
			slots: { tokens, times: cast(inUnits(days), "float64"), gaps: inUnits(gaps) },
			...(c.position === "absolute" && { absolute: slice(p("positions"), 0, 0, length) }),
		});
		return hidden as Tensor;
	},
});

/**
 * TrajGPT for ablations: a slot holds a token and the token's own time, so the time of what is foretold
 * is not known; or it stands by its number, and no time is known at all.
 */
export const trajgptShifted: Model<ShiftedConfig> = {
	...shifted,
	context: ({ position, positions }) =>
		position === "absolute" ? positions : Number.POSITIVE_INFINITY,
	init: (c, random) =>
		new Map([
			...initialParameters(c, random),
			...(c.position === "absolute" ? drawWeights(places(c), random) : []),
		]),
};
