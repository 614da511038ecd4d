import { InputError } from "../../../base/errors.js";
import type { Moment } from "../dates.js";
import type { FhirOptions } from "../options.js";
import type { RecordKind } from "../rows.js";
import { knownSystems } from "../systems.js";
import { sexOf } from "../words.js";
import {
	addressIn,
	ageIn,
	type Coding,
	chooseCodings,
	type Fields,
	keysOf,
	listOf,
	momentIn,
	objectOf,
	parseReference,
	type Reference,
	referenceIn,
	shapeOf,
	textOf,
} from "./data-types.js";
import { noResource, type ResourceEntry, ResourceParser } from "./resource-parser.js";
import { resolveInMemory, type StagedRow, StagedRows, type StagedTable } from "./staged-rows.js";

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
const nothingSkipped = () => ({
	/** Entered in error, refuted, cancelled, not taken. */
	invalid: new Tally(),
	uncoded: new Tally(),
	aboutOthers: new Tally(),
	otherTypes: new Tally(),
	unknownSystems: new Tally(),
	severalCodings: 0,
	deathsWithoutDate: 0,
});
export type SkippedResources = Readonly<ReturnType<typeof nothingSkipped>>;

const longestSystem = 200;

const refusal = (where: string, type: string, system: string): string =>
	`${where}: the code of a ${type} is of system ${shapeOf(system, longestSystem)}, which is not known; known are ${knownSystems.join(", ")}; to keep its codes under this name, pass \`allowSystems\` ${shapeOf(system, longestSystem)}`;

const invalidStatuses: Readonly<Record<string, readonly string[]>> = {
	Encounter: ["entered-in-error", "cancelled"],
	MedicationRequest: ["entered-in-error", "cancelled"],
	MedicationStatement: ["entered-in-error", "not-taken"],
	Observation: ["entered-in-error", "cancelled"],
};

const invalidVerifications = ["entered-in-error", "refuted"];

/** Whether the status of a resource says that it does not apply: entered in error, refuted, cancelled, not taken. */
function isInvalid({ type, resource }: ResourceEntry): boolean {
	if (type === "Condition")
		return listOf(objectOf(resource.verificationStatus)?.coding).some(({ code }) =>
			invalidVerifications.includes(textOf(code) ?? ""),
		);
	if (type === "MedicationRequest" && resource.doNotPerform === true) return true;
	return invalidStatuses[type]?.includes(textOf(resource.status) ?? "") ?? false;
}

/** The code is in a Medication. */
const uncoded = { code: null, system: null, name: null };

const notMeasured = { value: null, unit: null };

/** The number of an Observation, and its unit: the code of UCUM or another system, else its text. */
function measuredIn(fields: Fields): Pick<StagedRow<"fhir_record">, "value" | "unit"> {
	const { value, code, unit } = objectOf(fields.valueQuantity) ?? {};
	if (typeof value === "number") return { value, unit: textOf(code) ?? textOf(unit) ?? null };
	return typeof fields.valueInteger === "number"
		? { value: fields.valueInteger, unit: null }
		: notMeasured;
}

/** The time in the first of these fields that has one; that of a period is its start. */
function firstMoment(
	{ resource, where }: ResourceEntry,
	...fields: readonly string[]
): Moment | undefined {
	for (const field of fields) {
		const moment = /period$/i.test(field)
			? momentIn(objectOf(resource[field]), "start", `${where}: ${field}`)
			: momentIn(resource, field, where);
		if (moment) return moment;
	}
	return undefined;
}

/** The time of a record, and where to look for it if the resource has none. */
interface When {
	readonly moment: Moment | undefined;
	readonly age?: number | undefined;
	/** Keys of encounters; the first known one gives the time. */
	readonly else: readonly string[];
}

const keyIn = (reference: unknown): string[] => {
	const key = referenceIn(reference)?.key;
	return key === undefined ? [] : [key];
};

/** `unusable`: whether a record without a subject or with codes of unknown systems only is refused (the default) or left out. */
export interface ReadOptions extends FhirOptions {
	readonly unusable?: "refuse" | "leave out" | undefined;
}

