import { InputError } from "../../../base/errors.js";
import { refuseRepeatedKey } from "../../../base/repeated-key.js";
import { type Fields, listOf, objectOf, shapeOf, textOf } from "./json-fields.js";
import { JsonSplitter, NotFhirError, type Piece } from "./json-splitter.js";

export interface FoundResource {
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
): Generator<FoundResource | typeof noResource> {
	const resource = objectOf(entry?.resource);
	if (resource) yield* unfolded(resource, textOf(entry?.fullUrl), where);
	else yield noResource;
}

function* unfolded(
	resource: Fields,
	fullUrl: string | undefined,
	where: string,
): Generator<FoundResource | typeof noResource> {
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

	*push(chunk: Uint8Array): Generator<FoundResource | typeof noResource> {
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
