import { counted, notesFor } from "../bad-rows.js";
import type { Unresolved } from "./staged-rows.js";

const mostNames = 200;

/** Counts per name, for a limited number of names. */
class Tally {
	readonly #counts = new Map<string, number>();

	add(name: string): void {
		const known = this.#counts.has(name) || this.#counts.size < mostNames ? name : "others";
		this.#counts.set(known, (this.#counts.get(known) ?? 0) + 1);
	}

	get total(): number {
		return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
	}

	/** `421 Observation, 30 Claim`: the most frequent first, then by name. */
	toString(): string {
		return [...this.#counts]
			.sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
			.map(([name, count]) => `${count} ${name}`)
			.join(", ");
	}
}

/** The resources that did not become records, counted by reason. */
export class SkippedResources {
	/** Entered in error, refuted, cancelled, not taken. */
	readonly invalid = new Tally();
	readonly uncoded = new Tally();
	readonly aboutOthers = new Tally();
	readonly otherTypes = new Tally();
	readonly unknownSystems = new Tally();
	severalCodings = 0;
	deathsWithoutDate = 0;
}

export interface FilesRead {
	/** Files of a folder that are not FHIR. */
	readonly otherFiles: readonly string[];
	readonly entriesWithoutResource: number;
}

/** Describes what was left out or chosen while reading. */
export function notesOf(
	skipped: SkippedResources,
	files: FilesRead,
	unresolved: Unresolved,
): string[] {
	const { diagnosesWithoutTime, drugsWithoutTime, measurementsWithoutTime, drugsWithoutCode } =
		unresolved;
	return notesFor([
		[skipped.otherTypes.total, `resources of other types were skipped: ${skipped.otherTypes}`],
		[
			unresolved.olderVersions,
			`${counted(unresolved.olderVersions, "resource")} came again later, under the same type and id: the last one read was kept`,
		],
		[
			skipped.invalid.total,
			`left out as entered in error, refuted, cancelled, not taken or not to be given: ${skipped.invalid}`,
		],
		[
			diagnosesWithoutTime + drugsWithoutTime + measurementsWithoutTime,
			`left out for want of a time: ${counted(diagnosesWithoutTime, "diagnosis", "diagnoses")}, ${counted(drugsWithoutTime, "drug")}${measurementsWithoutTime > 0 ? `, ${counted(measurementsWithoutTime, "measurement")}` : ""}`,
		],
		[skipped.uncoded.total, `left out for want of a code with a system: ${skipped.uncoded}`],
		[
			drugsWithoutCode,
			`left out: ${counted(drugsWithoutCode, "drug")} whose Medication is in no file or has no code with a system`,
		],
		[skipped.aboutOthers.total, `left out as not about a patient: ${skipped.aboutOthers}`],
		[
			skipped.severalCodings,
			`${counted(skipped.severalCodings, "resource")} had codings in several systems: one was kept (ICD-10-CM before ICD-9-CM and SNOMED, RxNorm before ATC and NDC); --all-codings keeps all`,
		],
		[
			skipped.unknownSystems.total,
			`codings of unknown systems were left out beside known ones: ${skipped.unknownSystems}; --allow-system keeps one`,
		],
		[
			unresolved.patientsUnknown,
			`${counted(unresolved.patientsUnknown, "patient")} with records but without a Patient resource: birth and sex are unknown`,
		],
		[
			skipped.deathsWithoutDate,
			`${counted(skipped.deathsWithoutDate, "patient")} died on a day that is not given`,
		],
		[
			files.entriesWithoutResource,
			`${counted(files.entriesWithoutResource, "entry without a resource was", "entries without a resource were")} skipped`,
		],
		[
			files.otherFiles.length,
			`${counted(files.otherFiles.length, "file of the folder is", "files of the folder are")} no FHIR and skipped; the first is ${files.otherFiles[0]}`,
		],
	]);
}
