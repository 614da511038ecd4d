export { type AutoRegressiveOptions, predictAutoRegressively } from "./auto-regressive.js";
export {
	type Attribution,
	type AttributionQuery,
	attributeCodeProbability,
	type CodeTrajectory,
	codeTrajectories,
	likeliest,
	type PlacedPredictions,
	predictAt,
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
export { type FutureOptions, sampleFutures } from "./sampled-futures.js";
export { inputVectors, learnedVectors, outputVectors } from "./token-vectors.js";
export type { Surge } from "./trajectories.js";
