import { divideDims, isOpen } from "../dims.js";
import { elementCount, fail, type Tensor } from "../tensor.js";
import { reduce, reduction } from "./broadcast.js";

const sumSquaresOperation = reduction("sumSquares", (x, _y, g) => x.mul(g.mul(2)));

// Where several values share the maximum, its cotangent is shared between them.
const maxOperation = reduction("max", (x, y, g, axes) => {
	const chosen = x.equal(y).cast(x.dtype);
	return chosen.div(chosen.sum(axes, true)).mul(g);
});

/** Sum of squares, in one pass. */
export function sumSquares(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const none = (axes === undefined ? x.shape : [axes].flat()).length === 0;
	return none ? x.mul(x) : reduce(sumSquaresOperation, x, axes, keep);
}

export const max = (x: Tensor, axes?: number | readonly number[], keep = false): Tensor =>
	reduce(maxOperation, x, axes, keep);

export function mean(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const total = x.sum(axes, keep);
	const count = divideDims(elementCount(x.shape), elementCount(total.shape));
	if (count === undefined || isOpen(count)) fail("mean", "the size of an axis is open", [x]);
	return total.mul(1 / count);
}

/** Mean squared distance from the mean. */
export function variance(x: Tensor, axes?: number | readonly number[], keep = false): Tensor {
	const centred = x.sub(x.mean(axes ?? x.shape.map((_, i) => i), true));
	return centred.mul(centred).mean(axes, keep);
}
