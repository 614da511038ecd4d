export { builtInMap, pheCodes } from "./built-in.js";
export { type CodeMap, type IcdSystem, normaliseIcd, type PheCode } from "./map.js";
export { readPheCodeMap } from "./read-map.js";
