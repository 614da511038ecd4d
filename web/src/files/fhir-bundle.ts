import { InputError } from "../../../src/base/errors.js";
import { knownPeople } from "../../../src/cohort/reading/people.js";
import { ageIn } from "../../../src/records/fhir/ages.js";
import { chooseCodings } from "../../../src/records/fhir/codings.js";
import { type Moment, momentIn } from "../../../src/records/fhir/dates.js";
import {
	type Fields,
	listOf,
	objectOf,
	shapeOf,
	textOf,
} from "../../../src/records/fhir/fields.js";
import {
	addressIn,
	keysOf,
	parseReference,
	referenceIn,
} from "../../../src/records/fhir/references.js";
import { isVoid } from "../../../src/records/fhir/void.js";
import type { PersonRow, Sex } from "../../../src/records/rows.js";
import { sexes } from "../../../src/records/sexes.js";
import { counted, type FileContent, type FileRecord } from "./records.js";

type Person = Omit<PersonRow, "split">;

interface Resource {
	readonly type: string;
	readonly resource: Fields;
	readonly fullUrl: string | undefined;
	readonly where: string;
}

const expected = "expected a FHIR R4 Bundle, a resource, or one resource a line";

/** A Bundle of a search in a Bundle of a batch is as deep as they come. */
const mostDeep = 8;

/** The resources of a Bundle, those of Bundles inside it too, or the one that stands alone. */
function* unfolded(
	value: unknown,
	fullUrl: string | undefined,
	where: string,
	depth = 0,
): Generator<Resource> {
	if (depth > mostDeep)
		throw new InputError(
			`the file has Bundles inside of Bundles, more than ${mostDeep} deep; export the patient's resources in one`,
		);
	const resource = objectOf(value);
	const type = textOf(resource?.resourceType);
	if (!resource || !type)
		throw new InputError(
			`${where} is JSON, but no FHIR: its resourceType is ${shapeOf(resource?.resourceType)}; ${expected}`,
		);
	if (type !== "Bundle") yield { type, resource, fullUrl, where };
	else
		for (const [at, entry] of listOf(resource.entry ?? []).entries())
			if (entry.resource !== undefined)
				yield* unfolded(
					entry.resource,
					textOf(entry.fullUrl),
					`${where}, entry ${at + 1}`,
					depth + 1,
				);
}

/** One JSON document, or one a line. */
function documentsOf(text: string): { readonly value: unknown; readonly where: string }[] {
	try {
		return [{ value: JSON.parse(text), where: "the file" }];
	} catch {
		// Without the cause, which quotes the record.
		const lines = text.split("\n").filter((line) => line.trim() !== "");
		if (lines.length < 2)
			throw new InputError(`the file is not whole JSON; ${expected}: export it again`);
		return lines.map((line, at) => {
			try {
				return { value: JSON.parse(line) as unknown, where: `line ${at + 1}` };
			} catch {
				throw new InputError(
					`the file is neither one JSON document nor one a line (line ${at + 1} is not JSON); ${expected}`,
				);
			}
		});
	}
}

/** Diagnoses and drugs from FHIR R4, all held in memory: a page reads one patient or a few. */
export function readFhir(text: string): FileContent {
	const all = documentsOf(text).flatMap(({ value, where }) => [
		...unfolded(value, undefined, where),
	]);
	// Of several versions of a resource the last holds, where it stands.
	const latest = new Map<string, Resource>();
	for (const [at, one] of all.entries()) {
		const key = keysOf(one.type, textOf(one.resource.id), one.fullUrl)[0] ?? `#${at}`;
		latest.delete(key);
		latest.set(key, one);
	}
	const resources = [...latest.values()].filter((one) => !isVoid(one));

	const people = new Map<string, Person>();
	const idOf = new Map<string, string>();
	const startOf = new Map<string, Moment>();
	const medications = new Map<string, unknown>();
	for (const one of resources) {
		if (one.type === "Patient") readPatient(one, people, idOf);
		if (one.type === "Encounter") readEncounter(one, startOf);
		if (one.type === "Medication")
			for (const key of keysOf(one.type, textOf(one.resource.id), one.fullUrl))
				medications.set(key, one.resource.code);
	}
	const choose = chooseCodings({});
	const left = { uncoded: 0, untimed: 0, other: 0, elsewhere: 0 };
	const records: FileRecord[] = [];
	for (const one of resources) {
		const { type, resource, where, fullUrl } = one;
		const drug = type === "MedicationRequest" || type === "MedicationStatement";
		if (type !== "Condition" && !drug) {
			if (!["Patient", "Encounter", "Medication"].includes(type)) left.other++;
			continue;
		}
		const subject = referenceIn(resource.subject);
		if (!subject || (subject.type ?? "Patient") !== "Patient") {
			left.elsewhere++;
			continue;
		}
		const other = subject.type === undefined ? idOf.get(subject.key) : undefined;
		const patient = other ?? subject.id;
		const kind = drug ? "drug" : "diagnosis";
		const { kept } = choose(drug ? drugIn(resource, medications) : resource.code, kind);
		if (kept.length === 0) {
			left.uncoded++;
			continue;
		}
		const birth = people.get(patient)?.birth ?? null;
		const day = dayOfRecord(
			resource,
			where,
			birth,
			[
				referenceIn(resource.encounter ?? resource.context)?.key,
				...keysOf(type, textOf(resource.id), fullUrl),
			].flatMap((key) => (key === undefined ? [] : (startOf.get(key) ?? []))),
		);
		if (day === undefined) left.untimed++;
		else for (const { code, system } of kept) records.push({ patient, day, code, system, kind });
	}
	if (records.length === 0)
		throw new InputError(
			`the file is FHIR (${counted(all.length, "resource")}), but holds no Condition with a code and a time; export the patient's conditions too`,
		);
	const notes = [
		[all.length - latest.size, "an older version of a resource", "older versions of resources"],
		[
			latest.size - resources.length,
			"a resource entered in error or refuted",
			"resources entered in error, refuted or not taken",
		],
		[
			left.uncoded,
			"a record without a code of a known system",
			"records without a code of a known system",
		],
		[left.untimed, "a record without a time", "records without a time"],
		[left.elsewhere, "a record that is about no patient", "records that are about no patient"],
		[left.other, "a resource of another type", "resources of other types"],
	].flatMap(([count, one, many]) =>
		(count as number) > 0
			? [
					`${counted(count as number, one as string, many as string).replace(/^1 an? /, "1 ")}: left out`,
				]
			: [],
	);
	return {
		format: "FHIR",
		axis: "dates",
		records,
		known: knownPeople(people.values()),
		notes,
	};
}

