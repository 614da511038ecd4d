import { InputError } from "../base/errors.js";
import { random } from "../base/random.js";
import type { Model, ParameterValues } from "./model.js";

export type { Answers, Events, Predictor, State } from "./predictor.js";

import { gpt2 } from "./gpt2/index.js";
import { trajgpt } from "./trajgpt/index.js";

export type {
	BatchShape,
	EventBatch,
	ForecastMethod,
	Model,
	Objective,
	Parameters,
	ParameterValues,
} from "./model.js";

/** Every model there is, by its name on the command line. */
export const models: readonly Model[] = [trajgpt, gpt2] as unknown as readonly Model[];

export function modelById(id: string): Model {
	const model = models.find((m) => m.id === id);
	if (model) return model;
	const known = models.map((m) => m.id).join(", ");
	throw new InputError(`there is no model "${id}"; known models: ${known}`);
}

/** What a run of this seed begins with. */
export const initialWeights = (model: Model, config: unknown, seed: number): ParameterValues =>
	model.init(config, random(seed).fork("weights"));
