import { exp, log, mul, sub } from "./elementwise.js";
import { max, sum } from "./reduce.js";
import { apply, axisOf, fail, isFloat, type Operation, type Tensor } from "./tensor.js";

interface AlongAxis {
	readonly axis: number;
}

function alongAxis(
	name: string,
	onnx: string,
	pullback: (y: Tensor, g: Tensor, axis: number) => Tensor,
	/** Where a provider has no kernel. */
	portable?: (x: Tensor, axis: number) => Tensor,
): (x: Tensor, axis?: number) => Tensor {
	const operation: Operation<AlongAxis> = {
		name,
		types: ([x]) => {
			const { shape, dtype } = x as Tensor;
			if (!isFloat(dtype)) fail(name, "needs a float tensor", [x as Tensor]);
			return [{ shape, dtype }];
		},
		pullback: ({ outputs: [y], attributes: { axis } }, [g]) => [
			g ? pullback(y as Tensor, g, axis) : null,
		],
		onnx: ({ inputs: [x], attributes: { axis } }, write) => [
			write.target === "portable" && portable
				? write.expression(portable(x as Tensor, axis))
				: write.node(onnx, [write.name(x as Tensor)], { axis }),
		],
	};
	return (x, axis = -1) => apply(operation, [x], { axis: axisOf(name, x, axis) });
}

export const softmax = alongAxis("softmax", "Softmax", (y, g, axis) =>
	mul(y, sub(g, sum(mul(g, y), axis, true))),
);

export const logSoftmax = alongAxis(
	"logSoftmax",
	"LogSoftmax",
	(y, g, axis) => sub(g, mul(exp(y), sum(g, axis, true))),
	(x, axis) => {
		const below = sub(x, max(x, axis, true));
		return sub(below, log(sum(exp(below), axis, true)));
	},
);
