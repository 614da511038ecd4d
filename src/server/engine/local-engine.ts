import { answering, calling } from "./answering.js";
import type { Engine, ModelParts } from "./engine.js";

/** A model in this thread. */
export function localEngine(parts: ModelParts): Engine {
	const { predictor, call, dispose } = answering(parts);
	const { represent, forecast, risk, ...asked } = calling(call);
	return { width: 1, predictor: { ...predictor, ...asked }, represent, forecast, risk, dispose };
}
