/** Pieces are at least so long, but for the last. */
const pieceBytes = 16 * 1024;

/** Thrown where an answer is longer than it may be. */
export class TooLong extends Error {
	override readonly name = "TooLong";
}

/**
 * An object as JSON in pieces, so that each can be let go once it is sent and no text is as long as
 * the whole. Lists directly in the object are cut between their elements.
 */
export function jsonPieces(value: object, mostBytes: number): Buffer[] {
	const pieces: Buffer[] = [];
	let [text, bytes] = ["", 0];
	const cut = () => {
		const piece = Buffer.from(text);
		bytes += piece.length;
		if (bytes > mostBytes) throw new TooLong();
		pieces.push(piece);
		text = "";
	};
	const add = (more: string) => {
		text += more;
		if (text.length >= pieceBytes) cut();
	};
	let comma = "{";
	for (const [key, field] of Object.entries(value)) {
		if (field === undefined) continue;
		add(`${comma}${JSON.stringify(key)}:`);
		comma = ",";
		if (!Array.isArray(field)) {
			add(JSON.stringify(field));
			continue;
		}
		add("[");
		for (const [i, element] of field.entries())
			add(`${i > 0 ? "," : ""}${JSON.stringify(element) ?? "null"}`);
		add("]");
	}
	add(comma === "{" ? "{}" : "}");
	cut();
	return pieces;
}
