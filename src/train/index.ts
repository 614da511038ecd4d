export { type TrainOptions, trainOptions } from "./options.js";
export { checkSplits, type PretrainSummary, pretrain } from "./pretrain.js";
export {
	checkDataset,
	checkNewRun,
	createRun,
	type DatasetIdentity,
	type Run,
	readRun,
	runFiles,
} from "./run-folder.js";
export { holdingRun } from "./run-lock.js";
export { readTrained, type Trained } from "./trained.js";
export { trainer } from "./trainer.js";
