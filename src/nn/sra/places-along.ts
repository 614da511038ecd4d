import type { Tensor } from "../../graph/index.js";
import { apply, type Operation } from "../../graph/tensor.js";

const placesOperation: Operation<{ readonly axis: number }> = {
	name: "places",
	types: ([x], { axis }) => [{ shape: [(x as Tensor).shape[axis] as number], dtype: "float32" }],
	onnx: ({ inputs: [x], attributes: { axis } }, write) => {
		const size = write.integers([(x as Tensor).shape[axis] as number]);
		const end = write.node("Cast", [write.node("Squeeze", [size])], { to: 1 });
		return [write.node("Range", [write.scalar(0, "float32"), end, write.scalar(1, "float32")])];
	},
};

/** 0, 1, 2 … along an axis whose size may be known only when it runs, as float32. */
export const placesAlong = (x: Tensor, axis: number): Tensor =>
	apply(placesOperation, [x], { axis });
