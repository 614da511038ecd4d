import { InputError } from "../base/errors.js";
import { random } from "../base/random.js";
import { withFinitePredictions } from "./finite.js";
import type { Model, ParameterValues } from "./model.js";

export type { Events, Predictions, Predictor, State } from "./predictor.js";

import { autoformer } from "./others/autoformer.js";
import { bitimelygpt } from "./others/bitimelygpt.js";
import { contiformer } from "./others/contiformer.js";
import { fedformer } from "./others/fedformer.js";
import { gpt2 } from "./others/gpt2.js";
import { gruD } from "./others/gru-d.js";
import { informer } from "./others/informer.js";
import { mtand } from "./others/mtand.js";
import { odeRnn } from "./others/ode-rnn.js";
import { patchTst } from "./others/patchtst.js";
import { raindrop } from "./others/raindrop.js";
import { seft } from "./others/seft.js";
import { timelygpt } from "./others/timelygpt.js";
import { timesnet } from "./others/timesnet.js";
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
