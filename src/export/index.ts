export { type WeightPlace, weightPlaces } from "./manifest.js";
export { checkExportTarget, writeExport } from "./write-export.js";
