export { type CohortTask, labelCohorts } from "./cohorts.js";
export { type DeterminingCode, determiningCodes } from "./determining-codes.js";
export { type Exclusion, type Extracted, extract } from "./extract.js";
export { storeLabels, writeLabels } from "./label-files.js";
export { libraryDescription, libraryFile, libraryTask, libraryTasks } from "./library.js";
export { checkOverlap } from "./overlap.js";
export { readAces, taskText } from "./read-aces.js";
export { datasetRecords, medsRecords, type TaskRecords } from "./records.js";
export { storedLabels } from "./stored-labels.js";
