import { rm } from "node:fs/promises";
import { join, parse } from "node:path";
import { writeColumns } from "./column-file.js";

/** Patients by number, for schemas that want numbers. */
export interface SubjectNumbers {
	readonly of: ReadonlyMap<string, bigint>;
	/** Whether the numbers are new; otherwise they are the ids. */
	readonly areNew: boolean;
}

/** The ids as 64-bit numbers if they are such numbers, and no two the same; otherwise numbers from 1, in their order. */
export function numberSubjects(patients: Iterable<string>): SubjectNumbers {
	const ids = [...new Set(patients)];
	const own = ids.flatMap((id) => {
		const number = /^-?\d{1,19}$/.test(id) ? BigInt(id) : undefined;
		return number !== undefined && BigInt.asIntN(64, number) === number ? [number] : [];
	});
	const areNew = new Set(own).size < ids.length;
	if (areNew) ids.sort();
	return {
		of: new Map(ids.map((id, at) => [id, areNew ? BigInt(at + 1) : (own[at] as bigint)])),
		areNew,
	};
}

/** The file of new numbers beside a file of predictions. */
export function subjectsFile(file: string): string {
	const { dir, name } = parse(file);
	return join(dir, `${name}.subjects.csv`);
}

/** What to tell the user about a file of new numbers. */
export const numberedText = (file: string): string =>
	`ids of patients are not 64-bit whole numbers, which the schema needs: they are numbered, and ${file} has the id of each number`;

/** Writes the ids with their numbers, if those are new; removes an earlier file if not. */
export async function writeSubjects(file: string, { of, areNew }: SubjectNumbers): Promise<void> {
	if (!areNew) return rm(file, { force: true });
	await writeColumns(file, [
		{ name: "id", type: "text", values: [...of.keys()] },
		{ name: "subject_id", type: "id", values: [...of.values()] },
	]);
}
