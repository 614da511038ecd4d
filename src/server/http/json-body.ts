import type { IncomingMessage } from "node:http";
import type { Limits } from "../limits.js";
import { Refusal } from "./refusal.js";

/** Reads bodies, of one request so much and of all together so much. */
export interface Bodies {
	text(incoming: IncomingMessage): Promise<string>;
	/** Bytes that are being read. */
	readonly held: number;
}

type BodyLimits = Pick<Limits, "bodyBytes" | "bodiesBytes">;

export function bodies({ bodyBytes, bodiesBytes }: BodyLimits): Bodies {
	let held = 0;
	const tooLarge = () =>
		new Refusal(
			413,
			`the request is larger than ${bodyBytes.toLocaleString("en-US")} bytes; send fewer events, or one patient a request`,
		);
	return {
		get held() {
			return held;
		},
		async text(incoming) {
			if (Number(incoming.headers["content-length"] ?? 0) > bodyBytes) throw tooLarge();
			const chunks: Buffer[] = [];
			let own = 0;
			try {
				for await (const chunk of incoming as AsyncIterable<Buffer>) {
					own += chunk.length;
					held += chunk.length;
					if (own > bodyBytes) throw tooLarge();
					if (held > bodiesBytes)
						throw new Refusal(503, "too much is being sent at once; try again in a moment", {
							retry: 1,
						});
					chunks.push(chunk);
				}
			} finally {
				held -= own;
			}
			return decoded(Buffer.concat(chunks));
		},
	};
}

function decoded(bytes: Buffer): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw new Refusal(400, "the request is not UTF-8; send JSON in UTF-8");
	}
}

/** JSON that is not nested without end. */
export function parsedJson(text: string, mostDepth: number): unknown {
	if (depthOf(text) > mostDepth)
		throw new Refusal(
			400,
			`the request is nested more than ${mostDepth} deep; expected what openapi.json describes`,
		);
	try {
		return JSON.parse(text);
	} catch {
		// The parser's own message quotes what was sent.
		throw new Refusal(400, "the request is not JSON; send what openapi.json describes");
	}
}

/** How deep brackets go, those within texts not counted. */
function depthOf(text: string): number {
	let [depth, most, quoted] = [0, 0, false];
	for (let at = 0; at < text.length; at++) {
		const unit = text.charCodeAt(at);
		if (quoted) {
			if (unit === 92) at++;
			else if (unit === 34) quoted = false;
		} else if (unit === 34) quoted = true;
		else if (unit === 91 || unit === 123) most = Math.max(most, ++depth);
		else if (unit === 93 || unit === 125) depth--;
	}
	return most;
}
