/** The types that users of the package need, in Node and in the browser. */

export type { Calls } from "../calls.js";
export type {
	Code,
	CodeRisk,
	Forecast,
	Future,
	Futures,
	Horizon,
	LoadedModel,
	Prediction,
	Risk,
	Score,
	Task,
	Time,
	WhenRecorded,
} from "./model.js";
export type { Patient, PatientEvent } from "./patient.js";
