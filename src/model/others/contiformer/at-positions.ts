import {
	add,
	constant,
	div,
	equal,
	matmul,
	mul,
	reshape,
	sub,
	sum,
	type Tensor,
	where,
} from "../../../engine/tensor/index.js";
import type { Weights } from "../../nn/weights.js";
import { atNodes, curvesOf, type Means, ownership, type Sizes } from "./attention.js";
import type { Times } from "./times.js";
import { startReading } from "./trajectories.js";

/**
 * From every place to every place, earlier or later:
 *
 *     α_ij = ∫ q(τ) · k_i(τ) dτ / (t_j − t_i)     v̂_ij = ∫ v_i(τ) dτ / (t_j − t_i)     from t_i to t_j
 *
 * and q(t_i) · k_i, v_i where i is j. An integral is the difference of two sums over the points
 * between places, from the first place up to t_j and up to t_i.
 */
export function meansAtPositions(p: Weights, sizes: Sizes, x: Tensor, times: Times): Means {
	const { queries, bends, starts, keys, values } = curvesOf(p, sizes, x, times);
	const [rows, places] = times.shown.shape as [number, number];
	const { dtype } = x;
	const upTo = sumsUpTo(places, sizes.points, dtype);
	const same = constant(
		Array.from({ length: places * places }, (_, at) => Number(at % (places + 1) === 0)),
		[places, places],
		dtype,
	);
	const at = times.clock.places;
	const lag = sub(reshape(at, [rows, 1, places]), reshape(at, [rows, places, 1]));
	const over = where(equal(lag, 0), 1, lag); // [rows, from, to]
	const weight = reshape(times.weight, [rows, 1, -1, 1]);

	const q = mul(atNodes(queries, bends, times), weight);
	const own = ownership(sizes, dtype);
	const each = matmul(mul(matmul(times.read, keys), q), own); // [rows, from, nodes, heads]
	const passed = matmul(each, upTo, { transposeA: true }); // [rows, from, heads, to]
	const here = reshape(same, [places, 1, places]);
	const between = sub(passed, sum(mul(passed, here), 3, true));
	const atOnce = reshape(matmul(mul(starts, queries), own), [rows, places, sizes.heads, 1]);

	// Values are means of readings, so that no trajectory is written out at all points.
	const read = matmul(upTo, mul(times.read, weight), { transposeA: true }); // [rows, from, to, grid]
	const there = reshape(same, [places, places, 1]);
	const readBetween = sub(read, sum(mul(read, there), 2, true));
	const start = startReading(sizes.steps);
	const reading = add(
		div(readBetween, reshape(over, [rows, places, places, 1])),
		mul(there, constant(start, [start.length], dtype)),
	);
	return {
		products: add(div(between, reshape(over, [rows, places, 1, places])), mul(atOnce, here)),
		values: matmul(reading, values),
	};
}

/** [nodes, places]: which points come before which place. */
const sumsUpTo = (places: number, points: number, dtype: Tensor["dtype"]): Tensor =>
	constant(
		Array.from({ length: (places - 1) * points * places }, (_, at) =>
			Number(Math.floor(at / places / points) < at % places),
		),
		[(places - 1) * points, places],
		dtype,
	);
