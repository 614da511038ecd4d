import { add, div, mean, mul, sqrt, sub, sumSquares, type Tensor } from "../graph/index.js";

const epsilon = 1e-5;

/** x over its root mean square, along the last axis. What follows learns the scale. */
export function rmsNorm(x: Tensor): Tensor {
	const meanSquare = mul(sumSquares(x, -1, true), 1 / (x.shape.at(-1) as number));
	return mul(x, div(1, sqrt(add(meanSquare, epsilon))));
}

/** x less its mean, over its deviation, along the last axis. */
export const layerNorm = (x: Tensor): Tensor => rmsNorm(sub(x, mean(x, -1, true)));
