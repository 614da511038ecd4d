export * from "./layers.js";
export * from "./ode.js";
export * from "./positions.js";
export * from "./retention.js";
export * from "./series.js";
export * from "./sra.js";
export * from "./weights.js";
