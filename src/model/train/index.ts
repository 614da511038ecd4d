export {
	classifier,
	definitionOf,
	type FineTunedTask,
	type LabelQuery,
	labelBatches,
	labelsOf,
	type Scoring,
} from "./finetune/classifier.js";
export {
	checkTask,
	createTask,
	fineTuningStart,
	finetuneCommand,
	forecaster,
	forecastWeights,
	readModel,
	readScoring,
	readTask,
	sealedTaskFiles,
	type Task,
	taskFiles,
	taskIdentity,
	taskWeights,
	writeScoring,
} from "./finetune/task-folder.js";
export {
	batchPlan,
	finetuneOptions,
	shapesForDevice,
	type TrainOptions,
	trainOptions,
} from "./options.js";
export {
	checkSplits,
	type PretrainRequest,
	type PretrainSummary,
	trainEpochs,
} from "./pretrain.js";
export {
	readRates,
	writeRates,
} from "./rates.js";
export {
	checkDataset,
	checkNewRun,
	createRun,
	holdingRun,
	isTrained,
	openRunDataset,
	type Run,
	readRun,
	readRunRecords,
	runFiles,
	stepsDone,
} from "./run-folder.js";
export { codeNumbers } from "./step.js";
export { readTrained, type Trained } from "./trained.js";
export { trainer } from "./trainer.js";
