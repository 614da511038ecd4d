export { findings } from "./findings.js";
export type { DrawFigure, Section } from "./markup.js";
export { taskOf } from "./measures.js";
export { modelCard } from "./model-card.js";
export { reportPage, sectionsOf } from "./page.js";
export type { Report } from "./report.js";
