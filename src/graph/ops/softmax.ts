import { apply, axisOf, fail, isFloat, type Operation, type Tensor } from "../tensor.js";
import { exp, log, mul, sub } from "./elementwise.js";
import { max, sum } from "./reduce.js";

function alongAxis(
	name: "softmax" | "logSoftmax",
	pullback: (y: Tensor, g: Tensor, axis: number) => Tensor,
): (x: Tensor, axis?: number) => Tensor {
	const operation: Operation<"softmax" | "logSoftmax"> = {
		name,
		types: ([x]) => {
			const { shape, dtype } = x as Tensor;
			if (!isFloat(dtype)) fail(name, "needs a float tensor", [x as Tensor]);
			return [{ shape, dtype }];
		},
		pullback: ({ outputs: [y], attributes: { axis } }, [g]) => [
			g ? pullback(y as Tensor, g, axis) : null,
		],
	};
	return (x, axis = -1) => apply(operation, [x], { axis: axisOf(name, x, axis) });
}

export const softmax = alongAxis("softmax", (y, g, axis) =>
	mul(y, sub(g, sum(mul(g, y), axis, true))),
);

export const logSoftmax = alongAxis("logSoftmax", (y, g, axis) =>
	sub(g, mul(exp(y), sum(g, axis, true))),
);

/** `logSoftmax` out of simpler operations, for backends that have no kernel of their own. */
export function logSoftmaxParts(x: Tensor, axis: number): Tensor {
	const below = sub(x, max(x, axis, true));
	return sub(below, log(sum(exp(below), axis, true)));
}
