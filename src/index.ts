export { InputError } from "./base/errors.js";
export { type Progress, progress } from "./base/progress.js";
export { type Random, random } from "./base/random.js";
export {
	type BatchOptions,
	type Dataset,
	type History,
	openDataset,
	prepare,
	prepareDefaults,
	type Split,
	splitBatches,
	writeDataset,
} from "./cohort/index.js";
export { birthToken } from "./cohort/vocabulary.js";
export {
	chooseSmoothing,
	countScores,
	nextEventScores,
	type PatientScore,
	type ScoreSummary,
	summarizeScores,
	type TrainedModel,
} from "./evaluate/index.js";
/** Symbolic tensors, their gradients, and ONNX out of them. */
export * as graph from "./graph/index.js";
export {
	type EventBatch,
	type Model,
	modelById,
	models,
	type Objective,
	type ParameterValues,
} from "./models/index.js";
export { type TrajgptConfig, trajgptConfig } from "./models/trajgpt/config.js";
export { trajgpt } from "./models/trajgpt/index.js";
export {
	type Answers,
	type Events,
	type Predictor,
	predictor,
	type State,
} from "./models/trajgpt/state.js";
export { openEvents } from "./records/index.js";
export type { Program, Resident, Runtime } from "./runtime/index.js";
export { type NodeRuntimeOptions, nodeRuntime } from "./runtime/node.js";
export { writeSimulation } from "./simulate/index.js";
export {
	createRun,
	holdingRun,
	type PretrainSummary,
	pretrain,
	type Run,
	readRun,
	readTrained,
	type Trained,
	type TrainOptions,
	trainer,
	trainOptions,
} from "./train/index.js";
