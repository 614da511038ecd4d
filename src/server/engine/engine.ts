import { type CallByName, callsByName } from "../../base/worker-calls.js";
import type { Token } from "../../cohort/vocabulary.js";
import type { ViewedHistory } from "../../infer/index.js";
import type { ParameterValues, Predictor } from "../../models/index.js";
import type { ForecastQuery } from "./forecast.js";
import type { RiskQuery } from "./risk.js";

/** What a model is made from, wherever it runs. */
export interface ModelParts {
	/** Its id. */
	readonly model: string;
	readonly config: unknown;
	readonly weights: ParameterValues;
	/** Its codes, in words. */
	readonly tokens: readonly Token[];
}

/** What a thread is begun with. */
export interface ThreadData {
	readonly parts: ModelParts;
	/** Of ONNX Runtime. */
	readonly threads: number;
}

/** A model that answers, in this thread or in others. */
export interface Engine {
	/** How many calls it works on at once. */
	readonly width: number;
	readonly predictor: Predictor;
	/** One vector per history: [histories, dim]. */
	represent(histories: readonly ViewedHistory[]): Promise<Float32Array>;
	/** The forecasts of a response, one per time, as JSON. */
	forecast(query: ForecastQuery): Promise<Uint8Array[]>;
	/** The times and codes of a response, as JSON lists. */
	risk(query: RiskQuery): Promise<Record<"times" | "codes", Uint8Array[]>>;
	dispose(): Promise<void>;
}

/** The calls that take time. */
const methods = [
	"observe",
	"query",
	"advance",
	"score",
	"queryWithin",
	"represent",
	"forecast",
	"risk",
] as const;
export type Method = (typeof methods)[number];

/** An engine that passes the calls that take time on. */
export function engineThrough(
	call: CallByName<Method>,
	{ predictor, ...rest }: Pick<Engine, "width" | "predictor" | "dispose">,
): Engine {
	const { represent, forecast, risk, ...timed } = callsByName<Predictor & Engine, Method>(
		methods,
		call,
	);
	return { ...rest, represent, forecast, risk, predictor: { ...predictor, ...timed } };
}
