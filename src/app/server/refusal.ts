import { STATUS_CODES } from "node:http";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { InputError } from "../../base/errors.js";
import { QuestionError } from "../../predict/user-input/moments.js";
import { ThreadEnded } from "./engine/engine.js";

interface RefusalDetails {
	readonly field?: string;
	readonly patient?: number;
	readonly retry?: number;
	readonly allow?: string;
	/** Whether to close the connection without reading the rest of the request. */
	readonly closes?: boolean;
}

/** An error response to a request. Its message never holds patient data. */
export class Refusal extends Error {
	override readonly name = "Refusal";

	constructor(
		readonly status: ContentfulStatusCode,
		message: string,
		readonly details: RefusalDetails = {},
	) {
		super(message);
	}
}

/** What a client is told of an error. An input error of the library names its field, without values of the request. */
export function refusalOf(error: unknown): Refusal {
	if (error instanceof Refusal) return error;
	if (error instanceof QuestionError) return new Refusal(422, error.refusal, { field: error.path });
	if (error instanceof InputError && error.field !== undefined)
		return new Refusal(422, error.message.replaceAll("`", ""), { field: error.field });
	if (error instanceof InputError) return new Refusal(422, error.message);
	if (error instanceof ThreadEnded)
		return new Refusal(503, "the model has stopped and is being restarted; try again", {
			retry: 1,
		});
	return new Refusal(500, "internal error; see the log of the service");
}

/** A client has hung up: nobody reads this. */
export const hungUp = () => new Refusal(408, "the request was aborted");

export const errorBody = (
	status: number,
	message: string,
	where: { readonly field?: string; readonly patient?: number } = {},
) => ({ error: { status, message, ...where } });

/**
 * Sent with every response. The page runs only its own scripts and WebAssembly, connects only to its own
 * origin, and is isolated, so that threads may share memory.
 */
export const securityHeaders: Readonly<Record<string, string>> = {
	"Content-Security-Policy": [
		"default-src 'none'",
		"script-src 'self' 'wasm-unsafe-eval'",
		"worker-src 'self'",
		"connect-src 'self'",
		"style-src 'self'",
		"font-src 'self'",
		"img-src 'self' data: blob:",
		"manifest-src 'self'",
		"form-action 'self'",
		"base-uri 'none'",
		"frame-ancestors 'none'",
	].join("; "),
	"Cross-Origin-Opener-Policy": "same-origin",
	"Cross-Origin-Embedder-Policy": "require-corp",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Origin-Agent-Cluster": "?1",
	"Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Referrer-Policy": "no-referrer",
	"X-Content-Type-Options": "nosniff",
	"X-Frame-Options": "DENY",
};

const malformed: Readonly<Record<string, readonly [status: number, message: string]>> = {
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
	const [status, message] = malformed[code ?? ""] ?? [400, "the request is not HTTP"];
	const body = JSON.stringify(errorBody(status, message));
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
