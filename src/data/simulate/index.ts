export { type IncidenceOptions, trueIncidence } from "./cumulative-incidence.js";
export { type Oracle, oracle } from "./oracle.js";
export {
	patientNumber,
	type SimulatedPatient,
	simulatedHistory,
	simulatePatient,
} from "./patients.js";
export { isCovered, type OracleHistory } from "./person.js";
export { conditions } from "./tables.js";
export {
	type Block,
	formats,
	oracleOf,
	readTruth,
	simulateBlock,
	simulationFileNames,
	truthFile,
	writeSimulation,
} from "./write-simulation.js";
