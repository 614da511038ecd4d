import type { Tensor } from "../../engine/tensor/index.js";

/**
 * What drives y at a point of the way. `passed` is the part of the span that lies behind, from 0 to
 * 1: it is the same in every row, however long the row's own span.
 */
export type Drive = (y: Tensor, passed: number) => Tensor;

/**
 * Solves over `span`, how far each row goes: [rows, 1], or any shape that broadcasts to y's. All rows
 * take so many steps, each of one length. A span of 0 leaves y as it is.
 */
export type Solver = (drive: Drive, y: Tensor, span: Tensor, steps: number) => Tensor;

/** One step: h is what `ofStep` made of its length; from `passed` on, `part` of the span. */
type Step = (drive: Drive, y: Tensor, h: Tensor, passed: number, part: number) => Tensor;

const fixedSteps =
	(step: Step, ofStep: (length: Tensor) => Tensor = (length) => length): Solver =>
	(drive, y, span, steps) => {
		if (!Number.isInteger(steps) || steps < 1)
			throw new RangeError(`an ODE is solved in 1, 2, … steps, not in ${steps}`);
		const part = 1 / steps;
		const h = ofStep(steps === 1 ? span : span.mul(part));
		let now = y;
		for (let i = 0; i < steps; i++) now = step(drive, now, h, i * part, part);
		return now;
	};

/** dy/ds = f(y) by the classic rule of Runge and Kutta: four slopes a step, an error of order h⁴. */
export const rungeKutta4 = fixedSteps((f, y, h, passed, part) => {
	const half = h.mul(0.5);
	const k1 = f(y, passed);
	const k2 = f(y.add(half.mul(k1)), passed + part / 2);
	const k3 = f(y.add(half.mul(k2)), passed + part / 2);
	const k4 = f(y.add(h.mul(k3)), passed + part);
	return y.add(h.mul(1 / 6).mul(k1.add(k4).add(k2.add(k3).mul(2))));
});

/**
 * dy/ds = g(y) − y by g + e^{−h} (y − g), exact while the target g stays where it is: an error of
 * order h, but however long the span, y stays between where it was and its targets.
 */
export const exponentialEuler = fixedSteps(
	(g, y, kept, passed) => {
		const target = g(y, passed);
		return target.add(kept.mul(y.sub(target)));
	},
	(length) => length.mul(-1).exp(),
);
