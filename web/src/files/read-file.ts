import { InputError } from "../../../src/base/errors.js";
import { readCsv } from "./csv.js";
import { readFhir } from "./fhir-bundle.js";
import type { FileContent } from "./records.js";

/** Far more than a few patients have; a page holds all of it at once. */
const mostBytes = 64 * 2 ** 20;

const signatures: readonly (readonly [bytes: readonly number[], what: string])[] = [
	[[0x50, 0x4b, 0x03, 0x04], "a ZIP archive or an Excel workbook; unpack it, or save it as CSV"],
	[[0x25, 0x50, 0x44, 0x46], "a PDF; export the records as CSV or FHIR JSON"],
	[
		[0x50, 0x41, 0x52, 0x31],
		"a Parquet file; the page reads CSV and FHIR JSON, `trajgpt prepare` reads Parquet too",
	],
	[[0x89, 0x50, 0x4e, 0x47], "a picture; choose a file of records"],
	[[0xff, 0xd8, 0xff], "a picture; choose a file of records"],
];

async function unpacked(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
	try {
		const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
		return new Uint8Array(await new Response(stream).arrayBuffer());
	} catch (cause) {
		throw new InputError("the file is gzip, but damaged or cut short; copy it again", { cause });
	}
}

/** What a dropped file holds. What it is shows in its content, whatever its name says. */
export async function readContent(given: Uint8Array<ArrayBuffer>): Promise<FileContent> {
	if (given.length === 0)
		throw new InputError("the file is empty; expected a CSV table or a FHIR R4 Bundle");
	if (given.length > mostBytes)
		throw new InputError(
			`the file has ${Math.round(given.length / 2 ** 20)} MB; the page reads up to ${mostBytes / 2 ** 20} MB: leave only the patients you want to look at`,
		);
	const bytes = given[0] === 0x1f && given[1] === 0x8b ? await unpacked(given) : given;
	const binary = signatures.find(([start]) => start.every((byte, at) => bytes[at] === byte));
	if (binary) throw new InputError(`the file is ${binary[1]}`);
	let text: string;
	try {
		text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch (cause) {
		throw new InputError("the file is not text in UTF-8; save it as CSV (UTF-8) or FHIR JSON", {
			cause,
		});
	}
	if (text.includes("\u0000"))
		throw new InputError("the file is not text; expected a CSV table or a FHIR R4 Bundle");
	const start = text.trimStart()[0];
	if (start === "<")
		throw new InputError("the file is XML or HTML; export FHIR as JSON (application/fhir+json)");
	return start === "{" || start === "[" ? readFhir(text) : readCsv(text);
}
