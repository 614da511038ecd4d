export { type Batch, type BatchOptions, splitBatches } from "./batches.js";
export { checkFileTarget, checkFolderTarget } from "./beside.js";
export type { Dataset, History } from "./dataset.js";
export type { Manifest, Split } from "./manifest.js";
export { openDataset } from "./open-dataset.js";
export { prepare, prepareDefaults } from "./prepare.js";
export { type DatasetSummary, type Spread, summarize } from "./summary.js";
export { manifestName, writeDataset } from "./write-dataset.js";
