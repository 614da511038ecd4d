import { apply, floatType, type Operation, type Tensor } from "../tensor.js";

const allReduceOperation: Operation<"allReduceSum"> = {
	name: "allReduceSum",
	types: ([x]) => [floatType("allReduceSum", x)],
	pullback: (_, [g]) => [g ? allReduceSum(g) : null],
};

/** The sum of a tensor over all devices that run the program; on one device the tensor itself. */
export const allReduceSum = (x: Tensor): Tensor => apply(allReduceOperation, [x], {});
