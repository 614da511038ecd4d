export { checkDraws, fewestDraws } from "./bootstrap.js";
export { calibrationCurve, expectedCalibrationError } from "./calibration.js";
export type { ComparedMethod as Way } from "./compare/cells.js";
export {
	type Cell,
	type ComparedModel as Entry,
	cellSchema,
	columnsOf,
	entrySchema,
	keepsDraws,
	onsetHorizons,
} from "./compare/cells.js";
export {
	type AcrossRuns,
	acrossRuns,
	type Comparison,
	comparisonOf,
} from "./compare/comparison.js";
export { comparisonFormats, comparisonText } from "./compare/render.js";
export {
	type EvaluateOptions,
	type Evaluation,
	type EvaluationRow,
	evaluateDefaults,
	evaluationFile,
	evaluationsOf,
	isExternal,
	type LabelPrediction,
	type Measure,
	type Method,
	type RowPredictions,
	readEvaluation,
	refuseEarlier,
	tryReadEvaluation,
	writeEvaluation,
} from "./evaluation.js";
export { labelSetOf } from "./labelled/label-set.js";
export { fitScoring } from "./labelled/model-rows.js";
export { probe } from "./labelled/regression.js";
export { labelledTasks, taskLabels, withRisks } from "./labelled/task-labels.js";
export { auroc, averagePrecision, brier, logLoss } from "./metrics.js";
export {
	type EvaluationType,
	type PlpOptions,
	personAt,
	plpTableNames,
	plpTables,
	predictionMetrics,
} from "./predictions.js";
export { isSimulated } from "./simulation-truth.js";
export {
	checkPatientCount,
	checkTaskOptions,
	evaluatedPatients,
	evaluationInputsHash,
	isLabelledTask,
	mostEvaluated,
	openTask,
	tasksOf,
} from "./tasks.js";
