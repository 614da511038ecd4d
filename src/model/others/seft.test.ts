import { describe, expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { gradients, parameter, type Tensor } from "../../engine/tensor/index.js";
import { slotStates } from "../heads.js";
import * as plain from "../nn/testing/plain.js";
import { conformance } from "../testing/conformance.js";
import { batchOf, type TestHistory, testHistory, vocab } from "../testing/histories.js";
import { poolUpTo, seft } from "./seft.js";

conformance("seft");

/** Σ_j a_j v_j over the places up to each, with a the softmax of their scores: head by head. */
const plainPool = (scores: plain.Matrix, values: plain.Matrix): plain.Matrix =>
	scores.map((own, n) =>
		own.flatMap((_, head) =>
			plain.attended(
				scores.slice(0, n + 1).map((s) => s[head]),
				values.slice(0, n + 1),
			),
		),
	);

describe("pooling", () => {
	const [places, heads, width] = [5, 3, 2];
	const draw = random(1);
	const rowsOf = (wide: number) =>
		Array.from({ length: places }, () => Array.from({ length: wide }, () => draw.normal()));
	const [scores, values] = [rowsOf(heads), rowsOf(width)];
	const fed = { scores: scores.flat(), values: values.flat() };
	const symbols = {
		scores: parameter("scores", [1, places, heads], "float64"),
		values: parameter("values", [1, places, width], "float64"),
	};
	const pooled = poolUpTo(symbols.scores, symbols.values);

	test("is a softmax mean over the places so far, for each head", async () => {
		const { y } = await evaluate({ y: pooled }, fed);
		expect(relativeError(y, plainPool(scores, values).flat())).toBeLessThan(1e-12);
	});

	test("with scores of 0 it is the plain mean", async () => {
		const { y } = await evaluate({ y: pooled }, { ...fed, scores: fed.scores.map(() => 0) });
		const means = values.map((_, n) =>
			[0, 1].map((i) => values.slice(0, n + 1).reduce((all, v) => all + v[i], 0) / (n + 1)),
		);
		expect(relativeError(y, means.flatMap((m) => [m, m, m]).flat())).toBeLessThan(1e-12);
	});

	test("has the gradients of its formula", async () => {
		const g = Array.from({ length: places * heads * width }, (_, i) => Math.cos(i));
		const loss = pooled.mul(parameter("g", pooled.shape, "float64")).sum();
		const [ds, dv] = gradients(loss, [symbols.scores, symbols.values]) as [Tensor, Tensor];
		const got = await evaluate({ ds, dv }, { ...fed, g });
		const slope = (data: plain.Matrix, of: (moved: plain.Matrix) => plain.Matrix) =>
			data.flatMap((own, n) =>
				own.map((_, i) => {
					const at = (by: number) =>
						plain.dot(
							of(data.map((v, m) => v.map((x, k) => (m === n && k === i ? x + by : x)))).flat(),
							g,
						);
					return (at(1e-5) - at(-1e-5)) / 2e-5;
				}),
			);
		expect(
			relativeError(
				got.ds,
				slope(scores, (s) => plainPool(s, values)),
			),
		).toBeLessThan(1e-7);
		expect(
			relativeError(
				got.dv,
				slope(values, (v) => plainPool(scores, v)),
			),
		).toBeLessThan(1e-7);
	});
});

describe("a history as a set", () => {
	const settings = { layers: 1, heads: 2, dim: 6, ff: 7, key: 3, waves: 2, longestDays: 500 };
	const config = seft.config.parse({ ...settings, vocab });
	const { heads, key, longestDays } = settings;
	const { symbols, values, rows, linear } = plain.plainWeights(seft.weights(config));
	const relu = (x: plain.Vector) => x.map((v) => Math.max(0, v));
	const time = (days: number) => {
		const scales = [1, longestDays];
		return [...scales.map((s) => Math.sin(days / s)), ...scales.map((s) => Math.cos(days / s))];
	};

	/** Log p of every token at some time after [SOS] and these events, by the paper's own formulas. */
	function reference({ tokens, times }: TestHistory, first: number, asked: number): plain.Vector {
		const days = (t: number) => t - first;
		const set = [specialTokens.sos, ...tokens].map((token, n) => [
			...rows("embedding")[token],
			...time(days(n === 0 ? first : times[n - 1])),
		]);
		// f'(S): any function of the set; the weights of the keys that read it are any numbers too.
		const whole = [0, 1].map((i) => Math.tanh(set.reduce((all, s) => all + s[i], 0) / set.length));
		const found = plain
			.range(heads, (head) => {
				const scores = set.map((s) => {
					const keys = plain.range(
						key,
						(k) =>
							plain.dot(rows("keys")[head * key + k], s) + plain.dot([0.7 - k, 0.4 + head], whole),
					);
					return plain.dot(keys, rows("queries")[head]) / Math.sqrt(key);
				});
				return plain.attended(
					scores,
					set.map((s) => relu(linear("phi.1", relu(linear("phi.0", s))))),
				);
			})
			.flat();
		const last = times.at(-1) ?? first;
		const read = [...found, ...time(days(asked)), ...time(asked - last)];
		const view = linear("out", relu(linear("rho.0", read)));
		return plain.logSoftmax(rows("head").map((code) => plain.dot(code, view)));
	}

	async function logProbabilities(history: TestHistory) {
		const batch = batchOf([history]);
		const { y } = await evaluate(
			{ y: slotStates(seft, config, symbols, batch).logits },
			{ ...values, ...(seft.filler(config, batch)("slots") as Record<string, Int32Array>) },
		);
		return plain.matrix(y, vocab).slice(0, history.tokens.length).map(plain.logSoftmax);
	}

	test("each event is predicted from the set before it, as in the paper; f'(S) has no effect", async () => {
		const { tokens, times } = testHistory(6, 1);
		const answers = await logProbabilities({ tokens, times });
		for (const [n, answer] of answers.entries()) {
			const before = { tokens: tokens.slice(0, n), times: times.slice(0, n) };
			expect(relativeError(answer, reference(before, times[0], times[n]))).toBeLessThan(1e-4);
		}
	});

	test("the order of what came is of no account", async () => {
		const times = [0, 1, 1, 4, 4, 4, 9];
		const tokens = [2, 5, 6, 7, 8, 9, 5];
		const turned = [2, 6, 5, 9, 7, 8, 5];
		const [one, two] = [
			await logProbabilities({ tokens, times }),
			await logProbabilities({ tokens: turned, times }),
		];
		for (const n of [0, 1, 3, 6]) expect(relativeError(two[n], one[n])).toBeLessThan(1e-5);
		for (const n of [2, 4, 5]) expect(relativeError(two[n], one[n])).toBeGreaterThan(1e-3);
	});
});
