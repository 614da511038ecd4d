import { STATUS_CODES } from "node:http";
import { securityHeaders } from "./security-headers.js";

const refusals: Readonly<Record<string, readonly [status: number, message: string]>> = {
	ERR_HTTP_REQUEST_TIMEOUT: [408, "the request took too long to arrive; send it without pauses"],
	HPE_HEADER_OVERFLOW: [
		431,
		"the headers of the request are too large; send fewer or shorter ones",
	],
	HPE_CHUNK_EXTENSIONS_OVERFLOW: [
		413,
		"the chunk extensions of the request are too long; leave them out",
	],
};

/** The raw HTTP response to bytes that are not a valid request; `code` is that of Node's error. */
export function malformedRequestResponse(code: string | undefined): string {
	const [status, message] = refusals[code ?? ""] ?? [400, "the request is not HTTP"];
	const body = JSON.stringify({ error: { status, message } });
	const headers = {
		...securityHeaders,
		"Cache-Control": "no-store",
		"Content-Type": "application/json",
		"Content-Length": Buffer.byteLength(body),
		Connection: "close",
	};
	const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
	return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
