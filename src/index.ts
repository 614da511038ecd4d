/**
 * Learns from irregular, time-stamped event histories and predicts what is recorded, when, and how likely.
 *
 * @packageDocumentation
 */
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
export { evaluate, exportModel, finetune, pretrain, serve } from "./verbs.js";
export {
	ablate,
	type CompareOptions,
	compare,
	type EmbedOptions,
	type EvaluateOptions,
	type ExportOptions,
	embed,
	type FinetuneOptions,
	type FinetuneSummary,
	type PrepareOptions,
	type PretrainOptions,
	prepare,
	type ReportOptions,
	report,
	type ServeOptions,
	type Serving,
	type TaskResult,
} from "./workflows/index.js";
