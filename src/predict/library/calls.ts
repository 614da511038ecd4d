import { type CallByName, callsByName } from "../../base/worker-calls.js";
import type { callsOf } from "./run-calls.js";

/** The low-level calls of a model, with histories as tokens and days. Arguments and results can cross to a worker. */
export type Calls = ReturnType<typeof callsOf>["calls"];

const callNames = [
	"start",
	"select",
	"observe",
	"query",
	"advance",
	"queryWithin",
	"predict",
	"codeProbabilities",
	"attributeCodeProbability",
	"incidence",
	"incidenceTrajectories",
	"attributeIncidence",
	"futures",
	"drawFutures",
	"represent",
	"scoreTask",
] as const;

/** The calls of a model that runs elsewhere, made by name through `call`. */
export const callsThrough = (call: CallByName): Calls =>
	callsByName<Calls, (typeof callNames)[number]>(callNames, call);
