import { InputError } from "../base/errors.js";
import { random } from "../base/random.js";
import { withFinitePredictions } from "./finite.js";
import type { Model, ParameterValues } from "./model.js";

export type { Events, Predictions, Predictor, State } from "./predictor.js";

import { autoformer } from "./others/autoformer/index.js";
import { bitimelygpt } from "./others/bitimelygpt/index.js";
import { contiformer } from "./others/contiformer/index.js";
import { fedformer } from "./others/fedformer/index.js";
import { gpt2 } from "./others/gpt2/index.js";
import { gruD } from "./others/gru-d/index.js";
import { informer } from "./others/informer/index.js";
import { mtand } from "./others/mtand/index.js";
import { odeRnn } from "./others/ode-rnn/index.js";
import { patchTst } from "./others/patchtst/index.js";
import { raindrop } from "./others/raindrop/index.js";
import { seft } from "./others/seft/index.js";
import { timelygpt } from "./others/timelygpt/index.js";
import { timesnet } from "./others/timesnet/index.js";
import { trajgpt } from "./trajgpt/index.js";
import { trajgptShifted } from "./trajgpt-shifted/index.js";

export type {
	BatchShape,
	EventBatch,
	ForecastMethod,
	Model,
	ObjectiveName,
	Parameters,
	ParameterValues,
} from "./model.js";
export { forecastMethods, objectiveNames } from "./model.js";
export type { Objective } from "./objective.js";
export { commonLearningRate, learningRateOf, suggestedPreset } from "./presets.js";
export { plainTrajgptSettings } from "./trajgpt/config.js";
export { weightCount } from "./weight-count.js";

/** Every model there is, by its name on the command line. */
export const models: readonly Model[] = [
	trajgpt,
	timelygpt,
	bitimelygpt,
	informer,
	autoformer,
	fedformer,
	patchTst,
	timesnet,
	contiformer,
	mtand,
	gruD,
	raindrop,
	seft,
	odeRnn,
	gpt2,
].map((model) => withFinitePredictions(model as unknown as Model));

/** TrajGPT with something taken out that its settings cannot take out. */
export const ablations: readonly Model[] = [trajgptShifted].map((model) =>
	withFinitePredictions(model as unknown as Model),
);

export function modelById(id: string): Model {
	const model = [...models, ...ablations].find((m) => m.id === id);
	if (model) return model;
	const known = models.map((m) => m.id).join(", ");
	throw new InputError(`there is no model "${id}"; known models: ${known}`);
}

/** What a run of this seed begins with. */
export const initialWeights = (model: Model, config: unknown, seed: number): ParameterValues =>
	model.init(config, random(seed).fork("weights"));
