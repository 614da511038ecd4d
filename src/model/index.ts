import { InputError } from "../base/errors.js";
import { random } from "../base/random.js";
import type { Model, ParameterValues } from "./model.js";
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
import { trajgptShifted } from "./trajgpt/shifted.js";

export * from "./model.js";
export type { Events, Predictions, Predictor, QueryOptions, State } from "./predictor.js";
export { plainTrajgptSettings } from "./trajgpt/config.js";

/** The learning rate of models without their own. */
export const commonLearningRate = 3e-3;

/** The highest learning rate that training takes for a model in a preset, unless the user gives one. */
export const learningRateOf = (
	model: Pick<Model, "learningRate" | "learningRates">,
	preset: string,
): number => model.learningRates?.[preset] ?? model.learningRate ?? commonLearningRate;

/** The largest preset that is suggested for so many training patients; undefined if none is. */
export const suggestedPreset = (
	{ suggestedFrom = {} }: Pick<Model, "suggestedFrom">,
	trainPatients: number,
): string | undefined =>
	Object.keys(suggestedFrom).findLast((name) => trainPatients >= suggestedFrom[name]);

export const weightCount = (weights: ParameterValues): number =>
	[...weights.values()].reduce((total, { data }) => total + data.length, 0);

/** Every model there is, by its name on the command line. */
export const models = [
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
] as unknown as readonly Model[];

/** TrajGPT with something taken out that its settings cannot take out. */
export const ablations = [trajgptShifted] as unknown as readonly Model[];

export function modelById(id: string): Model {
	const model = [...models, ...ablations].find((m) => m.id === id);
	if (model) return model;
	const known = models.map((m) => m.id).join(", ");
	throw new InputError(`there is no model "${id}"; known models: ${known}`);
}

/** What a run of this seed begins with. */
export const initialWeights = (model: Model, config: unknown, seed: number): ParameterValues =>
	model.init(config, random(seed).fork("weights"));
