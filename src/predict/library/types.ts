/** The types that users of the package need, in Node and in the browser. */
export type { Calls } from "./calls.js";
export type {
	Answer,
	Code,
	CodeRisk,
	Forecast,
	ForecastOptions,
	Future,
	Futures,
	FuturesOptions,
	Horizon,
	LoadedModel,
	Prediction,
	Risk,
	RiskOptions,
	Score,
	ScoreOptions,
	Task,
	Time,
	WhenRecorded,
} from "./model.js";
export type { Patient, PatientEvent } from "./patient.js";
