export { type Cell, cellSchema, type Entry, entrySchema } from "./cell.js";
export { columnsOf } from "./columns.js";
export { type Comparison, comparisonOf, type Way } from "./comparison.js";
export { csv, differenceTexts, latex, markdown, textRows } from "./render.js";
