export { type AcrossRuns, acrossRuns } from "./across-runs.js";
export { checkDraws, fewestDraws } from "./bootstrap.js";
export { calibrationCurve, expectedCalibrationError } from "./calibration.js";
export * from "./compare/index.js";
export type { Measure } from "./evaluation.js";
export {
	type Evaluation,
	type EvaluationRow,
	evaluationFile,
	evaluationsOf,
	type Method,
	type RankingMethod,
	rankingMethods,
	readEvaluation,
	refuseEarlier,
	tryReadEvaluation,
	writeEvaluation,
} from "./evaluation.js";
export { evaluationInputsHash } from "./inputs-hash.js";
export { isExternal } from "./is-external.js";
export { isSimulated } from "./is-simulated.js";
export { fitScoring } from "./labelled/fine-tuned.js";
export { labelSetOf } from "./labelled/label-set.js";
export { probe } from "./labelled/probe.js";
export { labelledTasks, taskLabels } from "./labelled/task-labels.js";
export { withRisks } from "./labelled/zero-shot-risk.js";
export { auroc, averagePrecision, brier, logLoss } from "./metrics.js";
export { type EvaluateOptions, evaluateDefaults } from "./options.js";
export { type EvaluationType, type PlpOptions, plpTableNames, plpTables } from "./plp-tables.js";
export { type PredictionMetrics, predictionMetrics } from "./prediction-metrics.js";
export { type LabelPrediction, personAt, type RowPredictions } from "./predictions.js";
export { checkPatientCount, evaluatedPatients, mostEvaluated } from "./sample-patients.js";
export { type PatientScore, type ScoreSummary, summarizeScores } from "./scores.js";
export { checkTaskOptions } from "./task-options.js";
export { isLabelledTask, openTask, tasksOf } from "./tasks.js";
