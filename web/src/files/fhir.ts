import { InputError } from "../../../src/base/errors.js";
import { knownPeople } from "../../../src/data/cohort/reading/people.js";
import { readFhirInMemory } from "../../../src/data/records/fhir/read-in-memory.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import { type BadRow, badRows, type FileContent } from "./records.js";

/** `the file: entry 12: onsetDateTime is "x"; expected …` in parts. */
function badResource(message: string): BadRow {
	const [, where, column, got, expected] =
		/^the file: ([^:]+): (\S+) is (.+?); expected (.+)$/s.exec(message) ?? [];
	return where && column && got && expected
		? { where, column, got, expected }
		: { where: "a resource", column: "it", got: `refused: ${message}`, expected: "" };
}

/** Reads diagnoses and drugs from FHIR R4 by the rules of `trajgpt prepare`, but leniently. */
export function readFhir(bytes: Uint8Array, measurements: boolean): FileContent {
	const bad = badRows();
	const { resources, records, people, skipped, unresolved } = readFhirInMemory(
		"the file",
		bytes,
		{ unusable: "leave out", measurements },
		({ message }) => bad.add(badResource(message)),
	);
	const badResources = bad.end(resources, "resource");
	if (records.length === 0)
		throw new InputError(
			`the file is FHIR (${counted(resources, "resource")}), but holds no Condition with a code and a time; export the patient's conditions too`,
		);
	const leftOut: (readonly [count: number, one: string, many: string])[] = [
		[unresolved.olderVersions, "older version of a resource", "older versions of resources"],
		[
			skipped.invalid.total,
			"resource entered in error or refuted",
			"resources entered in error, refuted or not taken",
		],
		[
			skipped.uncoded.total + unresolved.drugsWithoutCode,
			"record without a code of a known system",
			"records without a code of a known system",
		],
		[
			unresolved.diagnosesWithoutTime +
				unresolved.drugsWithoutTime +
				unresolved.measurementsWithoutTime,
			"record without a time",
			"records without a time",
		],
		[
			skipped.aboutOthers.total,
			"record that is about no patient",
			"records that are about no patient",
		],
		[skipped.otherTypes.total, "resource of another type", "resources of other types"],
	];
	return {
		format: "FHIR",
		axis: "dates",
		bad: badResources,
		dates: null,
		first: [],
		records: records.map(({ time, ...record }) => ({ ...record, day: time })),
		known: knownPeople(people),
		notes: leftOut.flatMap(([count, one, many]) =>
			count > 0 ? [`${counted(count, one, many)}: left out`] : [],
		),
	};
}
