export {
	type Attribution,
	type AttributionQuery,
	type AutoRegressiveOptions,
	attributeCodeProbability,
	type CodeTrajectory,
	codeTrajectories,
	type FutureOptions,
	likeliest,
	type PlacedPredictions,
	predictAt,
	predictAutoRegressively,
	sampleFutures,
} from "./code-probabilities.js";
export { codeRisk } from "./code-risks.js";
export { type HazardModel, hazardModel } from "./hazards.js";
export { type HeadMemory, headMemory, type MemoryByCategory } from "./head-memory.js";
export { type Edit, edited, knownOn, outsideReason, type ViewedHistory } from "./histories.js";
export {
	attributeIncidence,
	type IncidenceReader,
	type IncidenceTrajectory,
	incidenceReader,
	incidences,
	incidenceTrajectories,
} from "./incidence.js";
export {
	logOddsOf,
	representations,
	representer,
	type TaskScorer,
	taskScorer,
} from "./represent.js";
export { inputVectors, learnedVectors, outputVectors } from "./token-vectors.js";
export type { Surge } from "./trajectories.js";
