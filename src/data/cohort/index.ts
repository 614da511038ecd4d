export { type Batch, type BatchOptions, type SplitBatches, splitBatches } from "./batches.js";
export {
	type Dataset,
	type DatasetView,
	datasetView,
	openDataset,
	withPatients,
} from "./dataset.js";
export type { SharedEvents } from "./dataset-files.js";
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
export type { SplitParts } from "./people.js";
export { prepare } from "./prepare.js";
export { type PrepareOptions, prepareDefaults } from "./prepare-options.js";
export {
	type DatasetSummary,
	type Histogram,
	type LabelSummary,
	type Spread,
	summarize,
} from "./summary.js";
export {
	type GivenLabel,
	givenLabels,
	labelUnitOf,
	labelWarnings,
	type SeenLabel,
	taskMarker,
	withLabels,
} from "./user-labels.js";
