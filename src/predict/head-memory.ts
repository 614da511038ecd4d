import { InputError } from "../base/errors.js";
import { specialCount, type Vocabulary } from "../data/cohort/vocabulary.js";
import type { Runtime } from "../engine/runtime/index.js";
import { input } from "../engine/tensor/index.js";
import type { BatchShape, EventBatch, Events, Parameters } from "../model/index.js";
import { initialWeights } from "../model/index.js";
import { parametersOf } from "../model/nn/weights.js";
import type { Trained } from "../model/train/index.js";
import type { Learned } from "./hazards.js";
import { rowPrograms } from "./history-rows.js";

/** How long a head remembers, by the category of the code that came last. */
export interface HeadMemory {
	/** From 1, as is `head`. */
	readonly layer: number;
	readonly head: number;
	/** Of each category, until half is forgotten; Infinity if it never is. */
	readonly halfLives: readonly number[];
}

export type MemoryByCategory = Awaited<ReturnType<typeof headMemory>>;

/**
 * The decay that each head really uses in some histories. log γ is averaged over the events of a category,
 * and the half-life taken of the mean: a mean of half-lives would be that of a few events without forgetting.
 */
export async function headMemory(
	runtime: Runtime,
	{ model, config, weights, vocabulary }: Learned & Pick<Trained, "vocabulary">,
	histories: readonly Events[],
) {
	const { decay } = model;
	if (!decay) throw new InputError(`the heads of model "${model.id}" do not forget at a rate`);
	const { categories, events, of } = categoriesOf(vocabulary, histories);
	/** What half-lives are counted in. */
	const unit: "days" | "events" = decay.per(config) === "time" ? "days" : "events";
	const known = { categories, events, unit };
	if (categories.length === 0) return { ...known, heads: [] };
	const feedsOf = (batch: EventBatch) => ({
		...model.filler(config, batch)("slots"),
		seen: categorySeen(batch, of, categories.length),
	});
	const build = (parameters: Parameters, shape: BatchShape) => {
		const { rows, length } = shape;
		const rates = decay.rates(config, parameters, shape).transpose([1, 0, 2, 3]);
		const seen = input("seen", [rows, length, categories.length]);
		return rates.reshape([rows, -1, length]).matmul(seen).reshape([rows, -1]);
	};
	const rows = rowPrograms(runtime, { weights, build, feeds: feedsOf });
	const plain = histories.map(({ tokens, times }) => ({
		tokens: Int32Array.from(tokens),
		times: Float64Array.from(times),
		birthEvents: 0 as const,
	}));
	const sums = await rows.run(plain).finally(() => rows.dispose());
	const symbols = parametersOf(weights);
	const { shape } = decay.rates(config, symbols, { rows: 1, length: 1 });
	const [layers, , heads] = shape as [number, number, number];
	const means = meanRates(sums, events, layers * heads);
	return {
		...known,
		heads: means.map(
			(rates, at): HeadMemory => ({
				layer: Math.floor(at / heads) + 1,
				head: (at % heads) + 1,
				halfLives: rates.map((rate) => Math.LN2 / -rate),
			}),
		),
	};
}

/** Those that are seen, and followed by something: only then is there a slot. The most frequent first. */
function categoriesOf({ tokens }: Vocabulary, histories: readonly Events[]) {
	const counts = new Map<string | null, number>();
	for (const history of histories)
		for (let at = 0; at + 1 < history.tokens.length; at++) {
			const { category, kind } = tokens[history.tokens[at]];
			if (kind !== "special") counts.set(category, (counts.get(category) ?? 0) + 1);
		}
	const sorted = [...counts].sort((a, b) => b[1] - a[1]);
	const categories: readonly (string | null)[] = sorted.map(([category]) => category);
	const of = Int32Array.from(tokens, ({ category }, token) =>
		token < specialCount ? -1 : categories.indexOf(category),
	);
	return {
		categories,
		/** Of each category, the events that are averaged over. */
		events: sorted.map(([, events]) => events),
		/** The category of each token; −1 for special ones. */
		of,
	};
}

/** 1 where the token of a slot, the event before it, is of a category: [rows, length, categories]. */
function categorySeen(
	{ rows, length, tokens, lengths }: EventBatch,
	of: Int32Array,
	categories: number,
): Float32Array {
	const seen = new Float32Array(rows * length * categories);
	for (let row = 0; row < rows; row++)
		for (let slot = 1; slot < lengths[row]; slot++) {
			const at = row * length + slot;
			const category = of[tokens[at - 1]];
			if (category >= 0) seen[at * categories + category] = 1;
		}
	return seen;
}

/** By head, then by category. */
function meanRates(
	sums: Float32Array, // [histories, heads, categories]
	events: readonly number[],
	heads: number,
): number[][] {
	const categories = events.length;
	const totals = new Float64Array(heads * categories);
	for (const [at, value] of sums.entries()) totals[at % totals.length] += value;
	return Array.from({ length: heads }, (_, head) =>
		events.map((count, category) => totals[head * categories + category] / count),
	);
}

type Weights = Pick<Trained, "model" | "weights">;

export const inputVectors = (trained: Weights) => rowsOf(trained, "embedding");

/** The vectors that a hidden state is compared with to predict a code. */
export const outputVectors = (trained: Weights) =>
	rowsOf(trained, trained.weights.has("head") ? "head" : "embedding");

/**
 * What training has changed in the embeddings: the random start is subtracted, as far as it is still in them.
 * Short training moves an embedding little, and the start would hide the direction.
 */
export function learnedVectors(trained: Trained) {
	const now = inputVectors(trained);
	const { model, config, run } = trained;
	const weights = initialWeights(model, config, run.options.seed);
	const start = rowsOf({ model, weights }, "embedding").vectors;
	let [both, square] = [0, 0];
	for (const [at, value] of start.entries()) {
		both += value * now.vectors[at];
		square += value ** 2;
	}
	const left = square > 0 ? both / square : 0;
	return { ...now, vectors: now.vectors.map((value, at) => value - left * start[at]) };
}

/** A vector for each code of the vocabulary, special tokens left out: `first` is the token of the first row. */
function rowsOf({ model, weights }: Weights, name: string) {
	const matrix = weights.get(name);
	const dim = matrix?.shape[1];
	if (!matrix || dim === undefined)
		throw new InputError(`model "${model.id}" has no ${name} of its tokens; choose another run`);
	const vectors = matrix.data.subarray(specialCount * dim); // [codes, dim]
	return { first: specialCount as number, dim, vectors };
}
