import { describe, expect, test } from "vitest";
import { random } from "../base/random.js";
import { vocabularyOf } from "../data/cohort/vocabulary.js";
import { nodeRuntime } from "../engine/runtime/node.js";
import { initialWeights, modelById } from "../model/index.js";
import type { Trained } from "../model/train/index.js";
import { headMemory, inputVectors, learnedVectors, outputVectors } from "./head-memory.js";

const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
const model = modelById("trajgpt");
const sizes = { layers: 2, heads: 2, dim: 12, key: 8, value: 12, ff: 16, vocab: 8 };
const token = (code: string, category: string | null) => ({
	kind: "diagnosis" as const,
	code,
	system: "PheCode",
	name: code,
	category,
	count: 1,
});
const vocabulary = vocabularyOf([token("a", "one"), token("b", "two"), token("c", null)]);
const [birth, a, b, c] = [2, 5, 6, 7];
const histories = [
	{ tokens: [birth, a, a, b, c], times: [-100, 1, 1, 2, 5] },
	{ tokens: [b, a, c, a], times: [0, 1, 4, 4] },
];

const trainedWith = (settings: Record<string, unknown>) => {
	const config = model.config.parse({ ...sizes, ...settings });
	const weights = model.init(config, random(1));
	return { model, config, weights, vocabulary };
};
const logSigmoid = (x: number) => -Math.log1p(Math.exp(-x));

describe("headMemory", () => {
	test("is that of the biases while decay weights are 0", async () => {
		const memory = await headMemory(runtime, trainedWith({ decayUnitDays: 15 }), histories);
		expect(memory).toMatchObject({
			categories: ["one", "two", null],
			events: [3, 2, 1],
			unit: "days",
		});
		expect(memory.heads.map(({ layer, head }) => [layer, head])).toEqual([
			[1, 1],
			[1, 2],
			[2, 1],
			[2, 2],
		]);
		// The biases begin at 1 and 6; γ applies once in 15 days.
		for (const { head, halfLives } of memory.heads) {
			const days = (15 * Math.LN2) / -logSigmoid(head === 1 ? 1 : 6);
			for (const halfLife of halfLives) expect(halfLife / days).toBeCloseTo(1, 4);
		}
	});

	test("is the mean rate over the events of a category", async () => {
		const trained = trainedWith({ gap: "rotary" });
		const decay = trained.weights.get("layers.0.decay")!.data;
		const embedding = trained.weights.get("embedding")!.data;
		const draw = random(9);
		for (const [at] of decay.entries()) decay[at] = draw.normal();
		const { heads } = await headMemory(runtime, trained, histories);
		/** In the first layer the decay is a function of the token alone. */
		const rate = (of: number, head: number) => {
			const x = embedding.subarray(of * 12, (of + 1) * 12);
			const size = Math.sqrt(x.reduce((sum, value) => sum + value ** 2, 0) / 12);
			const w = decay.subarray(head * 12, (head + 1) * 12);
			return logSigmoid(x.reduce((sum, value, d) => sum + (value / size) * w[d], 0) + 1 + 5 * head);
		};
		for (const head of [0, 1])
			for (const [category, of] of [a, b, c].entries())
				expect(heads[head]?.halfLives[category]).toBeCloseTo((30 * Math.LN2) / -rate(of, head), 0);
	});

	test("is counted in events where the model decays by event", async () => {
		const { unit, heads } = await headMemory(
			runtime,
			trainedWith({ decay: "event", temperature: 20 }),
			histories,
		);
		expect(unit).toBe("events");
		expect(heads[0]?.halfLives[0]).toBeCloseTo((20 * Math.LN2) / -logSigmoid(1), 3);
	});

	test("has no categories where nothing was seen", async () => {
		expect(await headMemory(runtime, trainedWith({}), [{ tokens: [a], times: [0] }])).toMatchObject(
			{ categories: [], heads: [] },
		);
	});
});

test("decay vectors are those of the first layer; without learned decays there are none", () => {
	const { config, weights } = trainedWith({});
	const rows = model.decay?.vectors(config, weights);
	expect(rows?.map(({ layer, head, vector }) => [layer, head, vector.length])).toEqual([
		[1, 1, 12],
		[1, 2, 12],
	]);
	const fixed = trainedWith({ decay: "fixed" });
	expect(model.decay?.vectors(fixed.config, fixed.weights)).toEqual([]);
	expect(model.decay?.per(fixed.config)).toBe("event");
	expect(model.decay?.per(trainedWith({ decay: "fixed-time" }).config)).toBe("time");
});

const vectorSizes = { layers: 1, heads: 2, dim: 4, key: 4, value: 4, ff: 4, vocab: 8 };

/** As training began with seed 5. */
function begun(settings: Record<string, unknown> = {}) {
	const config = model.config.parse({ ...vectorSizes, ...settings });
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
