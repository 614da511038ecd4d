import type { Missing } from "./join.js";
import type { LeftOut } from "./left-out.js";

export interface FilesRead {
	/** Files of a folder that are no FHIR. */
	readonly otherFiles: readonly string[];
	readonly entriesWithoutResource: number;
}

const count = (number: number, one: string, many = `${one}s`): string =>
	`${number} ${number === 1 ? one : many}`;

/** What the reader has to tell, in words. */
export function notesOf(left: LeftOut, files: FilesRead, missing: Missing): string[] {
	const notes: string[] = [];
	const note = (number: number, text: () => string) => {
		if (number > 0) notes.push(text());
	};
	note(left.otherTypes.total, () => `resources of other types were skipped: ${left.otherTypes}`);
	note(
		missing.olderVersions,
		() =>
			`${count(missing.olderVersions, "resource")} came again later, under the same type and id: the last one read was kept`,
	);
	note(
		left.void.total,
		() =>
			`left out as entered in error, refuted, cancelled, not taken or not to be given: ${left.void}`,
	);
	note(
		missing.diagnosesWithoutTime + missing.drugsWithoutTime,
		() =>
			`left out for want of a time: ${count(missing.diagnosesWithoutTime, "diagnosis", "diagnoses")}, ${count(missing.drugsWithoutTime, "drug")}`,
	);
	note(left.uncoded.total, () => `left out for want of a code with a system: ${left.uncoded}`);
	note(
		missing.drugsWithoutCode,
		() =>
			`left out: ${count(missing.drugsWithoutCode, "drug")} whose Medication is in no file or has no code with a system`,
	);
	note(left.aboutOthers.total, () => `left out as not about a patient: ${left.aboutOthers}`);
	note(
		left.severalCodings,
		() =>
			`${count(left.severalCodings, "resource")} had codings in several systems: one was kept (ICD-10-CM before ICD-9-CM and SNOMED, RxNorm before ATC and NDC); --all-codings keeps all`,
	);
	note(
		left.unknownSystems.total,
		() =>
			`codings of unknown systems were left out beside known ones: ${left.unknownSystems}; --allow-system keeps one`,
	);
	note(
		missing.patientsUnknown,
		() =>
			`${count(missing.patientsUnknown, "patient")} with records but without a Patient resource: birth and sex are unknown`,
	);
	note(
		left.deathsWithoutDate,
		() => `${count(left.deathsWithoutDate, "patient")} died on a day that is not given`,
	);
	note(
		files.entriesWithoutResource,
		() =>
			`${count(files.entriesWithoutResource, "entry without a resource was", "entries without a resource were")} skipped`,
	);
	note(files.otherFiles.length, () => {
		const [first] = files.otherFiles;
		return `${count(files.otherFiles.length, "file of the folder is", "files of the folder are")} no FHIR and skipped; the first is ${first}`;
	});
	return notes;
}
