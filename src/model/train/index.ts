export * from "./finetune/classifier.js";
export * from "./finetune/task-folder.js";
export * from "./options.js";
export * from "./pretrain.js";
export * from "./rates.js";
export * from "./run-folder.js";
export { codeNumbers } from "./step.js";
export * from "./trained.js";
export { trainer } from "./trainer.js";
