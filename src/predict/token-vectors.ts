import { InputError } from "../base/errors.js";
import { specialCount } from "../data/cohort/vocabulary.js";
import { initialWeights } from "../model/index.js";
import type { Trained } from "../model/train/index.js";

type Weights = Pick<Trained, "model" | "weights">;

/** The embedding of each code as an input. */
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
