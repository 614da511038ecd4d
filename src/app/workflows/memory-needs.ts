import { InputError } from "../../base/errors.js";
import { machineMemory } from "../../engine/runtime/machine-limits.js";
import type { Model } from "../../model/index.js";

const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** Minimum memory in bytes, by purpose. */
export type Needs = Readonly<Record<string, number>>;

/** Rejects work that does not fit in memory, before it begins. */
export function checkMemory(
	what: string,
	needs: Needs,
	remedy: string,
	available = machineMemory(),
): void {
	const total = Object.values(needs).reduce((sum, bytes) => sum + bytes, 0);
	if (total <= available) return;
	const parts = Object.entries(needs).map(([name, bytes]) => `${name} ${gibibytes(bytes)}`);
	throw new InputError(
		`${what} needs at least ${gibibytes(total)} of memory (${parts.join(", ")}), and this machine has ${gibibytes(available)}; ${remedy}`,
	);
}

const float = 4;
/** Weights and two moments, each before and after a step, and the gradient. */
const copiesOfWeights = 7;
/** Logits, log probabilities and their gradient. */
const copiesOfLogits = 3;
/** What a layer keeps for its gradient, in multiples of the residual stream's width. */
const widthsPerLayer = 8;

/** The minimum memory to train a model with batches of `slots` events, estimated from its settings. */
export function trainingNeeds(model: Model, config: unknown, slots: number): Needs {
	const {
		vocab = 0,
		dim = 0,
		layers = 1,
		ff = 0,
	} = config as Readonly<Partial<Record<"vocab" | "dim" | "layers" | "ff", number>>>;
	const weights = vocab * dim + layers * 2 * dim * ff;
	// A model of windows makes one prediction per window, not per slot.
	const perSlot = model.predictsEachEvent
		? copiesOfLogits * vocab + widthsPerLayer * layers * dim
		: 0;
	return {
		"weights and their moments": weights * copiesOfWeights * float,
		"one batch": slots * perSlot * float,
	};
}
