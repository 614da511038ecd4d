export { findings } from "./findings.js";
export { taskOf } from "./measures.js";
export { modelCard } from "./model-card.js";
export { reportPage } from "./page.js";
export type {
	DrawnFigure,
	MissingEvaluation,
	OnsetPerson,
	PatientStory,
	Report,
} from "./report.js";
