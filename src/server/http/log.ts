import { pino } from "pino";
import { failureOf } from "../engine/call-failed.js";

/** Lines of JSON: what was asked for by its pattern, how it ended and how long it took; never what was sent. */
export interface Log {
	request(line: RequestLine): void;
	event(name: string, fields?: Readonly<Record<string, string | number>>): void;
	/** Something that should not have happened; where, but not with which values. */
	failure(error: unknown, request: string): void;
}

export interface RequestLine {
	readonly request: string;
	readonly method: string;
	/** As routes write it: /api/v1/sessions/{id}/events. */
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
