import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { input } from "../../engine/tensor/index.js";
import { slotStates } from "../heads.js";
import { headDecays } from "../nn/retention.js";
import {
	at,
	logSoftmax,
	type Matrix,
	matrix,
	plainGelu,
	plainNorm,
	plainSilu,
	plainWeights,
	plus,
	product,
	range,
	sigmoid,
	type Vector,
} from "../nn/testing/plain.js";
import { conformance } from "../testing/conformance.js";
import { batchOf, type TestHistory, vocab } from "../testing/histories.js";
import { convolution, convolutionWeights, timelygpt } from "./timelygpt.js";

conformance("timelygpt");

const config = timelygpt.config.parse({
	...{ layers: 2, heads: 2, dim: 8, ff: 6, kernel: 3, vocab },
});
const { heads, dim, kernel, decayUnitDays } = config;
const size = dim / heads;

const { weights, values, rows, symbols, project, linear, norm } = plainWeights(
	timelygpt.weights(config),
	{ noise: 0.2, dtype: "float64" },
);

/** xPos of one head at a time in units: queries fade with it, keys grow. */
const placed = (x: Vector, units: number, role: "query" | "key"): Vector => {
	const turned: number[] = [];
	for (let i = 0; i < size / 2; i++) {
		const angle = units * 10000 ** ((-2 * i) / size);
		const fading = ((2 * i + 0.4 * size) / (1.4 * size)) ** (units / 512);
		const scale = role === "query" ? fading : 1 / fading;
		const [a, b] = [x[i], x[i + size / 2]];
		turned[i] = scale * (a * Math.cos(angle) - b * Math.sin(angle));
		turned[i + size / 2] = scale * (a * Math.sin(angle) + b * Math.cos(angle));
	}
	return turned;
};
const headOf = (x: Vector, head: number) => x.slice(head * size, (head + 1) * size);

/** What one layer holds: a matrix a head as it was at some time, and what its convolution saw. */
interface Holding {
	readonly units: number;
	readonly states: readonly Matrix[];
	readonly gated: readonly Vector[];
}

const decayed = ({ states, units }: Holding, now: number): Matrix[] =>
	states.map((state, head) =>
		state.map((row) => row.map((x) => x * headDecays(heads)[head] ** (now - units))),
	);

const reading = (layer: string, x: Vector, states: readonly Matrix[], units: number): Vector => {
	const q = project(`${layer}.query`, x);
	const outputs = states.flatMap((state, head) => {
		const query = placed(headOf(q, head), units, "query");
		return plainNorm(
			range(
				size,
				(j) =>
					range(size, (i) => query[i] * at(state, i, j)).reduce((a, b) => a + b) / Math.sqrt(size),
			),
		);
	});
	const gates = project(`${layer}.gate`, x).map(plainSilu);
	return project(
		`${layer}.out`,
		outputs.map((o, i) => o * gates[i]),
	);
};

const gatedOf = (layer: string, x: Vector): Vector => {
	const both = linear(`${layer}.gated`, x);
	return range(dim, (c) => both[c] * sigmoid(both[c + dim]));
};

/** From what came before and the last one itself. */
const convolved = (layer: string, before: readonly Vector[], own: Vector): Vector => {
	const taps = matrix(values[`${layer}.depthwise`], kernel);
	const seen = [...before, own].reverse();
	const local = range(dim, (c) =>
		range(
			Math.min(kernel, seen.length),
			(back) => seen[back][c] * at(taps, c, kernel - 1 - back),
		).reduce((a, b) => a + b),
	);
	return linear(`${layer}.out`, norm(`${layer}.norm`, local).map(plainSilu));
};

/** One event or query through a layer: from the states it is to read and the events before it. */
function through(
	i: number,
	x: Vector,
	states: (normed: Vector) => readonly Matrix[],
	units: number,
	before: readonly Vector[],
) {
	const layer = `layers.${i}`;
	const normed = norm(`${layer}.retentionNorm`, x);
	const read = states(normed);
	const seen = plus(x, reading(`${layer}.retention`, normed, read, units));
	const own = gatedOf(`${layer}.convolution`, norm(`${layer}.convolutionNorm`, seen));
	const near = plus(seen, convolved(`${layer}.convolution`, before, own));
	const inside = linear(`${layer}.feedForward.up`, norm(`${layer}.feedForwardNorm`, near));
	const fed = linear(`${layer}.feedForward.down`, inside.map(plainGelu));
	return { output: plus(near, fed), read, own };
}

