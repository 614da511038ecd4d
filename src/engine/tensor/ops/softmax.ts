import { apply, axisOf, floatType, type Operation, type Tensor } from "../tensor.js";

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

export const softmax = alongAxis("softmax", (y, g, axis) => y.mul(g.sub(g.mul(y).sum(axis, true))));

export const logSoftmax = alongAxis("logSoftmax", (y, g, axis) =>
	g.sub(y.exp().mul(g.sum(axis, true))),
);

/** `softmax` composed of simpler operations, for backends without a kernel for it. */
export function softmaxParts(x: Tensor, axis: number): Tensor {
	const powers = x.sub(x.max(axis, true)).exp();
	return powers.div(powers.sum(axis, true));
}

/** `logSoftmax` composed of simpler operations, for backends without a kernel for it. */
export function logSoftmaxParts(x: Tensor, axis: number): Tensor {
	const below = x.sub(x.max(axis, true));
	return below.sub(below.exp().sum(axis, true).log());
}
