import { divideDims, isOpen } from "../dims.js";
import { elementCount, fail, type Tensor } from "../tensor.js";
import { reduce, reduction, sum } from "./broadcast.js";
import { cast, div, equal, mul, sub } from "./elementwise.js";

const sumSquaresOperation = reduction("sumSquares", (x, _y, g) => mul(x, mul(g, 2)));

// Where several values share the maximum, its cotangent is shared between them.
const maxOperation = reduction("max", (x, y, g, axes) => {
	const chosen = cast(equal(x, y), x.dtype);
	return mul(div(chosen, sum(chosen, axes, true)), g);
});

/** Sum of squares, in one pass. */
export function sumSquares(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const none = (axes === undefined ? x.shape : [axes].flat()).length === 0;
	return none ? mul(x, x) : reduce(sumSquaresOperation, x, axes, keep);
}

export const max = (x: Tensor, axes?: number | readonly number[], keep = false): Tensor =>
	reduce(maxOperation, x, axes, keep);

export function mean(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const total = sum(x, axes, keep);
	const count = divideDims(elementCount(x.shape), elementCount(total.shape));
	if (count === undefined || isOpen(count)) fail("mean", "the size of an axis is open", [x]);
	return mul(total, 1 / count);
}

/** Mean squared distance from the mean. */
export function variance(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const centred = sub(x, mean(x, axes ?? x.shape.map((_, i) => i), true));
	return mean(mul(centred, centred), axes, keep);
}
