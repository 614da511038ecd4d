import { pino } from "pino";
import { failureOf } from "./engine/engine.js";

export type Log = ReturnType<typeof jsonLog>;

export const noLog: Log = { request: () => {}, event: () => {}, failure: () => {} };

/** What a log says of a request; `route` is the pattern: /api/v2/sessions/{id}/events. */
type RequestLine = Readonly<Record<"request" | "method" | "route", string>> &
	Readonly<Record<"status" | "ms", number>>;

/** Writes lines of JSON: the route pattern, status and duration of requests; never their content. */
export function jsonLog(stream: { write(text: string): unknown }) {
	const log = pino(
		{ base: { service: "trajgpt" }, timestamp: pino.stdTimeFunctions.isoTime },
		{ write: (text: string) => void stream.write(text) },
	);
	return {
		request: (line: RequestLine) => log.info(line, "request"),
		event: (name: string, fields: Readonly<Record<string, string | number>> = {}) =>
			log.info(fields, name),
		/** Logs an unexpected error: where it happened, without any values. */
		failure: (error: unknown, request: string) =>
			log.error({ request, ...failureOf(error) }, "failure"),
	};
}
