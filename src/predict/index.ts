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
export { type HazardModel, hazardModel } from "./hazards.js";
export {
	type HeadMemory,
	headMemory,
	inputVectors,
	learnedVectors,
	type MemoryByCategory,
	outputVectors,
} from "./head-memory.js";
export { type Edit, edited, knownOn, outsideReason, type ViewedHistory } from "./histories.js";
export {
	attributeIncidence,
	type IncidenceTrajectory,
	incidenceReader,
	incidences,
	incidenceTrajectories,
} from "./incidence.js";
export {
	codeRisk,
	logOddsOf,
	representations,
	taskScorer,
} from "./represent.js";
export type { Surge } from "./trajectories.js";
