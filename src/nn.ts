/**
 * Models, their weights, training step by step, and predictions from histories as tokens and days.
 *
 * @packageDocumentation
 */
export { type Random, random } from "./base/random.js";
export { birthToken } from "./cohort/vocabulary.js";
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
	type WhatIf,
	whatIf,
} from "./infer/index.js";
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
} from "./models/index.js";
export { type TrajgptConfig, trajgptConfig } from "./models/trajgpt/config.js";
export { trajgpt } from "./models/trajgpt/index.js";
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
} from "./train/index.js";