/** [SOS] and the events one by one; then the last of them again, as it is seen from each of some days. */
function plainAnswers(history: TestHistory, days: Vector): Matrix {
	const tokens = [specialTokens.sos, ...history.tokens];
	const first = history.times[0];
	const unitsOf = [first, ...history.times].map((time) => (time - first) / decayUnitDays);
	const embedding = rows("embedding");
	const none = range(heads, () => range(size, () => range(size, () => 0)));
	let holdings: Holding[] = range(config.layers, () => ({ units: 0, states: none, gated: [] }));
	for (const [n, token] of tokens.entries()) {
		let x = embedding[token] as Vector;
		const units = unitsOf[n];
		holdings = holdings.map((held, i) => {
			const updated = (normed: Vector) => {
				const k = project(`layers.${i}.retention.key`, normed);
				const v = project(`layers.${i}.retention.value`, normed);
				return decayed(held, units).map((state, head) => {
					const key = placed(headOf(k, head), units, "key");
					return state.map((row, a) =>
						plus(
							row,
							headOf(v, head).map((value) => key[a] * value),
						),
					);
				});
			};
			const { output, read, own } = through(i, x, updated, units, held.gated);
			x = output;
			return { units, states: read, gated: [...held.gated, own] };
		});
	}
	return days.map((day) => {
		let x = embedding[tokens.at(-1) as number] as Vector;
		const units = day / decayUnitDays;
		for (const [i, held] of holdings.entries())
			x = through(i, x, () => decayed(held, units), units, held.gated.slice(0, -1)).output;
		return norm("norm", x);
	});
}

const history: TestHistory = {
	tokens: [1, 7, 8, 7, 9, 6],
	times: [60, 60, 75, 165, 165, 405],
};
const lastDay = 405 - 60;

test("in training, a query at each position reads the state there, decayed to the query time", async () => {
	const batch = batchOf([history]);
	const hidden = slotStates(timelygpt, config, symbols, batch).hidden;
	const ahead = [0, 3, 40, 400, 0, 9000];
	const days = [0, ...history.times.slice(0, -1).map((time) => time - 60)];
	const found = await evaluate(
		{ hidden },
		{
			...values,
			...(timelygpt.filler(config, batch)("slots") as Record<string, ArrayLike<number>>),
			"next.queryDays": days.map((day, n) => day + ahead[n]),
			"next.queryGaps": ahead,
		},
	);
	const expected = days.flatMap((day, n) => {
		const known = { tokens: history.tokens.slice(0, n), times: history.times.slice(0, n) };
		return plainAnswers(n === 0 ? { tokens: [], times: [60] } : known, [
			day + ahead[n],
		])[0] as Vector;
	});
	expect(relativeError(found.hidden, expected)).toBeLessThan(1e-6);
});

test("many queries after the last event are predicted as by the recurrence", async () => {
	const predictor = timelygpt.predictor(nodeRuntime({ threads: 1 }), config, weights);
	const gaps = [0, 3, 90, 1800, 18_000];
	const shorter = { tokens: history.tokens.slice(0, 3), times: history.times.slice(0, 3) };
	const { logProbabilities } = await predictor.score(
		[history, shorter],
		[gaps.map((gap) => 405 + gap), gaps.map((gap) => 75 + gap)],
	);
	const expected = [
		...plainAnswers(
			history,
			gaps.map((gap) => lastDay + gap),
		),
		...plainAnswers(
			shorter,
			gaps.map((gap) => 15 + gap),
		),
	].flatMap((view) => {
		return logSoftmax(product([view], rows("head"))[0]);
	});
	expect(relativeError([...logProbabilities], expected)).toBeLessThan(1e-4);
	await predictor.dispose();
});

describe("the convolution", () => {
	const [places, width, kernel] = [7, 4, 3];
	const { p, values, rows } = plainWeights(convolutionWeights(width, kernel), { noise: 0 });

	async function convolvedOf(x: Matrix): Promise<Matrix> {
		const { output: y } = convolution(p, input("x", [1, places, width]));
		return matrix((await evaluate({ y }, { ...values, x: x.flat() })).y, width);
	}

	const draw = random(4);
	const x = range(places, () => range(width, () => draw.normal()));

	test("is pointwise with a gate, then over the places before, norm, SiLU, and pointwise", async () => {
		const both = product(x, rows("gated.weight"));
		const gated = both.map((row) => range(width, (c) => row[c] / (1 + Math.exp(-row[c + width]))));
		const taps = matrix(values.depthwise, kernel);
		const local = range(places, (n) =>
			range(width, (c) =>
				range(kernel, (back) =>
					n < back ? 0 : at(gated, n - back, c) * at(taps, c, kernel - 1 - back),
				).reduce((sum, part) => sum + part, 0),
			),
		);
		const expected = product(
			local.map((row) => plainNorm(row).map(plainSilu)),
			rows("out.weight"),
		);
		expect(relativeError((await convolvedOf(x)).flat(), expected.flat())).toBeLessThan(1e-5);
	});

	test("a position changes its own output and the kernel − 1 after it, never one before", async () => {
		const moved = x.map((row, n) => (n === 3 ? row.map((value) => value + 1) : row));
		const [one, two] = [await convolvedOf(x), await convolvedOf(moved)];
		const felt = one.map((row, n) =>
			row.some((value, c) => Math.abs(value - at(two, n, c)) > 1e-6),
		);
		expect(felt).toEqual([false, false, false, true, true, true, false]);
	});
});
