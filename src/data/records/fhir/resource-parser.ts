import { InputError } from "../../../base/errors.js";
import { refuseRepeatedKey } from "../../../base/json-keys.js";
import { type Fields, listOf, objectOf, shapeOf, textOf } from "./data-types.js";

/** The file is JSON but not FHIR; in a folder of FHIR files it is skipped. */
export class NotFhirError extends InputError {}

/** A part of a file that is small enough to be parsed. */
export interface Piece {
	/**
	 * `entry`: an element of a list named `entry` in an object at the top. `rest`: an object at the
	 * top without these elements, which a resource that is no Bundle is as a whole.
	 */
	readonly kind: "entry" | "rest";
	/** The number of the entry, from 1; for the rest, how many entries were taken out. */
	readonly entry: number;
	/** The line on which it starts, from 1. */
	readonly line: number;
	readonly bytes: Uint8Array;
}

const longestPiece = 64 * 1024 * 1024; // bytes: far above any resource, far below memory
const deepest = 1000; // brackets inside brackets

const lineFeed = 0x0a;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
/** Two more is what closes it. */
const openObject = 0x7b;
const openList = 0x5b;
const blanks: readonly number[] = [0x20, 0x09, 0x0d];
const entryKey = new TextEncoder().encode("entry");
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** What is allowed next between the elements of the list `entry`. */
type Next = "element or end" | "element" | "comma or end";

/**
 * Splits a stream of JSON objects (a Bundle, a resource, or one resource per line) into pieces. Memory
 * stays within the largest piece. It follows strings and brackets only; JSON.parse checks the rest.
 */
export class JsonSplitter {
	readonly #file: string;
	readonly #limit: number;
	readonly #closers = new Uint8Array(deepest);
	#depth = 0;
	#line = 1;
	#offset = 0;
	#inText = false;
	#escaped = false;
	/** The number of letters of `entry` that the string at depth 1 matches so far; -1 for another key. */
	#spelled = -1;
	#underEntry = false;
	/** Undefined outside of the list `entry`. */
	#next: Next | undefined;
	#entries = 0;
	#rest = new PieceBuffer();
	#entry = new PieceBuffer();
	/** The piece that bytes belong to; those between entries and between objects belong to none. */
	#piece: PieceBuffer | undefined;
	/** Where the bytes of the piece begin in the chunk. */
	#from = 0;
	#values = 0;
	/** The line of the previous object if it was on one line: then there is one object per line. */
	#lineBefore = 0;
	#onePerLine = false;

	constructor(file: string, limit = longestPiece) {
		this.#file = file;
		this.#limit = limit;
	}

	/** Number of complete top-level objects. */
	get values(): number {
		return this.#values;
	}

