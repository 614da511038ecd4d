/** The least length of a piece, except for the last of a list or response. */
const pieceBytes = 16 * 1024;

/** A response exceeds its limit. */
export class TooLongError extends Error {
	override readonly name = "TooLongError";
}

/** A list that is already JSON. */
export class JsonList {
	constructor(readonly pieces: readonly Uint8Array[]) {}
}

/**
 * Collects text as bytes. Every piece has its own buffer, so that it can be freed once it is sent, or
 * transferred to another thread.
 */
function collector(mostBytes = Number.POSITIVE_INFINITY) {
	const encoder = new TextEncoder();
	const pieces: Uint8Array[] = [];
	let [text, bytes] = ["", 0];
	const take = (piece: Uint8Array) => {
		bytes += piece.length;
		if (bytes > mostBytes) throw new TooLongError();
		if (piece.length > 0) pieces.push(piece);
	};
	const cut = () => {
		take(encoder.encode(text));
		text = "";
	};
	return {
		add(more: string) {
			text += more;
			if (text.length >= pieceBytes) cut();
		},
		insert(made: readonly Uint8Array[]) {
			cut();
			for (const piece of made) take(piece);
		},
		end() {
			cut();
			return pieces;
		},
	};
}

/** A JSON list in pieces, from elements that are already JSON. */
export function listPieces(elements: Iterable<string>): Uint8Array[] {
	const { add, end } = collector();
	let comma = "[";
	for (const element of elements) {
		add(comma + element);
		comma = ",";
	}
	add(comma === "[" ? "[]" : "]");
	return end();
}

/** A JSON list in pieces, from elements that are pieces of JSON themselves. */
export function joinPieces(elements: readonly (readonly Uint8Array[])[]): Uint8Array[] {
	const { add, insert, end } = collector();
	for (const [i, pieces] of elements.entries()) {
		add(i > 0 ? "," : "[");
		insert(pieces);
	}
	add(elements.length > 0 ? "]" : "[]");
	return end();
}

/**
 * An object as JSON in pieces, so that no string holds the whole. Lists directly in the object are split
 * between their elements.
 */
export function jsonPieces(value: object, mostBytes: number): Uint8Array[] {
	const { add, insert, end } = collector(mostBytes);
	let comma = "{";
	for (const [key, field] of Object.entries(value)) {
		if (field === undefined) continue;
		add(`${comma}${JSON.stringify(key)}:`);
		comma = ",";
		if (field instanceof JsonList) insert(field.pieces);
		else if (!Array.isArray(field)) add(JSON.stringify(field));
		else {
			add("[");
			for (const [i, element] of field.entries())
				add(`${i > 0 ? "," : ""}${JSON.stringify(element) ?? "null"}`);
			add("]");
		}
	}
	add(comma === "{" ? "{}" : "}");
	return end();
}
