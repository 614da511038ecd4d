export { classifier } from "./classifier.js";
export { fineTuningStart, forecaster, forecastWeights } from "./forecaster.js";
export { type LabelQuery, labelBatches, labelsOf } from "./label-batches.js";
export {
	fitLogistic,
	logisticLoss,
	logisticScores,
	minimise,
} from "./logistic.js";
export { finetuneOptions } from "./options.js";
export { definitionOf, type FineTunedTask, type Scoring } from "./scoring.js";
export { readModel, readScoring, writeScoring } from "./scoring-file.js";
export {
	checkTask,
	createTask,
	finetuneCommand,
	readTask,
	sealedTaskFiles,
	type Task,
	taskFiles,
	taskIdentity,
	taskWeights,
} from "./task-folder.js";
