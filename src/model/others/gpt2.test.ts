import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { evaluate, relativeError } from "../../engine/runtime/testing/evaluate.js";
import { slotStates } from "../heads.js";
import { dot, type Matrix, plainGelu, plainWeights, plus } from "../nn/testing/plain.js";
import { conformance } from "../testing/conformance.js";
import { batchOf } from "../testing/histories.js";
import { gpt2 } from "./gpt2.js";

conformance("gpt2");

const config = gpt2.config.parse({ vocab: 8, layers: 2, heads: 2, dim: 4, ff: 6, positions: 5 });

const { symbols, values, rows, linear, norm, attention } = plainWeights(gpt2.weights(config));

test("is the pre-norm Transformer with learned positions, softmax attention and a tied head", async () => {
	const history = { tokens: [5, 7, 6, 5], times: [0, 2, 2, 40] };
	const batch = batchOf([history]);
	const logits = slotStates(gpt2, config, symbols, batch).logits;
	if (!logits) throw new Error("it foretells every event");
	const feeds = gpt2.filler(config, batch)("slots") as Record<string, ArrayLike<number>>;
	const { got } = await evaluate({ got: logits }, { ...values, ...feeds });

	const [embedding, positions] = [rows("embedding"), rows("positions")];
	// The last event is predicted, never an input.
	let x: Matrix = [specialTokens.sos, 5, 7, 6].map((token, n) =>
		plus(embedding[token], positions[n]),
	);
	for (let i = 0; i < config.layers; i++) {
		const layer = `layers.${i}`;
		const normed = x.map((own) => norm(`${layer}.attentionNorm`, own));
		const seen = attention(`${layer}.attention`, normed, config.heads, (n, m) => m <= n);
		x = x.map((own, n) => plus(own, seen[n]));
		x = x.map((own) => {
			const inside = linear(`${layer}.feedForward.up`, norm(`${layer}.feedForwardNorm`, own));
			return plus(own, linear(`${layer}.feedForward.down`, inside.map(plainGelu)));
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