/** The code of a drug: in itself, in a Medication beside it, or in one inside of it. */
function drugIn(resource: Fields, medications: ReadonlyMap<string, unknown>): unknown {
	const address = addressIn(resource.medicationReference);
	if (address?.startsWith("#"))
		return listOf(resource.contained).find((one) => textOf(one.id) === address.slice(1))?.code;
	const key = address === undefined ? undefined : parseReference(address)?.key;
	return key === undefined ? resource.medicationCodeableConcept : medications.get(key);
}

function readPatient(
	{ resource, fullUrl, where }: Resource,
	people: Map<string, Person>,
	idOf: Map<string, string>,
): void {
	const url = fullUrl === undefined ? undefined : parseReference(fullUrl);
	const id = textOf(resource.id) ?? url?.id;
	if (id === undefined)
		throw new InputError(`${where}: a Patient has no id; expected "id", or "fullUrl" beside it`);
	if (url) idOf.set(url.key, id);
	const death = momentIn(resource, "deceasedDateTime", where);
	people.set(id, {
		patient: id,
		birth: momentIn(resource, "birthDate", where)?.day ?? null,
		sex: sexOf(resource.gender, where),
		// The last day of the month or year, for records of that month may follow its first.
		death: death ? death.day + (death.slack >= 28 ? death.slack - 1 : 0) : null,
		place: where,
	});
}

function sexOf(value: unknown, where: string): Sex | null {
	if (value === undefined || value === null) return null;
	const sex = typeof value === "string" ? sexes.get(value.trim().toLowerCase()) : undefined;
	if (sex !== undefined) return sex;
	throw new InputError(
		`${where}: gender is ${shapeOf(value)}; expected female, male, other or unknown`,
	);
}

function readEncounter({ resource, fullUrl, where }: Resource, startOf: Map<string, Moment>): void {
	const start = momentIn(objectOf(resource.period), "start", `${where}: period`);
	if (!start) return;
	const conditions = listOf(resource.diagnosis ?? []).map(
		({ condition }) => referenceIn(condition)?.key,
	);
	for (const key of [...keysOf("Encounter", textOf(resource.id), fullUrl), ...conditions])
		if (key !== undefined && !((startOf.get(key)?.day ?? Number.POSITIVE_INFINITY) <= start.day))
			startOf.set(key, start);
}

/** The first of its times; one known only to the month or year is not before a birth that lies in it. */
function dayOfRecord(
	resource: Fields,
	where: string,
	birth: number | null,
	encounters: readonly Moment[],
): number | undefined {
	const onset =
		momentIn(resource, "onsetDateTime", where) ??
		momentIn(objectOf(resource.onsetPeriod), "start", `${where}: onsetPeriod`);
	const age = onset ? undefined : ageIn(resource, "onsetAge", where);
	if (age !== undefined && birth !== null) return birth + age;
	const moment =
		onset ??
		momentIn(resource, "recordedDate", where) ??
		momentIn(resource, "authoredOn", where) ??
		momentIn(resource, "effectiveDateTime", where) ??
		momentIn(objectOf(resource.effectivePeriod), "start", `${where}: effectivePeriod`) ??
		momentIn(resource, "dateAsserted", where) ??
		encounters[0];
	if (!moment) return undefined;
	const { day, slack } = moment;
	return birth !== null && birth > day && birth <= day + slack ? birth : day;
}
