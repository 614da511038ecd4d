import { add, constant, mul, reshape, slice, type Tensor } from "../../../engine/tensor/index.js";
import type { Clock } from "./clock.js";
import { gaussLegendre, type Rule } from "./quadrature.js";
import { type Bending, bendingOf, type Knots, knotsOf } from "./spline.js";
import { readings } from "./trajectories.js";

/** How finely curves are followed. */
export interface Fineness {
	/** Steps of an ODE each way. */
	readonly steps: number;
	/** Points between two places at which integrands are read. */
	readonly points: number;
}

/** All that the times of a row decide: nothing here is learned. */
export interface Times {
	readonly clock: Clock;
	/** Which places may be looked at. */
	readonly shown: Tensor; // [rows, places]
	readonly knots: Knots;
	readonly bending: Bending;
	readonly rule: Rule;
	/** How trajectories are read at the points between places, nodes = (places − 1) points in all. */
	readonly read: Tensor; // [rows, places, nodes, grid]
	/** What each weighs in an integral. */
	readonly weight: Tensor; // [rows, nodes]
}

export function timesOf(clock: Clock, shown: Tensor, { steps, points }: Fineness): Times {
	const rule = gaussLegendre(points);
	const knots = knotsOf(clock.places, clock.mask);
	const intervals = knots.lengths.shape[1] as number;
	const start = slice(clock.places, 1, 0, intervals);
	const { at, weight } = nodesOf(rule, start, mul(knots.lengths, knots.joined));
	return {
		...{ clock, shown, knots, bending: bendingOf(knots), rule, weight },
		read: readings(clock, at, steps),
	};
}

/** A rule's points in intervals from `start` on, and what they weigh there: [rows, intervals × points]. */
export function nodesOf(
	{ points, weights }: Rule,
	start: Tensor,
	length: Tensor,
): { readonly at: Tensor; readonly weight: Tensor } {
	const each = (x: Tensor) => reshape(x, [...x.shape, 1]);
	const row = (values: readonly number[]) => constant(values, [values.length], length.dtype);
	const flat = (x: Tensor) => reshape(x, [x.shape[0] as number, -1]);
	return {
		at: flat(add(each(start), mul(each(length), row(points)))),
		weight: flat(mul(each(length), row(weights))),
	};
}
