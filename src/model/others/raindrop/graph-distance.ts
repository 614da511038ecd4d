import {
	abs,
	cast,
	div,
	equal,
	matmul,
	maximum,
	mul,
	reshape,
	roll,
	sub,
	sum,
	type Tensor,
} from "../../../engine/tensor/index.js";
import type { Sensors } from "./sensor-graph.js";

/**
 * How much the graphs of two windows differ: the mean of |e_uv − e'_uv| over the edges whose sensors are
 * in both. Each window is held against the one half a batch further on.
 */
export function graphDistance({ tokens, isSensor }: Sensors, edges: Tensor): Tensor {
	const [rows, sensors] = tokens.shape as [number, number];
	const other = (x: Tensor) => roll(x, 0, -Math.floor(rows / 2));
	const down = (x: Tensor) => reshape(x, [rows, sensors, 1]);
	const across = (x: Tensor) => reshape(x, [rows, 1, sensors]);
	// 1 where place i of a window and place j of the other stand for one sensor.
	const match = mul(
		mul(cast(equal(down(tokens), across(other(tokens))), edges.dtype), down(isSensor)),
		across(other(isSensor)),
	);
	const shared = sum(match, 2);
	const pairs = mul(down(shared), across(shared));
	const theirs = matmul(matmul(match, other(edges)), match, { transposeB: true });
	return div(sum(abs(sub(mul(edges, pairs), theirs))), maximum(sum(pairs), 1));
}
