import { apply, axisOf, floatType, type Operation, type Tensor } from "../tensor.js";
import { sum } from "./broadcast.js";
import { div, exp, log, mul, sub } from "./elementwise.js";
import { max } from "./reduce.js";

function alongAxis(
	name: "softmax" | "logSoftmax",
	pullback: (y: Tensor, g: Tensor, axis: number) => Tensor,
): (x: Tensor, axis?: number) => Tensor {
	const operation: Operation<"softmax" | "logSoftmax"> = {
		name,
		types: ([x]) => [floatType(name, x)],
		pullback: ({ outputs: [y], attributes: { axis } }, [g]) => [g ? pullback(y, g, axis) : null],
	};
	return (x, axis = -1) => apply(operation, [x], { axis: axisOf(name, x, axis) });
}

export const softmax = alongAxis("softmax", (y, g, axis) =>
	mul(y, sub(g, sum(mul(g, y), axis, true))),
);

export const logSoftmax = alongAxis("logSoftmax", (y, g, axis) =>
	sub(g, mul(exp(y), sum(g, axis, true))),
);

/** `softmax` composed of simpler operations, for backends without a kernel for it. */
export function softmaxParts(x: Tensor, axis: number): Tensor {
	const powers = exp(sub(x, max(x, axis, true)));
	return div(powers, sum(powers, axis, true));
}

/** `logSoftmax` composed of simpler operations, for backends without a kernel for it. */
export function logSoftmaxParts(x: Tensor, axis: number): Tensor {
	const below = sub(x, max(x, axis, true));
	return sub(below, log(sum(exp(below), axis, true)));
}
