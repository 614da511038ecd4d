export { builtInMap, pheCodes } from "./built-in.js";
export { type IcdSystem, normaliseIcd, undottedIcd } from "./icd.js";
export type { CodeMap, PheCode, PheCodeLevel } from "./map.js";
export { type PheCodeMapOptions, readPheCodeMap } from "./read-map.js";
