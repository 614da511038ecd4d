/*
 * The curves of ContiFormer: the clock of a row, the trajectories of keys and values (RK4, one ODE per event, cubic
 * Hermite interpolation between its steps), the spline of queries, and the Gauss–Legendre points of the integrals.
 */

import type { Tensor } from "../../engine/tensor/index.js";
import * as graph from "../../engine/tensor/index.js";
import type { Observed } from "../kinds/observed.js";
import * as nn from "../nn/index.js";

/** Longest a place or a query can move the clock on; log(1 + days) is 11 after 164 years. */
const longestTick = 12;

/** 1 + log(1 + days): no two places stand at one time, and no interval is many times another. */
const tick = (gaps: Tensor): Tensor =>
	graph.add(1, graph.add(1, gaps.relu()).log()).minimum(longestTick);

/**
 * Where the places of a row stand in the time that its ODEs, its spline and its integrals run in. A row's span is its
 * unit, unless it is shorter than a tick for each place of the window.
 */
export function clockOf({ gaps, mask }: Pick<Observed, "gaps" | "mask">) {
	const ticks = mask.mul(mask.mul(tick(gaps)).cumulativeSum(1).sub(1)); // 0 at the first event
	const unit = ticks.slice(1, -1).maximum(mask.shape[1] as number);
	const places = ticks.div(unit);
	return {
		/** From 0 at the first event to at most 1 at the last. */
		places, // [rows, places]
		/** What no query goes beyond. */
		end: places.slice(1, -1).add(graph.div(longestTick, unit)), // [rows, 1]
		mask, // [rows, places]
		/** Ticks in a unit. */
		unit, // [rows, 1]
	};
}

type Clock = ReturnType<typeof clockOf>;

/** From the last place to queries that come so many days after it, [rows, queries]. */
export const clockAfter = ({ unit }: Clock, gaps: Tensor): Tensor => tick(gaps).div(unit);

export const flowWeights = (width: number, inside: number): nn.WeightSpecs => ({
	...nn.nested("state", nn.linearWeights(width, inside)),
	...nn.nested("time", nn.linearWeights(1, inside, { bias: false })),
	// Nearly at rest at the start, where it is an ordinary Transformer.
	...nn.nested("out", nn.linearWeights(inside, width, { deviation: 0.1 / Math.sqrt(inside) })),
});

/** f(τ, y) = W₂ tanh(W₁ y + w τ + b₁) + b₂; the times are [..., 1]. */
function flow(p: nn.Weights, y: Tensor, times: Tensor): Tensor {
	const inside = nn.linear(p, "state", y).add(nn.project(p, "time", times));
	return nn.linear(p, "out", inside.tanh());
}

/** [rows, places, 1]: one step's length of each place's way on to the clock's end, and back to its start. */
function stepsOf({ places, end }: Clock, steps: number): { onward: Tensor; back: Tensor } {
	const each = (x: Tensor) => x.mul(1 / steps).reshape([...x.shape, 1]);
	return { onward: each(end.sub(places)), back: each(places) };
}

/**
 * dy/dτ = f(τ, y) from every place, both ways. Where it goes does not depend on who looks at it: so
 * it is solved once a place, not once a pair of places, and its states and slopes at the ends of all
 * steps, from the earliest on, tell it everywhere: [rows, places, 2 (2 steps + 1), width].
 */
export function trajectories(p: nn.Weights, start: Tensor, clock: Clock, steps: number): Tensor {
	const { onward, back } = stepsOf(clock, steps);
	const h = graph.stack([onward, back.mul(-1)], 0); // [2, rows, places, 1]
	const from = clock.places.reshape([...clock.places.shape, 1]);
	let y = graph.stack([start, start], 0);
	const states = [y];
	for (let i = 0; i < steps; i++) {
		y = nn.rungeKutta4((now, passed) => flow(p, now, from.add(h.mul(i + passed))), y, h, 1);
		states.push(y);
	}
	const grid = Array.from({ length: steps + 1 }, (_, i) => from.add(h.mul(i)));
	const [all, times] = [inOrder(states), inOrder(grid)];
	return graph.concat([all, flow(p, all, times)], 2);
}

/** What lies both ways, [2, rows, places, …] from each place on, as one line from the earliest to the latest. */
function inOrder(states: readonly Tensor[]): Tensor {
	const all = graph.stack(states, 3); // [2, rows, places, steps + 1, width]
	const way = (i: number) => all.slice(0, i, i + 1).reshape(all.shape.slice(1));
	return graph.concat(
		[
			way(1)
				.flip(2)
				.slice(2, 0, states.length - 1),
			way(0),
		],
		2,
	);
}

/**
 * How a trajectory is read at other times of the clock, [rows, times]: cubics that meet states and
 * slopes at both ends of each step (Hermite), as far from the truth as the steps themselves. To be
 * multiplied with what `trajectories` gives: [rows, places, times, 2 (2 steps + 1)].
 */
