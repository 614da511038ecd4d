import type { ViewedHistory } from "../../infer/index.js";
import type { ParameterValues, Predictor } from "../../models/index.js";

/** What a model is made from, wherever it runs. */
export interface ModelParts {
	/** Its id. */
	readonly model: string;
	readonly config: unknown;
	readonly weights: ParameterValues;
}

/** A model that answers, in this thread or in others. */
export interface Engine {
	/** How many calls it works on at once. */
	readonly width: number;
	readonly predictor: Predictor;
	/** A vector for each history: [histories, dim]. */
	represent(histories: readonly ViewedHistory[]): Promise<Float32Array>;
	dispose(): Promise<void>;
}
