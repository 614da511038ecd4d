import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import { plainWeights } from "../nn/testing/plain.js";
import { nested, within } from "../nn/weights.js";
import * as curves from "./contiformer-curves.js";
import { followed, plainSpline } from "./testing/plain-attention.js";

test("n points integrate x^k from 0 to 1 exactly up to k = 2n − 1, and no further", () => {
	for (let n = 1; n <= 8; n++) {
		const { points, weights } = curves.gaussLegendre(n);
		const integral = (k: number) => points.reduce((sum, x, i) => sum + weights[i] * x ** k, 0);
		for (let k = 0; k < 2 * n; k++) expect(integral(k)).toBeCloseTo(1 / (k + 1), 13);
		expect(Math.abs(integral(2 * n) - 1 / (2 * n + 1))).toBeGreaterThan(1e-10);
	}
});

const knots = 7;
const parts = [0.1, 0.5, 0.9];
const draw = random(3);
// The second row is padded before its third knot, the last one has a single knot.
const starts = [0, 2, 6];
const at = starts.map((start) => {
	let time = 0;
	return Array.from({ length: knots }, (_, i) => {
		if (i > start) time += 0.05 + 10 ** (2 * draw.uniform() - 2);
		return time;
	});
});
const maskValues = starts.map((start) =>
	Array.from({ length: knots }, (_, i) => Number(i >= start)),
);
const values = at.map((row) => row.map(() => [draw.normal(), draw.normal()]));
const further = { length: [0.3, 0.02, 0.4], values: [0.7, -2, 1.5] };

const [t, mask] = [input("at", [3, knots], "float64"), input("mask", [3, knots], "float64")];
const y = input("values", [3, knots, 2], "float64");
const places = curves.knotsOf(t, mask);
const bending = curves.bendingOf(places);
const bends = bending.ofValues.matmul(y);
const fed = { at: at.flat(), mask: maskValues.flat(), values: values.flat(2) };

/** Of row and number, at parts of the intervals between knots that are events. */
const wanted = (curveOf: (row: number, number: number) => (at: number) => number) =>
	at.flatMap((times, row) =>
		times
			.slice(0, -1)
			.flatMap((from, i) =>
				parts.flatMap((part) =>
					[0, 1].map((number) =>
						i < starts[row] ? 0 : curveOf(row, number)(from + part * (times[i + 1] - from)),
					),
				),
			),
	);
const whereJoined = places.joined.reshape([3, knots - 1, 1, 1]);

test("goes through its knots as one that is solved by elimination, padding left out", async () => {
	const curve = curves.inside(curves.pieces(y, bends, places), parts).mul(whereJoined);
	const { got } = await evaluate({ got: curve }, fed);
	const plain = (row: number, number: number) =>
		plainSpline(
			at[row].slice(starts[row]),
			values[row].slice(starts[row]).map((both) => both[number]),
		);
	expect(relativeError(got, wanted(plain))).toBeLessThan(1e-8);
});

test("one more knot makes it the old one, m times the curve of a bend at its end, and one piece more", async () => {
	const length = input("length", [3, 1], "float64");
	const next = input("next", [3, 1, 1], "float64");
	const last = { length, values: next };
	const one = (x: typeof y) => x.matmul(input("first", [2, 1], "float64")).reshape([3, -1, 1]);
	const own = bending.ofValues.matmul(one(y));
	const m = curves.bendAtLast(one(y), own, places, bending, last);
	const curve = curves.pieces(one(y), own.add(bending.ofLast.mul(m)), places);
	const { got, bend } = await evaluate(
		{ got: curves.inside(curve, parts).mul(whereJoined), bend: m },
		{ ...fed, length: further.length, next: further.values, first: [1, 0] },
	);
	const plain = (row: number) =>
		plainSpline(
			[...at[row].slice(starts[row]), at[row].at(-1)! + further.length[row]],
			[...values[row].slice(starts[row]).map((both) => both[0]), further.values[row]],
		);
	const all = wanted(plain).filter((_, i) => i % 2 === 0);
	expect(relativeError(got, all)).toBeLessThan(1e-8);
	expect(bend[2]).toBe(0); // two knots are joined by a straight line
});

describe("trajectories", () => {
	const [rows, places, width] = [1, 4, 3];
	const draw = random(2);
	const { p, values: weights } = plainWeights(nested("flow", curves.flowWeights(width, 6)), {
		noise: 0.4,
		dtype: "float64",
	});
	const fed = {
		...weights,
		start: Array.from({ length: places * width }, () => draw.normal()),
		gaps: [0, 20, 300, 4],
		mask: [1, 1, 1, 1],
		at: [0, 0.1, 0.33, 0.5, 0.77, 0.98, 1.2],
	};
	const clock = curves.clockOf({
		gaps: input("gaps", [rows, places], "float64"),
		mask: input("mask", [rows, places], "float64"),
	});
	const start = input("start", [rows, places, width], "float64");
	const at = input("at", [rows, fed.at.length], "float64");

	test("are read everywhere, before and after their start, with an error of the fourth order", async () => {
		const solved = async (steps: number) => {
			const read = curves
				.readings(clock, at, steps)
				.matmul(curves.trajectories(within(p, "flow"), start, clock, steps));
			return (await evaluate({ read }, fed)).read;
		};
		const { places: from } = await evaluate({ places: clock.places }, fed);
		const fine = from.flatMap((time, place) => {
			const own = fed.start.slice(place * width, (place + 1) * width);
			return fed.at.flatMap((to) => followed(weights, "flow", own, time, to, 400));
		});
		const errors = await Promise.all(
			[4, 8, 16].map(async (steps) =>
				(await solved(steps)).reduce((most, y, i) => Math.max(most, Math.abs(y - fine[i])), 0),
			),
		);
		expect(errors[0]).toBeLessThan(5e-3);
		for (const [i, error] of errors.slice(1).entries())
			expect(errors[i] / error).toBeGreaterThan(10);
	});
});
