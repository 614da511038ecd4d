export { type IncidenceOptions, trueIncidence } from "./cumulative-incidence.js";
export { type Oracle, oracle } from "./oracle.js";
export * from "./patients.js";
export { isCovered, type OracleHistory } from "./person.js";
export { conditions } from "./tables.js";
export * from "./write-simulation.js";
