import { div, maximum, mul, reshape, sub, sum, type Tensor } from "../../engine/tensor/index.js";
import { norm } from "./layer-norm.js";
import type { Weights } from "./weights.js";

/** [rows, places, 1] of [rows, places]. */
export const column = (x: Tensor): Tensor => reshape(x, [...x.shape, 1]);

/** The mean of x [rows, places, width] over the events, [rows, 1, width]. */
export const meanOverEvents = (x: Tensor, mask: Tensor): Tensor =>
	div(sum(mul(x, column(mask)), 1, true), maximum(column(sum(mask, 1, true)), 1));

/** Layer norm, less its mean over the places: what is seasonal has no trend. */
export function seasonalNorm(p: Weights, x: Tensor, mask: Tensor): Tensor {
	const y = norm(p, x);
	return sub(y, meanOverEvents(y, mask));
}
