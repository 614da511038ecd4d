/**
 * Learns from irregular, time-stamped event histories and predicts what is recorded, when, and how likely.
 *
 * @packageDocumentation
 */

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
	type LabelledTask,
	type LabelTaskOptions,
	labelTask,
	type PrepareOptions,
	type PretrainOptions,
	prepare,
	type ReportOptions,
	report,
	type ServeOptions,
	type Serving,
	type TaskResult,
} from "./app/commands/index.js";
export type { Communicator } from "./base/communicator.js";
export { InputError } from "./base/errors.js";
export { type Progress, progress } from "./base/progress.js";
export { openCommunicator } from "./engine/mpi/index.js";
export { type LoadOptions, loadModel } from "./predict/library/load-model.js";
export type * from "./predict/library/types.js";
export { evaluate, exportModel, finetune, pretrain, serve } from "./verbs.js";
