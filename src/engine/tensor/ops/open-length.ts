import { type Dim, multiplyDims } from "../dims.js";
import { apply, type Operation, type Tensor } from "../tensor.js";

/** Operations for axes whose size may be known only when the graph runs. */

const placesOperation: Operation<"placesAlong"> = {
	name: "placesAlong",
	types: ([x], { axis }) => [{ shape: [x.shape[axis]], dtype: "float32" }],
};

/** 0, 1, 2 … along an axis, as float32. */
export const placesAlong = (x: Tensor, axis: number): Tensor =>
	apply(placesOperation, [x], { axis });

const chunkedOperation: Operation<"chunked"> = {
	name: "chunked",
	types: ([x], { length, chunks }) => {
		const { shape, dtype } = x;
		return [{ shape: [...shape.slice(0, 2), chunks, length, ...shape.slice(3)], dtype }];
	},
	pullback: ({ inputs: [x], attributes: { length, chunks } }, [g]) => {
		const { shape } = x;
		const [front, back] = [shape.slice(0, 2), shape.slice(3)];
		return [
			g ? g.reshape([...front, multiplyDims(chunks, length), ...back]).slice(2, 0, shape[2]) : null,
		];
	},
};

/**
 * Cuts the third axis into `chunks` chunks of a length, the last one padded with zeros: [batch, heads, chunks,
 * length, …].
 */
export const chunked = (x: Tensor, length: number, chunks: Dim): Tensor =>
	apply(chunkedOperation, [x], { length, chunks });
