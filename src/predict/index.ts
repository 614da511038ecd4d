export * from "./code-probabilities.js";
export { type HazardModel, hazardModel } from "./hazards.js";
export * from "./head-memory.js";
export * from "./histories.js";
export * from "./incidence.js";
export * from "./represent.js";
export type { Surge } from "./trajectories.js";
