import {
	add,
	constant,
	div,
	filled,
	matmul,
	mul,
	reshape,
	slice,
	sub,
	sum,
	type Tensor,
} from "../../../engine/tensor/index.js";
import { linear } from "../../nn/linear.js";
import { type Weights, within } from "../../nn/weights.js";
import { atNodes, curvesOf, type Means, ownership, type Sizes } from "./attention.js";
import { bendAtLast, inside } from "./spline.js";
import { nodesOf, type Times } from "./times.js";
import { readings } from "./trajectories.js";

/** Places after the last one, each alone: what they hold, and how far after it they come on the clock. */
export interface LaterQueries {
	readonly x: Tensor; // [rows, queries, dim]
	readonly after: Tensor; // [rows, queries]
}

/**
 * From every place to every later one, as among places. Each query has a spline of its own, through
 * the places and itself. Up to the last place it is theirs and m times a curve that all queries
 * share, so integrals over that part are taken once; one more piece leads to the query.
 */
export function meansAtQueries(
	p: Weights,
	sizes: Sizes,
	x: Tensor,
	times: Times,
	later: LaterQueries,
): Means {
	const { queries, bends, keys, values } = curvesOf(p, sizes, x, times);
	const { clock, knots, bending, rule } = times;
	const [rows, places] = times.shown.shape as [number, number];
	const queryCount = later.after.shape[1] as number;
	const points = rule.points.length;
	const { dtype } = x;

	const query = linear(within(p, "query"), later.x);
	const m = bendAtLast(queries, bends, knots, bending, { length: later.after, values: query });
	const weight = reshape(times.weight, [rows, 1, -1, 1]);
	const read = mul(mul(times.read, onward(places, points, dtype)), weight);
	const curve = atNodes(filled(0, bending.ofLast.shape, dtype), bending.ofLast, times);
	const withSpline = sum(mul(matmul(read, keys), atNodes(queries, bends, times)), 2, true);
	const withCurve = matmul(sum(mul(read, curve), 2, true), keys); // [rows, places, 1, dim]

	const last = slice(clock.places, 1, -1);
	const nodes = nodesOf(rule, last, later.after);
	const readPiece = mul(
		readings(clock, nodes.at, sizes.steps),
		reshape(nodes.weight, [rows, 1, -1, 1]),
	);
	const piece = inside(
		{
			values: [slice(queries, 1, -1), query],
			bends: [m, filled(0, [1, 1, 1], dtype)],
			length: later.after,
		},
		rule.points,
	); // [rows, queries, points, dim]
	const byQuery = (y: Tensor) =>
		sum(reshape(y, [rows, places, queryCount, points, y.shape[3] as number]), 3);
	const withPiece = byQuery(
		mul(matmul(readPiece, keys), reshape(piece, [rows, 1, queryCount * points, -1])),
	);

	const lag = add(
		reshape(later.after, [rows, 1, queryCount, 1]),
		reshape(sub(last, clock.places), [rows, places, 1, 1]),
	);
	const whole = add(
		add(withSpline, mul(withCurve, reshape(m, [rows, 1, queryCount, -1]))),
		withPiece,
	); // [rows, places, queries, dim]
	return {
		products: matmul(ownership(sizes, dtype), div(whole, lag), {
			...{ transposeA: true, transposeB: true },
		}),
		values: matmul(div(add(sum(read, 2, true), byQuery(readPiece)), lag), values),
	};
}

/** [places, nodes, 1]: which points come after which place. */
const onward = (places: number, points: number, dtype: Tensor["dtype"]): Tensor => {
	const nodes = (places - 1) * points;
	return constant(
		Array.from({ length: places * nodes }, (_, at) =>
			Number(Math.floor((at % nodes) / points) >= Math.floor(at / nodes)),
		),
		[places, nodes, 1],
		dtype,
	);
};
