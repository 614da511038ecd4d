import { type CallByName, callsByName } from "../../../base/worker-calls.js";
import type { Token } from "../../../data/cohort/vocabulary.js";
import type { ParameterValues, Predictor } from "../../../model/index.js";
import type { FineTunedTask } from "../../../model/train/index.js";
import type { IncidenceReader, ViewedHistory } from "../../../predict/index.js";
import type { ForecastQuery } from "./forecast.js";

/** What a thread needs to build the model. */
export interface ModelParts {
	/** Its id. */
	readonly model: string;
	readonly config: unknown;
	readonly weights: ParameterValues;
	/** The codes with their names. */
	readonly tokens: readonly Token[];
	/** The task it was fine-tuned to, if any. */
	readonly task?: FineTunedTask | undefined;
}

/** The data that a thread starts with. */
export interface ThreadData {
	readonly parts: ModelParts;
	/** Of ONNX Runtime. */
	readonly threads: number;
}

/** A model that predicts, in this thread or in others. */
export interface Engine {
	/** Calls that run at the same time. */
	readonly width: number;
	readonly predictor: Predictor;
	/** One vector per history: [histories, dim]. */
	represent(histories: readonly ViewedHistory[]): Promise<Float32Array>;
	/** The forecasts of a response, one per time, as JSON. */
	forecast(query: ForecastQuery): Promise<Uint8Array[]>;
	/** The risks of codes of histories on index days. */
	incidence: IncidenceReader;
	/** The probability of the label of the model's task, one per history. */
	scoreTask(histories: readonly ViewedHistory[]): Promise<Float64Array>;
	dispose(): Promise<void>;
}

/** The calls that compute. */
const methods = [
	"observe",
	"query",
	"advance",
	"score",
	"queryWithin",
	"represent",
	"forecast",
	"incidence",
	"scoreTask",
] as const;
export type Method = (typeof methods)[number];

/** An engine that makes its computing calls through `call`. */
export function engineThrough(
	call: CallByName<Method>,
	{ predictor, ...rest }: Pick<Engine, "width" | "predictor" | "dispose">,
): Engine {
	const { represent, forecast, incidence, scoreTask, ...timed } = callsByName<
		Predictor & Engine,
		Method
	>(methods, call);
	return {
		...rest,
		represent,
		forecast,
		incidence,
		scoreTask,
		predictor: { ...predictor, ...timed },
	};
}
