export { leastTokenLength, newToken } from "./access.js";
export { isLoopback } from "./addresses.js";
export type { ServedModel } from "./api/predictions.js";
export { type Engine, localEngine, partsOf, threadEngine } from "./engine/engine.js";
export { defaultLimits, type Limits } from "./limits.js";
export { jsonLog, type Log, noLog } from "./log.js";
export { type Service, startService } from "./service.js";
export { document, filesIn, type ServedFile } from "./static-files.js";
