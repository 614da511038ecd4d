import type { z } from "zod";
import {
	embedRequest,
	embedResponse,
	eventsRequest,
	forecastRequest,
	forecastResponse,
	modelResponse,
	riskRequest,
	riskResponse,
	sessionForecastRequest,
	sessionRequest,
	sessionResponse,
} from "./schemas.js";

/** One operation of the API. The service validates requests by it, and OpenAPI is generated from it. */
export interface Route {
	readonly method: "get" | "post" | "delete";
	/** Below /api/v1, with `{id}` for a part that varies. */
	readonly path: string;
	readonly summary: string;
	readonly request?: z.ZodType;
	readonly status: 200 | 201 | 204;
	readonly response?: z.ZodType;
}

export const routes = {
	model: {
		method: "get",
		path: "/model",
		summary: "the model and the limits of the service",
		status: 200,
		response: modelResponse,
	},
	forecast: {
		method: "post",
		path: "/forecast",
		summary: "the codes most likely to be recorded at these times",
		request: forecastRequest,
		status: 200,
		response: forecastResponse,
	},
	risk: {
		method: "post",
		path: "/risk",
		summary: "the risk of codes over time, and what drove it",
		request: riskRequest,
		status: 200,
		response: riskResponse,
	},
	embed: {
		method: "post",
		path: "/embed",
		summary: "a history as one vector",
		request: embedRequest,
		status: 200,
		response: embedResponse,
	},
	startSession: {
		method: "post",
		path: "/sessions",
		summary: "keep the model's state of a patient, so that only further events are computed",
		request: sessionRequest,
		status: 201,
		response: sessionResponse,
	},
	addEvents: {
		method: "post",
		path: "/sessions/{id}/events",
		summary: "add events to a session, none before its last event",
		request: eventsRequest,
		status: 200,
		response: sessionResponse,
	},
	sessionForecast: {
		method: "post",
		path: "/sessions/{id}/forecast",
		summary: "the codes most likely to be recorded after a session's last event",
		request: sessionForecastRequest,
		status: 200,
		response: forecastResponse,
	},
	endSession: {
		method: "delete",
		path: "/sessions/{id}",
		summary: "end a session and delete its state",
		status: 204,
	},
} as const satisfies Record<string, Route>;
