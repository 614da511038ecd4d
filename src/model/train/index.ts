export * from "./finetune/index.js";
export { type TrainOptions, trainOptions } from "./options.js";
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
	openRunDataset,
	type Run,
	readRun,
	readRunRecords,
	runFiles,
} from "./run-folder.js";
export { holdingRun } from "./run-lock.js";
export { sealRun } from "./seal-run.js";
export { codeNumbers } from "./shared-codes.js";
export { readTrained, type Trained } from "./trained.js";
export { trainer } from "./trainer.js";
