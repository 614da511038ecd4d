import { writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Writes the records of a woman, with further ones, and the file of people; returns the options that read both. */
export async function writeAnn(root: string, ...more: string[]): Promise<string[]> {
	const [records, people] = [join(root, "ann.csv"), join(root, "people.csv")];
	const rows = ["2010-03-01,I10", "2011-07-01,I50.9", "2012-05-06,E119", ...more];
	await writeFile(records, `patient,date,icd10\n${rows.map((row) => `ann,${row}\n`).join("")}`);
	await writeFile(people, "patient,birth,sex\nann,1960-02-03,female\n");
	return ["--input", records, "--people", people];
}
