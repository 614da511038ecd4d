import { refuseBinary } from "./read-file.js";
import { textOf } from "./text-of.js";

/** How much of a file is enough to see its first lines. */
const headBytes = 64 * 1024;
/** Shorter content of a packed file comes in one chunk. */
const leastChunk = 16 * 1024;

/** The text at the beginning of a file, up to the end of a line. */
export async function headOf(file: Blob): Promise<string> {
	const bytes = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
	if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return textOfHead(bytes, file.size > headBytes);
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
	const { value } = await stream
		.getReader()
		.read()
		.catch(() => ({ value: undefined }));
	return value ? textOfHead(value, value.length >= leastChunk) : "";
}

/** A character that is cut off would make the text look like another encoding, so the last line is left out. */
function textOfHead(bytes: Uint8Array, isCut: boolean): string {
	refuseBinary(bytes);
	const isUtf16 = (bytes[0] ?? 0) + (bytes[1] ?? 0) === 0x1fd;
	const end = isUtf16 || !isCut ? 0 : bytes.lastIndexOf(0x0a) + 1;
	return textOf(end > 0 ? bytes.subarray(0, end) : bytes).text;
}
