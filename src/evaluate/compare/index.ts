export { type Cell, cellSchema, type Entry, entrySchema, keepsPatients } from "./cell.js";
export { columnsOf, onsetHorizons } from "./columns.js";
export { type Comparison, comparisonOf, partsOf } from "./comparison.js";
export { csv, differenceTables, latex, markdown, textRows } from "./render.js";
export type { Way } from "./sources.js";
