import type { IncomingMessage } from "node:http";
import type { z } from "zod";
import { repeatedKey } from "../../base/json-keys.js";
import { thousands } from "../../base/thousands.js";
import type { Limits } from "./limits.js";
import { Refusal } from "./refusal.js";

/**
 * Reads request bodies, with a limit per request and one for all together. (Hono's `bodyLimit` has the first
 * alone: it would hold any number of bodies in memory.)
 */
export function requestBodies(
	limits: Pick<Limits, "bodyBytes" | "bodiesBytes" | "depth" | "values">,
) {
	const { bodyBytes, bodiesBytes } = limits;
	let allBytes = 0;
	const tooLarge = () =>
		new Refusal(
			413,
			`the request is larger than ${thousands(bodyBytes)} bytes; send fewer events, or one patient per request`,
		);
	return {
		/** Bytes of requests being read or processed. */
		get bytes() {
			return allBytes;
		},
		/**
		 * Reads a body of JSON and counts its bytes until `work` has ended. A body that is nested too deep or has
		 * too many values is read to its end, so that the client receives the refusal, but not kept.
		 */
		async read<T>(incoming: IncomingMessage, work: (bytes: Buffer) => Promise<T>): Promise<T> {
			if (Number(incoming.headers["content-length"] ?? 0) > bodyBytes) throw tooLarge();
			const check = jsonBounds(limits);
			let chunks: Buffer[] = [];
			let refusal: Refusal | undefined;
			let [arrivedBytes, keptBytes] = [0, 0];
			try {
				for await (const chunk of incoming as AsyncIterable<Buffer>) {
					arrivedBytes += chunk.length;
					if (arrivedBytes > bodyBytes) throw tooLarge();
					if (refusal) continue;
					keptBytes += chunk.length;
					allBytes += chunk.length;
					if (allBytes > bodiesBytes)
						throw new Refusal(503, "too much is being sent at once; try again in a moment", {
							retry: 1,
							closes: true,
						});
					chunks.push(chunk);
					refusal = check(chunk);
					if (!refusal) continue;
					chunks = [];
					allBytes -= keptBytes;
					keptBytes = 0;
				}
				if (refusal) throw refusal;
				return await work(Buffer.concat(chunks));
			} finally {
				allBytes -= keptBytes;
			}
		},
	};
}

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Checks JSON as it arrives, and refuses what is nested too deep or holds too many values before it is
 * parsed: a megabyte of empty lists takes a hundred times as long to parse as one of text.
 */
export function jsonBounds({
	depth: maxDepth,
	values: maxValues,
}: Pick<Limits, "depth" | "values">): (chunk: Buffer) => Refusal | undefined {
	let [depth, values, isQuoted, isEscaped] = [0, 1, false, false];
	const refused = (problem: string) =>
		new Refusal(400, `the request ${problem}; expected what /api describes`);
	return (chunk) => {
		for (let i = 0; i < chunk.length; i++) {
			const byte = chunk[i];
			if (isEscaped) isEscaped = false;
			else if (isQuoted) {
				if (byte === backslash) isEscaped = true;
				else if (byte === quote) isQuoted = false;
			} else if (byte === quote) isQuoted = true;
			else if (byte === comma) {
				if (++values > maxValues) return refused(`holds more than ${thousands(maxValues)} values`);
			} else if (byte === openList || byte === openObject) {
				if (++depth > maxDepth) return refused(`is nested more than ${maxDepth} deep`);
			} else if (byte === closeList || byte === closeObject) depth--;
		}
		return undefined;
	};
}

/** Parses a body that `jsonBounds` has checked. */
export function parsedJson(bytes: Buffer): unknown {
	let text: string;
	try {
		text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw new Refusal(400, "the request is not UTF-8; send UTF-8");
	}
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

/** Validates a request by its schema; the refusal names the first invalid field. */
export function validate<T>(schema: z.ZodType<T>, value: unknown): T {
	const parsed = schema.safeParse(value);
	if (parsed.success) return parsed.data;
	const [issue] = parsed.error.issues;
	const field = (issue?.path ?? []).map(String).join(".");
	const batch = /^patients\.(\d+)\b/.exec(field);
	// The message never repeats values that were sent, only names of unknown fields, truncated.
	const what = (issue?.message ?? "not as expected")
		.replace(/^Invalid input: expected (\w+), received undefined$/, "is missing: expected $1")
		.slice(0, 200);
	throw new Refusal(400, `${field || "the request"}: ${what}; expected what /api describes`, {
		...(field && { field }),
		...(batch && { patient: Number(batch[1]) }),
	});
}

/** A value that is JSON already, such as what a thread has written. */
export class RawJson {
	constructor(readonly bytes: Uint8Array) {}
}

const between = (start: string, parts: readonly Uint8Array[], end: string): Buffer =>
	Buffer.concat([
		Buffer.from(start),
		...parts.flatMap((part, i) => (i > 0 ? [Buffer.from(","), part] : [part])),
		Buffer.from(end),
	]);

export const listBytes = (elements: readonly Uint8Array[]): Buffer => between("[", elements, "]");

export function jsonBytes(value: object): Buffer {
	const fields = Object.entries(value).filter(([, field]) => field !== undefined);
	const bytes = fields.map(([key, field]) => {
		const json = field instanceof RawJson ? field.bytes : Buffer.from(JSON.stringify(field));
		return Buffer.concat([Buffer.from(`${JSON.stringify(key)}:`), json]);
	});
	return between("{", bytes, "}");
}
