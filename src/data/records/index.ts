export { openDelimited } from "./delimited.js";
export { openEvents } from "./events.js";
export { openFhir } from "./fhir/index.js";
export { type FileKind, fileKind } from "./file-kind.js";
export { openMeds } from "./meds/index.js";
export { openOmop } from "./omop/index.js";
export type { RecordKind, RecordSource } from "./rows.js";
export { openCsv, openParquetRecords, withObservation } from "./tables/index.js";
