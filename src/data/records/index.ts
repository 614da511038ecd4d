export { type FileKind, fileKind } from "./bytes.js";
export { openDelimited } from "./delimited.js";
export { openEvents } from "./events.js";
export { openFhir } from "./fhir/index.js";
export { openMeds } from "./meds/index.js";
export { openOmop } from "./omop/index.js";
export type { RecordKind } from "./rows.js";
export type { RecordSource } from "./store.js";
export { openCsv, openParquetRecords, withObservation } from "./tables/index.js";
