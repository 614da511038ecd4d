import { describe, expect, test } from "vitest";
import { initialWeights, modelById } from "../model/index.js";
import type { Trained } from "../model/train/index.js";
import { inputVectors, learnedVectors, outputVectors } from "./head-memory.js";

const model = modelById("trajgpt");
const sizes = { layers: 1, heads: 2, dim: 4, key: 4, value: 4, ff: 4, vocab: 8 };

/** As training began with seed 5. */
function begun(settings: Record<string, unknown> = {}) {
	const config = model.config.parse({ ...sizes, ...settings });
	const weights = initialWeights(model, config, 5);
	return { model, config, weights, run: { options: { seed: 5 } } } as unknown as Trained;
}

describe("vectors of the codes", () => {
	test("are the rows past the special tokens", () => {
		const trained = begun();
		const embedding = trained.weights.get("embedding")!.data;
		expect(inputVectors(trained)).toEqual({ first: 5, dim: 4, vectors: embedding.slice(20) });
		expect(outputVectors(trained).vectors).toEqual(trained.weights.get("head")!.data.slice(20));
	});

	test("are the same in and out where the head is tied", () => {
		const trained = begun({ head: "tied" });
		expect(outputVectors(trained)).toEqual(inputVectors(trained));
	});

	test("of a model without any are refused", () => {
		const trained = { ...begun(), weights: new Map() };
		expect(() => inputVectors(trained)).toThrow('model "trajgpt" has no embedding of its tokens');
	});
});

test("what was learned is what is not left of the start", () => {
	const trained = begun();
	const embedding = trained.weights.get("embedding")!.data;
	expect(learnedVectors(trained).vectors.every((value) => Math.abs(value) < 1e-6)).toBe(true);
	const [a, b] = [embedding[20], embedding[21]];
	for (const [at, value] of embedding.entries()) embedding[at] = 0.5 * value;
	// At right angles to the start, so that none of it is taken for it.
	embedding[20] = embedding[20] + b;
	embedding[21] = embedding[21] - a;
	const { vectors } = learnedVectors(trained);
	expect(vectors[0]).toBeCloseTo(b, 5);
	expect(vectors[1]).toBeCloseTo(-a, 5);
	expect(vectors.subarray(2).every((value) => Math.abs(value) < 1e-6)).toBe(true);
});
