/**
 * Models, their weights, training step by step, and predictions from histories as tokens and days.
 *
 * @packageDocumentation
 */
export { type Random, random } from "./base/random.js";
export { birthToken } from "./data/cohort/vocabulary.js";
export {
	type EventBatch,
	type Events,
	type Model,
	modelById,
	models,
	type ParameterValues,
	type Predictions,
	type Predictor,
	type State,
} from "./model/index.js";
export {
	createRun,
	type PretrainSummary,
	type Run,
	readRun,
	readTrained,
	type Trained,
	type TrainOptions,
	trainer,
	trainOptions,
} from "./model/train/index.js";
export { type TrajgptConfig, trajgptConfig } from "./model/trajgpt/config.js";
export { trajgpt } from "./model/trajgpt/index.js";
export {
	type Attribution,
	type AttributionQuery,
	type AutoRegressiveOptions,
	attributeCodeProbability,
	type CodeTrajectory,
	codeTrajectories,
	type Edit,
	edited,
	type FutureOptions,
	type PlacedPredictions,
	predictAt,
	predictAutoRegressively,
	sampleFutures,
} from "./predict/index.js";