export function readings(clock: Clock, at: Tensor, steps: number): Tensor {
	const [rows, count] = at.shape as [number, number];
	const { onward, back } = stepsOf(clock, steps);
	const offset = at.reshape([rows, 1, count]).sub(clock.places.reshape([...clock.places.shape, 1])); // [rows, places, times]
	const step = graph.where(offset.less(0), back, onward);
	const apart = (x: Tensor) => x.reshape([...x.shape, 1]);
	const grid = Array.from({ length: 2 * steps + 1 }, (_, i) => i - steps);
	const z = apart(offset.div(step)).sub(graph.constant(grid, [grid.length], at.dtype));
	const near = graph.sub(1, z.abs()).relu();
	const weight = near.square();
	return graph.concat([weight.mul(graph.sub(3, near.mul(2))), z.mul(weight).mul(apart(step))], -1);
}

/** How a trajectory is read where it starts, [2 (2 steps + 1)]. */
export const startReading = (steps: number): number[] =>
	Array.from({ length: 2 * (2 * steps + 1) }, (_, i) => Number(i === steps));

/** Knots of curves, and which of the intervals between them are there at all: padding comes first. */
export function knotsOf(at: Tensor, mask: Tensor) {
	const last = (at.shape[1] as number) - 1;
	const joined = mask.slice(1, 0, last);
	const lengths = at.slice(1, 1).sub(at.slice(1, 0, last));
	return {
		/** Lengths of the intervals; any above 0 where there is none. */
		lengths: graph.where(graph.less(0, joined), lengths, 1), // [rows, knots − 1]
		/** 1 where both ends are events. */
		joined, // [rows, knots − 1]
	};
}

type Knots = ReturnType<typeof knotsOf>;

/** Powers of two up to which E is squared: what is left out is below 2⁻³². */
const squarings = 4;

/**
 * How second derivatives M at the knots follow from what a natural cubic spline is to go through. With M'' continuous,
 * at every inner knot
 *
 *     ½λₙ Mₙ₋₁ + Mₙ + ½(1 − λₙ) Mₙ₊₁ = 3 / (hₙ₋₁ + hₙ) ((yₙ₊₁ − yₙ) / hₙ − (yₙ − yₙ₋₁) / hₙ₋₁)
 *
 * with λₙ = hₙ₋₁ / (hₙ₋₁ + hₙ), and M = 0 at the ends. So (I + E) M = R y where no row of E sums to
 * more than ½, and (I + E)⁻¹ = (I − E)(I + E²)(I + E⁴)(I + E⁸)(I + E¹⁶) to rounding. Times alone
 * decide it: no gradient goes through.
 */
export function bendingOf({ lengths, joined }: Knots) {
	const [rows, intervals] = lengths.shape as [number, number];
	const count = intervals + 1;
	const inner = (x: Tensor) => x.pad(1, 1, 1).reshape([rows, count, 1]);
	const [h0, h1] = [lengths.slice(1, 0, intervals - 1), lengths.slice(1, 1)];
	const inside = joined.slice(1, 0, intervals - 1);
	const both = h0.add(h1);
	const band = (offset: number) =>
		nn.table([count, count], (i, j) => Number(j - i === offset), lengths.dtype);
	const [before, here, after] = [band(-1), band(0), band(1)];
	const part = (x: Tensor) => inner(inside.mul(x));
	const e = part(h0.mul(0.5).div(both))
		.mul(before)
		.add(part(h1.mul(0.5).div(both)).mul(after));
	const [r0, r1] = [graph.div(3, both.mul(h0)), graph.div(3, both.mul(h1))];
	const r = part(r0)
		.mul(before)
		.add(part(r1).mul(after))
		.sub(part(r0.add(r1)).mul(here));
	let inverse = here.sub(e);
	let power = e;
	for (let i = 0; i < squarings; i++) {
		power = power.matmul(power);
		inverse = inverse.add(inverse.matmul(power));
	}
	return {
		/** Second derivatives from values. */
		ofValues: inverse.matmul(r), // [rows, knots, knots]
		/** Of the curve that is 0 at all knots and bends by 1 at the last, where a natural one does not. */
		ofLast: inverse.slice(2, -1), // [rows, knots, 1]
	};
}

/** What a cubic is at both ends of an interval; its second derivatives too. */
interface Piece {
	readonly values: readonly [Tensor, Tensor]; // [rows, intervals, width]
	readonly bends: readonly [Tensor, Tensor];
	readonly length: Tensor; // [rows, intervals]
}

/** Pieces of a spline at parts of their intervals, from 0 to 1, [rows, intervals, parts, width]. */
export function inside({ values, bends, length }: Piece, parts: readonly number[]): Tensor {
	const apart = (x: Tensor) => {
		const [rows, intervals, width] = x.shape as [number, number, number];
		return x.reshape([rows, intervals, 1, width]);
	};
	const each = (f: (s: number) => number) =>
		graph.constant(parts.map(f), [parts.length, 1], length.dtype);
	const [y0, y1] = values.map(apart) as [Tensor, Tensor];
	const [m0, m1] = bends.map(apart) as [Tensor, Tensor];
	const straight = y0.mul(each((s) => 1 - s)).add(y1.mul(each((s) => s)));
	const bent = m0.mul(each((s) => (1 - s) ** 3 - (1 - s))).add(m1.mul(each((s) => s ** 3 - s)));
	const sixth = length.mul(length).mul(1 / 6);
	return straight.add(bent.mul(sixth.reshape([...length.shape, 1, 1])));
}

