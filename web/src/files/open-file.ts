import { InputError } from "../../../src/base/errors.js";
import type { FileRules } from "./file-rules.js";
import { checkSize, readContent } from "./read-file.js";
import { type FilePatients, toPatients } from "./to-patients.js";

const knowsMeasurements = ({ tokens }: FileRules["vocabulary"]) =>
	tokens.some(({ system, value }) => value !== undefined || system === "LOINC");

/** Reads the patients of a file. Any error becomes an `InputError`. */
export async function openFile(
	file: Pick<Blob, "size" | "arrayBuffer">,
	{ vocabulary, rules }: FileRules,
): Promise<FilePatients> {
	checkSize(file.size);
	const bytes = await file.arrayBuffer().catch((cause: unknown) => {
		throw new InputError(
			"the file could not be read from the disk; see whether it is still there and may be opened",
			{ cause },
		);
	});
	try {
		const content = await readContent(new Uint8Array(bytes), knowsMeasurements(vocabulary));
		return toPatients(content, vocabulary, rules);
	} catch (error) {
		if (error instanceof InputError) throw error;
		const name = error instanceof Error ? error.name : "unknown";
		throw new InputError(
			`the file holds something that the page cannot deal with (${name}); export it again, or try it as CSV with the columns patient, time and code`,
			{ cause: error },
		);
	}
}
