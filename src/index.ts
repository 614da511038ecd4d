export { type LoadOptions, loadModel } from "./api/load-model.js";
export type {
	Code,
	CodeRisk,
	Forecast,
	ForecastOptions,
	Horizon,
	LoadedModel,
	Prediction,
	Risk,
	Time,
} from "./api/model.js";
export type { Patient, PatientEvent } from "./api/patient.js";
export { InputError } from "./base/errors.js";
export { type Progress, progress } from "./base/progress.js";
export { type Random, random } from "./base/random.js";
export {
	builtInMap,
	type CodeMap,
	type PheCode,
	pheCodes,
	readPheCodeMap,
} from "./codes/index.js";
export {
	type BatchOptions,
	type Dataset,
	type History,
	type Label,
	type Manifest,
	type NewPatient,
	type NewPatients,
	newPatients,
	openDataset,
	type PrepareOptions,
	prepare,
	prepareDefaults,
	type Split,
	splitBatches,
} from "./cohort/index.js";
export { birthToken } from "./cohort/vocabulary.js";
export {
	auroc,
	averagePrecision,
	brier,
	calibrationCurve,
	chooseSmoothing,
	countScores,
	type Evaluation,
	evaluateDefaults,
	expectedCalibrationError,
	logLoss,
	nextEventScores,
	openTask,
	type PatientScore,
	readEvaluation,
	type ScoreSummary,
	summarizeScores,
	type TrainedModel,
	tasksOf,
	writeEvaluation,
} from "./evaluate/index.js";
/** Symbolic tensors, their gradients, and ONNX out of them. */
export * as graph from "./graph/index.js";
export {
	type Attribution,
	type AttributionQuestion,
	type AutoRegressiveOptions,
	answersAt,
	attribute,
	autoRegressiveAnswers,
	type Edit,
	edited,
	type FutureOptions,
	type Place,
	type PlacedAnswers,
	type RiskTrajectory,
	riskTrajectories,
	type Surge,
	sampleFutures,
	type WhatIf,
	whatIf,
} from "./infer/index.js";
export {
	type Answers,
	type EventBatch,
	type Events,
	type Model,
	modelById,
	models,
	type Objective,
	type ParameterValues,
	type Predictor,
	type State,
} from "./models/index.js";
export { type TrajgptConfig, trajgptConfig } from "./models/trajgpt/config.js";
export { trajgpt } from "./models/trajgpt/index.js";
export {
	openCsv,
	openEvents,
	openFhir,
	openMeds,
	openOmop,
	openParquetRecords,
	type RecordSource,
} from "./records/index.js";
export type { Program, Resident, Runtime } from "./runtime/index.js";
export { type NodeRuntimeOptions, nodeRuntime } from "./runtime/node.js";
export {
	type Oracle,
	type OracleHistory,
	oracle,
	oracleOf,
	simulatePatient,
	writeSimulation,
} from "./simulate/index.js";
export {
	createRun,
	holdingRun,
	type PretrainSummary,
	type Run,
	readRun,
	readTrained,
	type Trained,
	type TrainOptions,
	trainer,
	trainOptions,
} from "./train/index.js";
export {
	ablate,
	type CompareOptions,
	commonDataset,
	compare,
	type EmbedOptions,
	type EvaluateOptions,
	type ExportOptions,
	embed,
	evaluate,
	exportModel,
	type FinetuneOptions,
	type FinetuneSummary,
	finetune,
	type PretrainOptions,
	pretrain,
	type ReportOptions,
	report,
	type ServeOptions,
	type Serving,
	serve,
	type TaskResult,
} from "./workflows/index.js";
