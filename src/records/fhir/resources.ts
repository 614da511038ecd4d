import { InputError } from "../../base/errors.js";
import { explainBytes, readBytes } from "../bytes.js";
import { type Fields, listOf, objectOf, shapeOf, textOf } from "./fields.js";
import { NotFhirError } from "./not-fhir.js";
import { type Piece, Splitter } from "./splitter.js";

export interface FoundResource {
	readonly type: string;
	readonly resource: Fields;
	readonly fullUrl: string | undefined;
	/** Where it was read, for messages: `bundle.json: entry 12`. */
	readonly where: string;
}

/** An entry of a Bundle that holds no resource: a deletion, or a link to another server. */
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
	try {
		return JSON.parse(text);
	} catch {
		// without the cause, which quotes the record
		throw new InputError(`${where} is not JSON; mend it or export the file again`);
	}
}

function typeOf(resource: Fields, where: string): string {
	const type = resource.resourceType;
	if (typeof type === "string" && typeForm.test(type)) return type;
	throw new NotFhirError(
		`${where} is not a FHIR resource: its resourceType is ${shapeOf(type)}; expected a Bundle, Patient, Condition or another resource`,
	);
}

/** The resources in an entry, of a Bundle inside it too. */
function* inEntry(
	entry: Fields | undefined,
	where: string,
): Generator<FoundResource | typeof noResource> {
	const resource = objectOf(entry?.resource);
	if (!resource) {
		yield noResource;
		return;
	}
	yield* unfolded(resource, textOf(entry?.fullUrl), where);
}

function* unfolded(
	resource: Fields,
	fullUrl: string | undefined,
	where: string,
): Generator<FoundResource | typeof noResource> {
	const type = typeOf(resource, where);
	if (type !== "Bundle") yield { type, resource, fullUrl, where };
	else
		for (const [at, entry] of entriesOf(resource).entries())
			yield* inEntry(entry, `${where}, entry ${at + 1}`);
}

const entriesOf = ({ entry }: Fields): Fields[] => (entry === undefined ? [] : listOf(entry));

/**
 * The resources of a file, one after the other: of a Bundle, of one resource a line, or of a single
 * resource. A Bundle is known by its content, and never held as a whole.
 */
export async function* readResources(
	file: string,
	limit?: number,
): AsyncGenerator<FoundResource | typeof noResource> {
	const splitter = new Splitter(file, limit);
	let withResource = 0;
	let without = 0;
	try {
		for await (const chunk of readBytes(file))
			for (const piece of splitter.push(chunk)) {
				if (piece.kind === "entry") {
					const where = `${file}: entry ${piece.entry}`;
					const entry = objectOf(parse(piece, `${where} (line ${piece.line})`));
					if (objectOf(entry?.resource)) {
						withResource++;
						yield* inEntry(entry, where);
					} else without++;
					continue;
				}
				const where = `${file}: line ${piece.line}`;
				const rest = objectOf(parse(piece, where)) ?? {};
				const type = typeOf(rest, where);
				if (type === "Bundle") for (; without > 0; without--) yield noResource;
				else if (withResource > 0)
					throw new InputError(
						`${where} has resources in entries, but its resourceType is ${type}; expected a Bundle`,
					);
				yield* unfolded(rest, undefined, where);
				withResource = 0;
				without = 0; // those of a List, which refer to resources
			}
		splitter.end();
	} catch (error) {
		throw explainBytes(file, error);
	}
	if (splitter.values === 0)
		throw new NotFhirError(
			`${file} is empty; expected a FHIR Bundle, a resource, or one resource a line`,
		);
}
