import { stat } from "node:fs/promises";
import { firstBytes, readBytes } from "./bytes.js";

/** What a file holds, as far as its beginning tells. */
export type FileKind = "parquet" | "fhir" | "events" | "json" | "text table";

/** How much of a file is looked at. */
const beginning = 1 << 16;

/** The kind of a file, gzipped or not; undefined if the file cannot be read or its kind is unknown. */
export async function fileKind(file: string): Promise<FileKind | undefined> {
	try {
		if (!(await stat(file)).isFile()) return undefined;
		if ((await firstBytes(file, 4)).toString("latin1") === "PAR1") return "parquet";
		return textKind(await textAt(file));
	} catch {
		return undefined; // whoever reads it says why
	}
}

async function textAt(file: string): Promise<string> {
	for await (const bytes of readBytes(file))
		return new TextDecoder().decode(bytes.subarray(0, beginning));
	return "";
}

function textKind(text: string): FileKind | undefined {
	const content = text.trimStart();
	if (/^(\{\s*("|\}|$)|\[\s*(\{|\[|"|-?\d|\]))/.test(content)) {
		if (/"resourceType"\s*:/.test(content)) return "fhir";
		return /"types"\s*:\s*\[/.test(content) && /"times"\s*:/.test(content) ? "events" : "json";
	}
	const [first = ""] = content.split("\n");
	return /[,;\t|]/.test(first) && !/[\0<]/.test(first) ? "text table" : undefined;
}
