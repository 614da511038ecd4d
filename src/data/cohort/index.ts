export { type Batch, type BatchOptions, type SplitBatches, splitBatches } from "./batches.js";
export type { Dataset } from "./dataset.js";
export { type DatasetView, datasetView, withPatients } from "./dataset-view.js";
export { taskMarker } from "./definition-beside.js";
export type { SharedEvents } from "./event-file.js";
export type { Histogram } from "./histogram.js";
export type { History, Period } from "./history.js";
export type { LabelDefinition } from "./label-definition.js";
export type { Label } from "./labels.js";
export {
	dedupRules,
	drugUses,
	fileNames,
	type Manifest,
	manifestName,
	type Split,
	splitNames,
} from "./manifest.js";
export {
	mapOfDataset,
	type NewPatient,
	type NewPatients,
	newPatients,
	type UnknownCodes,
} from "./new-patients.js";
export { openDataset } from "./open-dataset.js";
export { type PrepareOptions, prepare, prepareDefaults } from "./prepare.js";
export type { SplitParts } from "./split.js";
export { type DatasetSummary, type LabelSummary, summarize } from "./summary.js";
export {
	type GivenLabel,
	givenLabels,
	labelUnitOf,
	labelWarnings,
	type SeenLabel,
	withLabels,
} from "./user-labels.js";
export type { Spread } from "./value-counts.js";
