import type { z } from "zod";
import * as schemas from "./schemas.js";

/** One operation of the API. The service validates requests by it, and OpenAPI is generated from it. */
export interface Route {
	readonly method: "get" | "post" | "delete";
	/** Below /api/v2, with `{id}` for a part that varies. */
	readonly path: string;
	readonly summary: string;
	/** Of the parameters in the URL. */
	readonly query?: z.ZodObject;
	readonly request?: z.ZodType;
	readonly status: 200 | 201 | 204;
	readonly response?: z.ZodType;
}

const post = <Request extends z.ZodType>(
	path: string,
	summary: string,
	request: Request,
	response: z.ZodType,
	status: 200 | 201 = 200,
) => ({ method: "post", path, summary, request, response, status }) as const;

export const routes = {
	health: {
		method: "get",
		path: "/health",
		summary: "whether the service answers, and how many calls wait",
		status: 200,
		response: schemas.healthResponse,
	},
	model: {
		method: "get",
		path: "/model",
		summary: "the model and the limits of the service",
		status: 200,
		response: schemas.modelResponse,
	},
	codes: {
		method: "get",
		path: "/codes",
		summary: "the codes of the model that match a number, a name, a synonym or an abbreviation",
		query: schemas.codesQuery,
		status: 200,
		response: schemas.codesResponse,
	},
	forecast: post(
		"/forecast",
		"the codes most likely to be recorded at these times",
		schemas.forecastRequest,
		schemas.forecastResponse,
	),
	risk: post(
		"/risk",
		"the probability that codes are recorded within some years, how it developed, and what drove it",
		schemas.riskRequest,
		schemas.riskResponse,
	),
	forecastBatch: post(
		"/forecast/batch",
		"forecasts for several patients",
		schemas.forecastBatchRequest,
		schemas.forecastBatchResponse,
	),
	riskBatch: post(
		"/risk/batch",
		"the probability that codes are recorded within some years, for several patients",
		schemas.riskBatchRequest,
		schemas.riskBatchResponse,
	),
	score: post(
		"/score",
		"the probability of the label that the model was fine-tuned to",
		schemas.scoreRequest,
		schemas.scoreResponse,
	),
	embed: post("/embed", "a history as one vector", schemas.embedRequest, schemas.embedResponse),
	startSession: post(
		"/sessions",
		"keep the model's state of a patient, so that only further events are computed",
		schemas.sessionRequest,
		schemas.sessionResponse,
		201,
	),
	addEvents: post(
		"/sessions/{id}/events",
		"add events to a session, none before its last event",
		schemas.eventsRequest,
		schemas.sessionResponse,
	),
	sessionForecast: post(
		"/sessions/{id}/forecast",
		"the codes most likely to be recorded after a session's last event",
		schemas.sessionForecastRequest,
		schemas.forecastResponse,
	),
	endSession: {
		method: "delete",
		path: "/sessions/{id}",
		summary: "end a session and delete its state",
		status: 204,
	},
} as const satisfies Record<string, Route>;
