import { pino } from "pino";
import { failureOf } from "./engine/engine.js";

/** Writes lines of JSON: the route pattern, status and duration of requests; never their content. */
export interface Log {
	request(line: RequestLine): void;
	event(name: string, fields?: Readonly<Record<string, string | number>>): void;
	/** Logs an unexpected error: where it happened, without any values. */
	failure(error: unknown, request: string): void;
}

export interface RequestLine {
	readonly request: string;
	readonly method: string;
	/** The pattern of the route: /api/v2/sessions/{id}/events. */
	readonly route: string;
	readonly status: number;
	readonly ms: number;
}

export const noLog: Log = { request: () => {}, event: () => {}, failure: () => {} };

export function jsonLog(stream: { write(text: string): unknown }): Log {
	const log = pino(
		{ base: { service: "trajgpt" }, timestamp: pino.stdTimeFunctions.isoTime },
		{ write: (text: string) => void stream.write(text) },
	);
	return {
		request: (line) => log.info(line, "request"),
		event: (name, fields = {}) => log.info(fields, name),
		failure: (error, request) => log.error({ request, ...failureOf(error) }, "failure"),
	};
}
