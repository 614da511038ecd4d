export { type CohortTask, labelCohorts } from "./cohorts.js";
export { checkOverlap } from "./definition.js";
export { type Extracted, extract } from "./extract.js";
export { definitionOfCohorts, definitionOfTask, tokensOf } from "./label-definition.js";
export {
	determiningCodes,
	storedLabels,
	writeLabels,
} from "./labels.js";
export {
	libraryDescription,
	libraryFile,
	libraryTask,
	libraryTasks,
	readAces,
	taskText,
} from "./read-aces.js";
export { datasetRecords, medsRecords, type TaskRecords } from "./records.js";
