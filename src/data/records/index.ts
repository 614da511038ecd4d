export { openDelimited } from "./delimited.js";
export { openEvents } from "./events.js";
export { openFhir } from "./fhir/index.js";
export { openRecords, recordFormats } from "./formats.js";
export { openMeds } from "./meds/index.js";
export { openOmop } from "./omop/index.js";
export { type ReaderOptions, recordFields } from "./options.js";
export type { RecordSource } from "./store.js";
export { openCsv, openParquetRecords, withObservation } from "./tables/index.js";
