import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import { paddingMask } from "../nn/layers.js";
import { plainWeights, sigmoid } from "../nn/testing/plain.js";
import { nested, within } from "../nn/weights.js";
import { conformance } from "../testing/conformance.js";
import * as mtand from "./mtand.js";

conformance("mtand");

const draw = random(4);
const normals = (count: number) => Array.from({ length: count }, () => draw.normal());

test("multi-time attention weighs what is seen by times alone, head by head, as written in the paper", async () => {
	const [rows, observations, queries, heads, time, width, outside] = [2, 4, 3, 2, 6, 5, 7];
	const { p, values, linear } = plainWeights({
		...nested("time", mtand.timeVectorWeights(time)),
		...nested("attention", mtand.timeAttentionWeights({ heads, time, width, outside })),
	});
	const seen = Array.from({ length: rows * observations }, () => -9 * draw.uniform());
	const asked = Array.from({ length: rows * queries }, () => 3 * draw.uniform() - 5);
	const x = normals(rows * observations * width);
	const mask = [0, 1, 1, 1, 1, 1, 0, 1];

	const vectors = (years: ReturnType<typeof input>) => mtand.timeVectors(within(p, "time"), years);
	const attended = mtand.timeAttention(
		within(p, "attention"),
		vectors(input("asked", [rows, queries])),
		{
			times: vectors(input("seen", [rows, observations])),
			values: input("x", [rows, observations, width]),
			mask: paddingMask(input("mask", [rows, observations])),
		},
		heads,
	);
	const { got } = await evaluate({ got: attended }, { ...values, seen, asked, x, mask });

	/** [ω₀ t + α₀, sin(ω₁ t + α₁), …] */
	const phi = (t: number) => [
		values["time.linear.rate"][0] * t + values["time.linear.shift"][0],
		...Array.from(values["time.waves.rate"], (rate, i) =>
			Math.sin(rate * t + values["time.waves.shift"][i]),
		),
	];
	const size = time / heads;
	const wanted = asked.flatMap((at, cell) => {
		const row = Math.floor(cell / queries);
		const query = linear("attention.query", phi(at));
		const carried = Array.from({ length: heads }, (_, head) => {
			const weights = Array.from({ length: observations }, (_, i) => {
				const key = linear("attention.key", phi(seen[row * observations + i]));
				let score = 0;
				for (let n = head * size; n < (head + 1) * size; n++) score += query[n] * key[n];
				return mask[row * observations + i] * Math.exp(score / Math.sqrt(size));
			});
			const whole = weights.reduce((sum, w) => sum + w, 0);
			return Array.from({ length: width }, (_, n) =>
				weights.reduce(
					(sum, w, i) => sum + (w / whole) * x[(row * observations + i) * width + n],
					0,
				),
			);
		});
		return linear("attention.out", carried.flat());
	});
	expect(relativeError(got, wanted)).toBeLessThan(1e-5);
});

test("two GRUs, one from each end, are as one after the other", async () => {
	const [rows, places, inside, width] = [2, 4, 3, 2];
	const { p, values, linear, project } = plainWeights(mtand.bidirectionalGruWeights(inside, width));
	const x = normals(rows * places * inside);
	const states = mtand.bidirectionalGru(p, input("x", [rows, places, inside]), width);
	const { got } = await evaluate({ got: states }, { ...values, x });

	const step = (way: string, state: readonly number[], from: readonly number[]) => {
		const given = linear(`${way}.input`, from);
		const gates = project(`${way}.gates`, state).map((value, i) => sigmoid(value + given[i]));
		const kept = state.map((value, i) => gates[width + i] * value);
		const candidate = project(`${way}.candidate`, kept);
		return state.map((value, i) => {
			const next = Math.tanh(candidate[i] + given[2 * width + i]);
			return (1 - gates[i]) * value + gates[i] * next;
		});
	};
	const wanted = new Array<number>(got.length).fill(0);
	for (let row = 0; row < rows; row++)
		for (const [side, way] of ["onward", "back"].entries()) {
			let state: readonly number[] = new Array<number>(width).fill(0);
			for (let n = 0; n < places; n++) {
				const cell = row * places + (side === 0 ? n : places - 1 - n);
				state = step(way, state, x.slice(cell * inside, (cell + 1) * inside));
				for (const [i, value] of state.entries()) wanted[(cell * 2 + side) * width + i] = value;
			}
		}
	expect(relativeError(got, wanted)).toBeLessThan(1e-5);
});
