import { type CallByName, callsByName } from "../base/worker-calls.js";
import type {
	attribute,
	predictAt,
	representations,
	riskTrajectories,
	sampleFutures,
	whatIf,
} from "../infer/index.js";
import type { Predictor } from "../models/index.js";

type Rest<F> = F extends (first: Predictor, ...rest: infer R) => infer T
	? (...rest: R) => T
	: never;

/** The low-level calls of a model, with histories as tokens and days. Arguments and results can cross to a worker. */
export interface Calls extends Pick<Predictor, "observe" | "query" | "advance" | "queryWithin"> {
	start(patients: number): Promise<ReturnType<Predictor["start"]>>;
	select(...values: Parameters<Predictor["select"]>): Promise<ReturnType<Predictor["select"]>>;
	predict: Rest<typeof predictAt>;
	risk: Rest<typeof riskTrajectories>;
	attribute: Rest<typeof attribute>;
	whatIf: Rest<typeof whatIf>;
	futures: Rest<typeof sampleFutures>;
	/** One vector per history: [histories, dim]. */
	represent(histories: Parameters<typeof representations>[2]): Promise<Float32Array>;
}

const callNames = [
	"start",
	"select",
	"observe",
	"query",
	"advance",
	"queryWithin",
	"predict",
	"risk",
	"attribute",
	"whatIf",
	"futures",
	"represent",
] as const;

/** The calls of a model that runs elsewhere, made by name through `call`. */
export const callsThrough = (call: CallByName): Calls =>
	callsByName<Calls, (typeof callNames)[number]>(callNames, call);