/** Turns resources into staged rows, one resource at a time. */
export function resourceReader(rows: StagedRows, options: ReadOptions) {
	const choose = chooseCodings(options);
	const leavesOut = options.unusable === "leave out";
	const skipped = nothingSkipped();
	/** Adds the rows of the resource that is being read. */
	let added: (() => void)[] = [];
	/** Counts the resources. */
	let version = 0;
	/** Counts the records. */
	let lastRow = 0;

	const add = <Name extends StagedTable>(table: Name, row: StagedRow<Name>): void => {
		added.push(() => rows.add(table, row));
	};

	/** The patient of a resource; undefined if its subject is, for example, a group. */
	function subjectOf({ resource, type, where }: ResourceEntry): Reference | undefined {
		const address = addressIn(resource.subject);
		const reference = address === undefined ? undefined : parseReference(address);
		if (reference) return (reference.type ?? "Patient") === "Patient" ? reference : undefined;
		if (leavesOut) return undefined;
		throw new InputError(
			`${where}: a ${type} does not say whose it is: its subject is ${address === undefined ? "absent or has no reference" : "a contained resource or a search"}; expected a subject such as {"reference": "Patient/12"}`,
		);
	}

	function addRecord(
		entry: ResourceEntry,
		kind: RecordKind,
		when: When,
		medication: string | null,
		codings: readonly (Coding | typeof uncoded)[],
		measured: ReturnType<typeof measuredIn> = notMeasured,
	): void {
		const patient = subjectOf(entry);
		if (patient === undefined) {
			skipped.aboutOthers.add(entry.type);
			return;
		}
		const row = ++lastRow;
		for (const [rank, coding] of codings.entries())
			add("fhir_record", {
				version,
				row,
				rank,
				patient: patient.id,
				alias: patient.type === undefined ? patient.key : null,
				day: when.moment?.day ?? null,
				slack: when.moment?.slack ?? 0,
				age: when.age ?? null,
				kind,
				medication,
				...coding,
				...measured,
			});
		if (!when.moment)
			for (const [rank, key] of when.else.entries()) add("fhir_time_from", { row, rank, key });
	}

	function addCoded(
		entry: ResourceEntry,
		concept: unknown,
		kind: RecordKind,
		when: When,
		measured?: ReturnType<typeof measuredIn>,
	): void {
		const { kept, unknown, passedOver } = choose(concept, kind);
		if (kept.length === 0) {
			if (unknown[0] !== undefined && !leavesOut)
				throw new InputError(refusal(entry.where, entry.type, unknown[0]));
			skipped.uncoded.add(entry.type);
			return;
		}
		for (const system of unknown) skipped.unknownSystems.add(shapeOf(system, longestSystem));
		if (passedOver > 0) skipped.severalCodings++;
		addRecord(entry, kind, when, null, kept, measured);
	}

	function addDrug(entry: ResourceEntry, when: When): void {
		const { resource } = entry;
		const address = addressIn(resource.medicationReference);
		const medication = address === undefined ? undefined : parseReference(address)?.key;
		if (medication !== undefined) addRecord(entry, "drug", when, medication, [uncoded]);
		else if (address?.startsWith("#")) {
			const id = address.slice(1);
			const contained = listOf(resource.contained).find((one) => textOf(one.id) === id);
			addCoded(entry, contained?.code, "drug", when);
		} else addCoded(entry, resource.medicationCodeableConcept, "drug", when);
	}

	const readers: Readonly<Record<string, (entry: ResourceEntry) => void>> = {
		Patient({ resource, fullUrl, where }) {
			const url = fullUrl === undefined ? undefined : parseReference(fullUrl);
			const patient = textOf(resource.id) ?? url?.id;
			if (patient === undefined)
				throw new InputError(
					`${where}: a Patient has no id; expected "id", or "fullUrl" next to it`,
				);
			if (url && url.id !== patient) add("fhir_alias", { key: url.key, patient });
			const death = momentIn(resource, "deceasedDateTime", where);
			const sex = sexOf(resource.gender);
			if (sex === undefined)
				throw new InputError(
					`${where}: gender is ${shapeOf(resource.gender)}; expected female, male, other or unknown`,
				);
			if (!death && resource.deceasedBoolean === true) skipped.deathsWithoutDate++;
			add("fhir_person", {
				version,
				patient,
				birth: momentIn(resource, "birthDate", where)?.day ?? null,
				sex,
				// The last day of the month or year, because records may follow its first day.
				death: death ? death.day + (death.slack >= 28 ? death.slack - 1 : 0) : null,
				place: where,
			});
		},
		Encounter(entry) {
			const { resource, fullUrl } = entry;
			const start = firstMoment(entry, "period");
			if (start) {
				const conditions = listOf(resource.diagnosis).flatMap(({ condition }) => keyIn(condition));
				for (const key of [...keysOf("Encounter", textOf(resource.id), fullUrl), ...conditions])
					add("fhir_encounter_time", { version, key, ...start });
			}
			if (options.encounterReasons)
				for (const reason of listOf(resource.reasonCode))
					addCoded(entry, reason, "diagnosis", { moment: start, else: [] });
		},
		Condition(entry) {
			const { resource, fullUrl, where } = entry;
			const onset = firstMoment(entry, "onsetDateTime", "onsetPeriod");
			addCoded(entry, resource.code, "diagnosis", {
				moment: onset ?? firstMoment(entry, "recordedDate"),
				age: onset ? undefined : ageIn(resource, "onsetAge", where),
				else: [...keyIn(resource.encounter), ...keysOf("Condition", textOf(resource.id), fullUrl)],
			});
		},
		MedicationRequest: (entry) =>
			addDrug(entry, {
				moment: firstMoment(entry, "authoredOn"),
				else: keyIn(entry.resource.encounter),
			}),
		MedicationStatement: (entry) =>
			addDrug(entry, {
				moment: firstMoment(entry, "effectiveDateTime", "effectivePeriod", "dateAsserted"),
				else: keyIn(entry.resource.context),
			}),
		Medication({ resource, fullUrl, where, type }) {
			const { kept, unknown, passedOver } = choose(resource.code, "drug");
			if (passedOver > 0) skipped.severalCodings++;
			// An error only if a record refers to it.
			const refused =
				unknown[0] === undefined || leavesOut ? null : refusal(where, type, unknown[0]);
			const codings =
				kept.length > 0
					? kept.map((coding) => ({ ...coding, refused: null }))
					: [{ ...uncoded, refused }];
			for (const key of keysOf(type, textOf(resource.id), fullUrl))
				for (const [rank, coding] of codings.entries())
					add("fhir_medication", { key, version, rank, ...coding });
		},
		Observation(entry) {
			const { resource } = entry;
			const times = ["effectiveDateTime", "effectivePeriod", "effectiveInstant", "issued"];
			const when = { moment: firstMoment(entry, ...times), else: keyIn(resource.encounter) };
			const components = listOf(resource.component);
			for (const part of components.length > 0 ? components : [resource])
				addCoded(entry, part.code, "laboratory", when, measuredIn(part));
		},
	};

	return {
		skipped: skipped as SkippedResources,
		/** Adds the rows of a resource, or none if it cannot be read. */
		read(entry: ResourceEntry): void {
			const read = readers[entry.type];
			if (!read || (entry.type === "Observation" && !options.measurements)) {
				skipped.otherTypes.add(entry.type);
				return;
			}
			version++;
			added = [];
			const [key] = keysOf(entry.type, textOf(entry.resource.id), entry.fullUrl);
			if (key) add("fhir_version", { key, version });
			if (isInvalid(entry)) skipped.invalid.add(entry.type);
			else read(entry);
			for (const addRow of added) addRow();
		},
	};
}

/**
 * Reads FHIR that fits in memory, for one file in the browser; `openFhir` reads any amount. With `onBad`, resources
 * that cannot be read are left out.
 */
export function readFhirInMemory(
	file: string,
	bytes: Uint8Array,
	options: ReadOptions = {},
	onBad?: (error: InputError) => void,
) {
	const rows = new StagedRows();
	const reader = resourceReader(rows, options);
	const parser = new ResourceParser(file);
	let resources = 0;
	for (const entry of parser.push(bytes)) {
		if (entry === noResource) continue;
		resources++;
		try {
			reader.read(entry);
		} catch (error) {
			if (!(onBad && error instanceof InputError)) throw error;
			onBad(error);
		}
	}
	parser.end();
	return { ...resolveInMemory(rows), resources, skipped: reader.skipped };
}
