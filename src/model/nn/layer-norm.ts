import { layerNorm, type Tensor } from "../../engine/tensor/index.js";
import { filledWith, type WeightSpecs, type Weights } from "./weights.js";

export const normWeights = (width: number): WeightSpecs => ({
	scale: filledWith(1, [width]),
	shift: filledWith(0, [width]),
});

/** Layer norm with a learned scale and shift. */
export const norm = (p: Weights, x: Tensor): Tensor =>
	layerNorm(x, { scale: p("scale"), shift: p("shift") });
