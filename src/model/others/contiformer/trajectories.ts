import {
	abs,
	add,
	concat,
	constant,
	div,
	flip,
	less,
	mul,
	relu,
	reshape,
	slice,
	square,
	stack,
	sub,
	type Tensor,
	tanh,
	where,
} from "../../../engine/tensor/index.js";
import { linear, linearWeights, project } from "../../nn/linear.js";
import { rungeKutta4 } from "../../nn/ode.js";
import { nested, type WeightSpecs, type Weights, within } from "../../nn/weights.js";
import type { Clock } from "./clock.js";

export const flowWeights = (width: number, inside: number): WeightSpecs => ({
	...nested("state", linearWeights(width, inside)),
	...nested("time", linearWeights(1, inside, { bias: false })),
	// Nearly at rest at the start, where it is an ordinary Transformer.
	...nested("out", linearWeights(inside, width, { deviation: 0.1 / Math.sqrt(inside) })),
});

/** f(τ, y) = W₂ tanh(W₁ y + w τ + b₁) + b₂; the times are [..., 1]. */
function flow(p: Weights, y: Tensor, times: Tensor): Tensor {
	const inside = add(linear(within(p, "state"), y), project(within(p, "time"), times));
	return linear(within(p, "out"), tanh(inside));
}

/** [rows, places, 1]: one step's length of each place's way on to the clock's end, and back to its start. */
function stepsOf({ places, end }: Clock, steps: number): { onward: Tensor; back: Tensor } {
	const each = (x: Tensor) => reshape(mul(x, 1 / steps), [...x.shape, 1]);
	return { onward: each(sub(end, places)), back: each(places) };
}

/**
 * dy/dτ = f(τ, y) from every place, both ways. Where it goes does not depend on who looks at it: so
 * it is solved once a place, not once a pair of places, and its states and slopes at the ends of all
 * steps, from the earliest on, tell it everywhere: [rows, places, 2 (2 steps + 1), width].
 */
export function trajectories(p: Weights, start: Tensor, clock: Clock, steps: number): Tensor {
	const { onward, back } = stepsOf(clock, steps);
	const h = stack([onward, mul(back, -1)], 0); // [2, rows, places, 1]
	const from = reshape(clock.places, [...clock.places.shape, 1]);
	let y = stack([start, start], 0);
	const states = [y];
	for (let i = 0; i < steps; i++) {
		y = rungeKutta4((now, passed) => flow(p, now, add(from, mul(h, i + passed))), y, h, 1);
		states.push(y);
	}
	const grid = Array.from({ length: steps + 1 }, (_, i) => add(from, mul(h, i)));
	const [all, times] = [inOrder(states), inOrder(grid)];
	return concat([all, flow(p, all, times)], 2);
}

/** What lies both ways, [2, rows, places, …] from each place on, as one line from the earliest to the latest. */
function inOrder(states: readonly Tensor[]): Tensor {
	const all = stack(states, 3); // [2, rows, places, steps + 1, width]
	const way = (i: number) => reshape(slice(all, 0, i, i + 1), all.shape.slice(1));
	return concat([slice(flip(way(1), 2), 2, 0, states.length - 1), way(0)], 2);
}

/**
 * How a trajectory is read at other times of the clock, [rows, times]: cubics that meet states and
 * slopes at both ends of each step (Hermite), as far from the truth as the steps themselves. To be
 * multiplied with what `trajectories` gives: [rows, places, times, 2 (2 steps + 1)].
 */
export function readings(clock: Clock, at: Tensor, steps: number): Tensor {
	const [rows, count] = at.shape as [number, number];
	const { onward, back } = stepsOf(clock, steps);
	const offset = sub(
		reshape(at, [rows, 1, count]),
		reshape(clock.places, [...clock.places.shape, 1]),
	); // [rows, places, times]
	const step = where(less(offset, 0), back, onward);
	const apart = (x: Tensor) => reshape(x, [...x.shape, 1]);
	const grid = Array.from({ length: 2 * steps + 1 }, (_, i) => i - steps);
	const z = sub(apart(div(offset, step)), constant(grid, [grid.length], at.dtype));
	const near = relu(sub(1, abs(z)));
	const weight = square(near);
	return concat([mul(weight, sub(3, mul(near, 2))), mul(mul(z, weight), apart(step))], -1);
}

/** How a trajectory is read where it starts, [2 (2 steps + 1)]. */
export const startReading = (steps: number): number[] =>
	Array.from({ length: 2 * (2 * steps + 1) }, (_, i) => Number(i === steps));