export function pieces(values: Tensor, bends: Tensor, { lengths }: Knots): Piece {
	const ends = (x: Tensor): [Tensor, Tensor] => [
		x.slice(1, 0, (x.shape[1] as number) - 1),
		x.slice(1, 1),
	];
	return { values: ends(values), bends: ends(bends), length: lengths };
}

/** Natural splines through the knots and each through one more after the last. */
interface Further {
	/** How far after the last knot. */
	readonly length: Tensor; // [rows, queries]
	readonly values: Tensor; // [rows, queries, width]
}

/**
 * The second derivative m that each curve then has at the knot that was the last: it is the old
 * spline + m × the curve of `ofLast`, and from there on the cubic with m at one end and 0 at the
 * other. It follows from the equation of that knot.
 */
export function bendAtLast(
	values: Tensor,
	bends: Tensor,
	{ lengths, joined }: Knots,
	{ ofLast }: ReturnType<typeof bendingOf>,
	further: Further,
): Tensor {
	const [rows, queries] = further.length.shape as [number, number];
	const h0 = lengths.slice(1, -1).reshape([rows, 1, 1]);
	const h1 = further.length.reshape([rows, queries, 1]);
	const beforeLast = (x: Tensor) => x.slice(1, -2, -1); // [rows, 1, width]
	const last = values.slice(1, -1);
	const turn = further.values
		.sub(last)
		.div(h1)
		.sub(last.sub(beforeLast(values)).div(h0));
	const above = turn.mul(6).sub(h0.mul(beforeLast(bends)));
	const below = h0
		.add(h1)
		.mul(2)
		.add(h0.mul(beforeLast(ofLast)));
	return above.div(below).mul(joined.slice(1, -1).reshape([rows, 1, 1])); // [rows, queries, width]
}

/** Points and weights of Gauss and Legendre on [0, 1], exact for polynomials of degree 2n − 1. */
interface Rule {
	readonly points: readonly number[];
	readonly weights: readonly number[];
}

/** P_n(x) and its derivative, by the three-term recurrence. */
function legendre(n: number, x: number): readonly [value: number, slope: number] {
	let [before, now] = [1, x];
	for (let k = 2; k <= n; k++)
		[before, now] = [now, ((2 * k - 1) * x * now - (k - 1) * before) / k];
	return [now, (n * (x * now - before)) / (x * x - 1)];
}

/** The points are the roots of P_n, by Newton's method from near them. */
export function gaussLegendre(n: number): Rule {
	const roots = Array.from({ length: n }, (_, i) => {
		let x = -Math.cos((Math.PI * (i + 0.75)) / (n + 0.5));
		for (let step = 0; step < 20; step++) {
			const [value, slope] = legendre(n, x);
			x -= value / slope;
		}
		return x;
	});
	return {
		points: roots.map((x) => (1 + x) / 2),
		weights: roots.map((x) => 1 / ((1 - x * x) * legendre(n, x)[1] ** 2)),
	};
}

/** How finely curves are followed. */
export interface Fineness {
	/** Steps of an ODE each way. */
	readonly steps: number;
	/** Points between two places at which integrands are read. */
	readonly points: number;
}

/** All that the times of a row decide, and which places may be looked at: nothing here is learned. */
export function timesOf(clock: Clock, shown: Tensor, { steps, points }: Fineness) {
	const rule = gaussLegendre(points);
	const knots = knotsOf(clock.places, clock.mask);
	const intervals = knots.lengths.shape[1] as number;
	const start = clock.places.slice(1, 0, intervals);
	const { at, weight } = nodesOf(rule, start, knots.lengths.mul(knots.joined));
	return {
		clock,
		shown,
		knots,
		bending: bendingOf(knots),
		rule,
		/** How trajectories are read at the points between places, nodes = (places − 1) points in all. */
		read: readings(clock, at, steps), // [rows, places, nodes, grid]
		/** What each weighs in an integral. */
		weight, // [rows, nodes]
	};
}

export type Times = ReturnType<typeof timesOf>;

/** A rule's points in intervals from `start` on, and what they weigh there: [rows, intervals × points]. */
export function nodesOf({ points, weights }: Rule, start: Tensor, length: Tensor) {
	const each = (x: Tensor) => x.reshape([...x.shape, 1]);
	const row = (values: readonly number[]) => graph.constant(values, [values.length], length.dtype);
	const flat = (x: Tensor) => x.reshape([x.shape[0] as number, -1]);
	return {
		at: flat(each(start).add(each(length).mul(row(points)))),
		weight: flat(each(length).mul(row(weights))),
	};
}
