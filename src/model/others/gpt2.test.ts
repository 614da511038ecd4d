import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { parameter } from "../../engine/tensor/index.js";
import { slotStates } from "../heads.js";
import { conformance } from "../testing/conformance.js";
import { batchOf } from "../testing/histories.js";
import { gpt2 } from "./gpt2.js";

conformance("gpt2");

const config = gpt2.config.parse({ vocab: 8, layers: 2, heads: 2, dim: 4, ff: 6, positions: 5 });

const draw = random(6);
const weights = gpt2.init(config, random(1));
for (const { data } of weights.values())
	for (let i = 0; i < data.length; i++) data[i] += 0.3 * draw.normal();

type Vector = number[];
const vectorOf = (name: string): Vector => Array.from(weights.get(name)?.data ?? []);
function matrixOf(name: string): Vector[] {
	const { shape, data } = weights.get(name) as { shape: readonly number[]; data: Float32Array };
	const [rows, columns] = shape as [number, number];
	return Array.from({ length: rows }, (_, i) => [...data.slice(i * columns, (i + 1) * columns)]);
}
const dot = (a: Vector, b: Vector) => a.reduce((all, x, i) => all + x * b[i], 0);
const plus = (a: Vector, b: Vector) => a.map((x, i) => x + b[i]);
const linear = (name: string, x: Vector) =>
	plus(
		matrixOf(`${name}.weight`).map((row) => dot(row, x)),
		vectorOf(`${name}.bias`),
	);
function norm(name: string, x: Vector): Vector {
	const mean = x.reduce((a, b) => a + b, 0) / x.length;
	const variance = x.reduce((a, b) => a + (b - mean) ** 2, 0) / x.length;
	const [scale, shift] = [vectorOf(`${name}.scale`), vectorOf(`${name}.shift`)];
	return x.map((v, i) => ((v - mean) / Math.sqrt(variance + 1e-5)) * scale[i] + shift[i]);
}
const gelu = (x: number) =>
	0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** Head by head and place by place, each place seeing those up to itself. */
function attended(layer: string, xs: Vector[]): Vector[] {
	const [q, k, v] = ["query", "key", "value"].map((part) =>
		xs.map((x) => linear(`${layer}.attention.${part}`, x)),
	) as [Vector[], Vector[], Vector[]];
	const size = config.dim / config.heads;
	return xs.map((_, n) => {
		const heads = Array.from({ length: config.heads }, (_, head) => {
			const part = (x: Vector) => x.slice(head * size, (head + 1) * size);
			const scores = k
				.slice(0, n + 1)
				.map((key) => Math.exp(dot(part(q[n]), part(key)) / Math.sqrt(size)));
			const all = scores.reduce((a, b) => a + b, 0);
			return scores
				.map((score, m) => part(v[m]).map((value) => (score / all) * value))
				.reduce(plus);
		});
		return linear(`${layer}.attention.out`, heads.flat());
	});
}

test("is the pre-norm Transformer with learned positions, softmax attention and a tied head", async () => {
	const history = { tokens: [5, 7, 6, 5], times: [0, 2, 2, 40] };
	const batch = batchOf([history]);
	const symbols = Object.fromEntries(
		[...weights].map(([name, { shape }]) => [name, parameter(name, shape)]),
	);
	const logits = slotStates(gpt2, config, symbols, batch).logits;
	if (!logits) throw new Error("it foretells every event");
	const values = Object.fromEntries([...weights].map(([name, { data }]) => [name, data]));
	const feeds = gpt2.filler(config, batch)("slots") as Record<string, ArrayLike<number>>;
	const { got } = await evaluate({ got: logits }, { ...values, ...feeds });

	const [embedding, positions] = [matrixOf("embedding"), matrixOf("positions")];
	// The last event is predicted, never an input.
	let x = [specialTokens.sos, 5, 7, 6].map((token, n) => plus(embedding[token], positions[n]));
	for (let i = 0; i < config.layers; i++) {
		const layer = `layers.${i}`;
		const seen = attended(
			layer,
			x.map((own) => norm(`${layer}.attentionNorm`, own)),
		);
		x = x.map((own, n) => plus(own, seen[n]));
		x = x.map((own) => {
			const inside = linear(`${layer}.feedForward.up`, norm(`${layer}.feedForwardNorm`, own));
			return plus(own, linear(`${layer}.feedForward.down`, inside.map(gelu)));
		});
	}
	const wanted = x.flatMap((own) => embedding.map((code) => dot(norm("norm", own), code)));
	expect(relativeError(got, wanted)).toBeLessThan(1e-5);
});

test("branches start small, the more so the deeper it is", () => {
	const deviationOf = (layers: number, name: string) => {
		const large = gpt2.config.parse({ vocab: 8, layers, dim: 96 });
		const data = gpt2.init(large, random(2)).get(name)?.data ?? new Float32Array(1);
		return Math.sqrt(data.reduce((all, x) => all + x * x, 0) / data.length);
	};
	for (const layers of [2, 8])
		for (const name of ["layers.0.attention.out.weight", "layers.1.feedForward.down.weight"])
			expect(deviationOf(layers, name) / (0.02 / Math.sqrt(2 * layers))).toBeCloseTo(1, 1);
});
