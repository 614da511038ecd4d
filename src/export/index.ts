export { evaluationsOf } from "./evaluations.js";
export { exportVersion, type WeightPlace, weightPlaces } from "./manifest.js";
export { modelCard } from "./model-card.js";
export { checkExportTarget, writeExport } from "./write-export.js";
