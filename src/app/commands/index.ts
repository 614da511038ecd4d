/** The workflows on records, runs and patients, one function each. The commands call them too. */

export { ablate, type CompareOptions, compare } from "./compare/run.js";
export { type EmbedOptions, embed } from "./embed.js";
export { commonDataset, type EvaluateOptions, evaluate, type TaskResult } from "./evaluate/runs.js";
export { type ExportOptions, exportModel } from "./export.js";
export { type FinetuneOptions, type FinetuneSummary, finetune } from "./finetune.js";
export { type PrepareOptions, prepare } from "./prepare.js";
export { type PretrainOptions, pretrain } from "./pretrain.js";
export { type ReportOptions, report } from "./report.js";
export { type ServeOptions, type Serving, serve } from "./serve.js";
export { type LabelledTask, type LabelTaskOptions, labelTask } from "./tasks.js";
