/**
 * Records, datasets, code maps, measures and the simulated population.
 *
 * @packageDocumentation
 */
export {
	builtInMap,
	type CodeMap,
	type PheCode,
	pheCodes,
	readPheCodeMap,
} from "./data/codes/index.js";
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
	type Period,
	type Split,
	splitBatches,
} from "./data/cohort/index.js";
export {
	openCsv,
	openEvents,
	openFhir,
	openMeds,
	openOmop,
	openParquetRecords,
	type RecordSource,
	withObservation,
} from "./data/records/index.js";
export {
	type Oracle,
	type OracleHistory,
	oracle,
	oracleOf,
	simulatePatient,
	writeSimulation,
} from "./data/simulate/index.js";
export {
	auroc,
	averagePrecision,
	brier,
	calibrationCurve,
	type Evaluation,
	expectedCalibrationError,
	logLoss,
	openTask,
	readEvaluation,
	tasksOf,
} from "./evaluate/index.js";
