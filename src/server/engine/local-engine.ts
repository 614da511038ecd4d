import { answering } from "./answering.js";
import type { Engine, ModelParts } from "./engine.js";

/** A model in this thread. */
export function localEngine(parts: ModelParts): Engine {
	return { width: 1, ...answering(parts, 1) };
}
