export { builtInMap, pheCodes } from "./built-in.js";
export { type IcdSystem, normaliseIcd } from "./icd.js";
export type { CodeMap, PheCode } from "./map.js";
export { readPheCodeMap } from "./read-map.js";
export type { CodeMatch } from "./search.js";
