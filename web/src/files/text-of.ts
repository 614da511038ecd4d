import { InputError } from "../../../src/base/errors.js";

const fatal = (encoding: string, bytes: Uint8Array): string =>
	new TextDecoder(encoding, { fatal: true }).decode(bytes);

/** The text of a file, with a note if it is not in UTF-8. */
export function textOf(bytes: Uint8Array): { readonly text: string; readonly notes: string[] } {
	const [first, second] = bytes;
	if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff))
		try {
			const text = fatal(first === 0xff ? "utf-16le" : "utf-16be", bytes);
			return { text, notes: ["the file is in UTF-16, as Excel writes Unicode text"] };
		} catch (cause) {
			throw new InputError("the file is damaged UTF-16; save it as CSV (UTF-8)", { cause });
		}
	try {
		return { text: fatal("utf-8", bytes), notes: [] };
	} catch {
		const note =
			"the file is not in UTF-8: read as Windows-1252 (Latin-1); if names look wrong, save it as CSV (UTF-8)";
		return { text: new TextDecoder("windows-1252").decode(bytes), notes: [note] };
	}
}
