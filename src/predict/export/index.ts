export { exportVersion, type WeightPlace, weightPlaces } from "./manifest.js";
export { sha256 } from "./sha256.js";
export { weightBytes } from "./weight-files.js";
export { checkExportTarget, writeExport } from "./write-export.js";
