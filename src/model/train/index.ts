export {
	classifier,
	definitionOf,
	type FineTunedTask,
	type Scoring,
} from "./finetune/classifier.js";
export { type LabelQuery, labelBatches, labelsOf } from "./finetune/label-batches.js";
export {
	fitLogistic,
	logisticLoss,
	logisticScores,
	minimise,
} from "./finetune/logistic.js";
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
export { finetuneOptions, type TrainOptions, trainOptions } from "./options.js";
export { isTrained, stepsDone } from "./position.js";
export {
	batchPlan,
	checkSplits,
	type PretrainRequest,
	type PretrainSummary,
	shapesForDevice,
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
	openRunDataset,
	type Run,
	readRun,
	readRunRecords,
	runFiles,
} from "./run-folder.js";
export { sealRun } from "./seal-run.js";
export { codeNumbers } from "./shared-codes.js";
export { readTrained, type Trained } from "./trained.js";
export { trainer } from "./trainer.js";