	*push(chunk: Uint8Array): Generator<Piece> {
		this.#from = 0;
		for (let at = 0; at < chunk.length; at++) {
			if (this.#inText) {
				at = this.#passText(chunk, at);
				continue;
			}
			const byte = chunk[at] as number;
			if (byte === lineFeed) {
				if (this.#onePerLine && this.#depth > 0) throw this.#fault("the line ends inside it");
				this.#line++;
			} else if (byte === openObject || byte === openList) this.#open(byte, chunk, at);
			else if (byte === openObject + 2 || byte === openList + 2) {
				const piece = this.#close(byte, chunk, at);
				if (piece) yield piece;
			} else if (this.#piece) {
				if (byte === quote) {
					this.#inText = true;
					if (this.#depth === 1) this.#spelled = 0;
				} else if (this.#depth === 1) {
					if (byte === colon) this.#underEntry = this.#spelled === entryKey.length;
					else if (byte === comma) this.#underEntry = false;
				}
			} else if (byte === comma && this.#next === "comma or end") this.#next = "element";
			else if (!blanks.includes(byte) && byte !== byteOrderMark[this.#offset + at])
				throw this.#stray(byte);
		}
		this.#offset += chunk.length;
		this.#keep(chunk, chunk.length);
	}

	/** Call after the last chunk. */
	end(): void {
		if (this.#depth > 0) throw this.#fault("the file ends inside it", "copy the file again");
	}

	/** Where the closing quote is, or the end of the chunk. */
	#passText(chunk: Uint8Array, from: number): number {
		for (let at = from; at < chunk.length; at++) {
			const byte = chunk[at] as number;
			if (this.#escaped) {
				this.#escaped = false;
				this.#spelled = -1;
			} else if (byte === quote) {
				this.#inText = false;
				return at;
			} else if (byte === backslash) this.#escaped = true;
			else if (byte < 0x20) throw this.#fault("a text in it is not closed on its line");
			else if (this.#depth === 1)
				this.#spelled = byte === entryKey[this.#spelled] ? this.#spelled + 1 : -1;
		}
		return chunk.length;
	}

	#open(byte: number, chunk: Uint8Array, at: number): void {
		if (byte === openList) {
			if (!this.#piece) throw this.#stray(byte);
			if (this.#depth === 1 && this.#underEntry) {
				this.#keep(chunk, at + 1);
				this.#piece = undefined;
				this.#next = "element or end";
			}
		} else if (!this.#piece) {
			if (this.#next === "comma or end") throw this.#stray(byte);
			if (this.#next) this.#entries++;
			else {
				this.#onePerLine = this.#lineBefore > 0 && this.#line > this.#lineBefore;
				this.#entries = 0;
			}
			this.#piece = this.#next ? this.#entry : this.#rest;
			this.#piece.start(this.#line);
			this.#from = at;
		}
		if (this.#depth === deepest) throw this.#fault(`brackets in it are ${deepest} deep`);
		this.#closers[this.#depth++] = byte + 2;
	}

	#close(byte: number, chunk: Uint8Array, at: number): Piece | undefined {
		if (this.#depth === 0) throw this.#stray(byte);
		if (this.#closers[this.#depth - 1] !== byte)
			throw this.#fault("its brackets do not match", "mend or export the file again");
		this.#depth--;
		if (this.#next && this.#depth === 1) {
			if (this.#next === "element") throw this.#stray(byte);
			this.#next = undefined;
			this.#underEntry = false;
			this.#piece = this.#rest;
			this.#from = at;
			return undefined;
		}
		const kind = this.#next ? "entry" : "rest";
		if (this.#depth > (kind === "entry" ? 2 : 0)) return undefined;
		this.#keep(chunk, at + 1);
		this.#piece = undefined;
		if (kind === "entry") {
			this.#next = "comma or end";
			return { kind, entry: this.#entries, ...this.#entry.take() };
		}
		this.#underEntry = false;
		this.#values++;
		this.#lineBefore = this.#rest.line === this.#line ? this.#line : 0;
		return { kind, entry: this.#entries, ...this.#rest.take() };
	}

	#keep(chunk: Uint8Array, to: number): void {
		if (!this.#piece) return;
		this.#piece.add(chunk.subarray(this.#from, to));
		if (this.#piece.size > this.#limit)
			throw this.#fault(
				`it is longer than ${this.#limit} bytes`,
				"split it into several, or leave it out",
			);
	}

	#where(): string {
		if (this.#depth === 0) return `${this.#file}: line ${this.#line}`;
		return this.#next && this.#entries > 0
			? `${this.#file}: entry ${this.#entries} (line ${this.#entry.line})`
			: `${this.#file}: the JSON that starts on line ${this.#rest.line}`;
	}

	#fault(what: string, remedy = "correct it or export the file again"): InputError {
		return new InputError(`${this.#where()} cannot be read: ${what}; ${remedy}`);
	}

	#stray(byte: number | undefined): InputError {
		if (this.#next)
			return new InputError(
				`${this.#file}: line ${this.#line}: the list "entry" is not well formed ${this.#entries > 0 ? `after entry ${this.#entries}` : "at its start"}; expected objects with commas between them`,
			);
		const start = this.#values === 0;
		const where = `${this.#file}: line ${this.#line}`;
		if (start && byte === 0x3c)
			return new InputError(
				`${this.#file} looks like XML; expected FHIR as JSON: ask for application/fhir+json, or convert it`,
			);
		if (start && (byte === 0xff || byte === 0xfe))
			return new InputError(`${this.#file} is not UTF-8; convert it to UTF-8`);
		const Fault = start && byte === 0x5b ? NotFhirError : InputError;
		return new Fault(
			`${where} is not a JSON object; expected a FHIR Bundle, a resource, or one resource per line`,
		);
	}
}

/** The chunks of an unfinished piece, joined once. */
class PieceBuffer {
	#parts: Uint8Array[] = [];
	size = 0;
	line = 0;

	start(line: number): void {
		this.line = line;
		this.#parts = [];
		this.size = 0;
	}

	add(part: Uint8Array): void {
		this.#parts.push(part);
		this.size += part.length;
	}

	take(): Pick<Piece, "line" | "bytes"> {
		const bytes = new Uint8Array(this.size);
		let at = 0;
		for (const part of this.#parts) {
			bytes.set(part, at);
			at += part.length;
		}
		this.#parts = [];
		return { line: this.line, bytes };
	}
}

export interface ResourceEntry {
	readonly type: string;
	readonly resource: Fields;
	readonly fullUrl: string | undefined;
	/** Where it was read, for messages: `bundle.json: entry 12`. */
	readonly where: string;
}

/** An entry of a Bundle without a resource: a deletion, or a link to another server. */
export const noResource = Symbol("no resource");

const typeForm = /^[A-Z][A-Za-z]{1,63}$/;
const decoder = new TextDecoder("utf-8", { fatal: true });

function parse(piece: Piece, where: string): unknown {
	let text: string;
	try {
		text = decoder.decode(piece.bytes);
	} catch (error) {
		throw new InputError(`${where} is not UTF-8; convert the file to UTF-8`, { cause: error });
	}
	let parsed: unknown;
	try {
		parsed = JSON.parse(text);
	} catch {
		// The cause is left out because it quotes the record.
		throw new InputError(`${where} is not JSON; correct it or export the file again`);
	}
	refuseRepeatedKey(text, where);
	return parsed;
}

function typeOf(resource: Fields, where: string): string {
	const type = resource.resourceType;
	if (typeof type === "string" && typeForm.test(type)) return type;
	throw new NotFhirError(
		`${where} is not a FHIR resource: its resourceType is ${shapeOf(type)}; expected a Bundle, Patient, Condition or another resource`,
	);
}

/** The resources of an entry, including those of a nested Bundle. */
function* inEntry(
	entry: Fields | undefined,
	where: string,
): Generator<ResourceEntry | typeof noResource> {
	const resource = objectOf(entry?.resource);
	if (resource) yield* unfolded(resource, textOf(entry?.fullUrl), where);
	else yield noResource;
}

function* unfolded(
	resource: Fields,
	fullUrl: string | undefined,
	where: string,
): Generator<ResourceEntry | typeof noResource> {
	const type = typeOf(resource, where);
	if (type !== "Bundle") yield { type, resource, fullUrl, where };
	else
		for (const [at, entry] of listOf(resource.entry).entries())
			yield* inEntry(entry, `${where}, entry ${at + 1}`);
}

/**
 * Finds the resources in the bytes of a file: a Bundle, one resource per line, or a single resource.
 * A Bundle is recognised by its content and never held as a whole.
 */
export class ResourceParser {
	readonly #file: string;
	readonly #splitter: JsonSplitter;
	#withResource = 0;
	#withoutResource = 0;

	constructor(file: string) {
		this.#file = file;
		this.#splitter = new JsonSplitter(file);
	}

	*push(chunk: Uint8Array): Generator<ResourceEntry | typeof noResource> {
		for (const piece of this.#splitter.push(chunk)) {
			if (piece.kind === "entry") {
				const where = `${this.#file}: entry ${piece.entry}`;
				const entry = objectOf(parse(piece, `${where} (line ${piece.line})`));
				if (objectOf(entry?.resource)) {
					this.#withResource++;
					yield* inEntry(entry, where);
				} else this.#withoutResource++;
				continue;
			}
			const where = `${this.#file}: line ${piece.line}`;
			const rest = objectOf(parse(piece, where)) ?? {};
			const type = typeOf(rest, where);
			if (type === "Bundle")
				for (; this.#withoutResource > 0; this.#withoutResource--) yield noResource;
			else if (this.#withResource > 0)
				throw new InputError(
					`${where} has resources in entries, but its resourceType is ${type}; expected a Bundle`,
				);
			yield* unfolded(rest, undefined, where);
			this.#withResource = 0;
			this.#withoutResource = 0; // the entries of a List refer to resources
		}
	}

	/** Call after the last chunk. */
	end(): void {
		this.#splitter.end();
		if (this.#splitter.values === 0)
			throw new NotFhirError(
				`${this.#file} is empty; expected a FHIR Bundle, a resource, or one resource per line`,
			);
	}
}
