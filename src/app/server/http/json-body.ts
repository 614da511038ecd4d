import type { IncomingMessage } from "node:http";
import { repeatedKey } from "../../../base/json-keys.js";
import { thousands } from "../../../base/thousands.js";
import type { Limits } from "../limits.js";
import { Refusal } from "./refusal.js";

type BodyLimits = Pick<Limits, "bodyBytes" | "bodiesBytes">;

/**
 * Reads request bodies, with a limit per request and one for all together. `advice` says what to do
 * about a body that is too large.
 */
export function bodies({ bodyBytes, bodiesBytes }: BodyLimits, advice: string) {
	let held = 0;
	const tooLarge = () =>
		new Refusal(413, `the request is larger than ${thousands(bodyBytes)} bytes; ${advice}`);
	return {
		/** Bytes of requests being read or processed. */
		get held() {
			return held;
		},
		/**
		 * Reads a body and counts its bytes until `work` has ended. A body that `check` refuses is read to
		 * its end, so that the client receives the refusal, but not kept.
		 */
		async read<T>(
			incoming: IncomingMessage,
			work: (bytes: Buffer) => Promise<T>,
			check?: (chunk: Buffer) => Refusal | undefined,
		): Promise<T> {
			if (Number(incoming.headers["content-length"] ?? 0) > bodyBytes) throw tooLarge();
			let chunks: Buffer[] = [];
			let refusal: Refusal | undefined;
			let [arrived, own] = [0, 0];
			try {
				for await (const chunk of incoming as AsyncIterable<Buffer>) {
					arrived += chunk.length;
					if (arrived > bodyBytes) throw tooLarge();
					if (refusal) continue;
					own += chunk.length;
					held += chunk.length;
					if (held > bodiesBytes)
						throw new Refusal(503, "too much is being sent at once; try again in a moment", {
							retry: 1,
							closes: true,
						});
					chunks.push(chunk);
					refusal = check?.(chunk);
					if (!refusal) continue;
					chunks = [];
					held -= own;
					own = 0;
				}
				if (refusal) throw refusal;
				return await work(Buffer.concat(chunks));
			} catch (error) {
				// Reading fails if the client hangs up in the middle of its request.
				if (incoming.destroyed && !incoming.complete && !(error instanceof Refusal))
					throw new DOMException("the client has hung up", "AbortError");
				throw error;
			} finally {
				held -= own;
			}
		},
	};
}

/** The text of a body. */
export function decoded(bytes: Buffer): string {
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw new Refusal(400, "the request is not UTF-8; send UTF-8");
	}
}

/** Parses a body that `jsonBounds` has checked. */
export function parsedJson(bytes: Buffer): unknown {
	const text = decoded(bytes);
	let parsed: unknown;
	try {
		parsed = JSON.parse(text);
	} catch {
		// The parser's own message would quote the request.
		throw new Refusal(400, "the request is not JSON; send what /api describes");
	}
	const key = repeatedKey(text);
	if (key === undefined) return parsed;
	throw new Refusal(
		400,
		`the request holds the key "${key.slice(0, 100)}" twice in one object; leave one out`,
	);
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Checks JSON as it arrives, and refuses what is nested too deep or holds too many values before it is
 * parsed: a megabyte of empty lists takes a hundred times as long to parse as one of text.
 */
export function jsonBounds({
	depth: mostDepth,
	values: mostValues,
}: Pick<Limits, "depth" | "values">): (chunk: Buffer) => Refusal | undefined {
	let [depth, values, isQuoted, isEscaped] = [0, 1, false, false];
	const refused = (problem: string) =>
		new Refusal(400, `the request ${problem}; expected what /api describes`);
	return (chunk) => {
		for (let at = 0; at < chunk.length; at++) {
			const byte = chunk[at];
			if (isEscaped) isEscaped = false;
			else if (isQuoted) {
				if (byte === backslash) isEscaped = true;
				else if (byte === quote) isQuoted = false;
			} else if (byte === quote) isQuoted = true;
			else if (byte === comma) {
				if (++values > mostValues)
					return refused(`holds more than ${thousands(mostValues)} values`);
			} else if (byte === openList || byte === openObject) {
				if (++depth > mostDepth) return refused(`is nested more than ${mostDepth} deep`);
			} else if (byte === closeList || byte === closeObject) depth--;
		}
		return undefined;
	};
}
