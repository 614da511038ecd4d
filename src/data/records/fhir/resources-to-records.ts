import { InputError } from "../../../base/errors.js";
import type { Moment } from "../dates.js";
import type { RecordKind } from "../rows.js";
import { knownSystems } from "../systems.js";
import { sexOf } from "../words.js";
import {
	addressIn,
	ageIn,
	type Coding,
	type CodingOptions,
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
import type { ResourceEntry } from "./resource-parser.js";
import type { StagedRow, StagedRows, StagedTable } from "./staged-rows.js";

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

/** The number of an Observation, and its unit: the code of UCUM or another system, else its text. */
interface Measured {
	readonly value: number | null;
	readonly unit: string | null;
}

const notMeasured: Measured = { value: null, unit: null };

function measuredIn(fields: Fields): Measured {
	const { value, code, unit } = objectOf(fields.valueQuantity) ?? {};
	if (typeof value === "number") return { value, unit: textOf(code) ?? textOf(unit) ?? null };
	return typeof fields.valueInteger === "number"
		? { value: fields.valueInteger, unit: null }
		: notMeasured;
}

/** The time of a record, and where to look for it if the resource has none. */
interface When {
	readonly moment: Moment | undefined;
	readonly age?: number | undefined;
	/** Keys of encounters; the first known one gives the time. */
	readonly else: readonly string[];
}

/**
 * - `allCodings`: all codings of a condition or drug, instead of the one of the best known system.
 * - `allowSystems`: code systems beyond those of `systems.ts`, which pass under their own names.
 * - `encounterReasons`: the reasons of encounters are diagnoses too.
 * - `measurements`: Observations, and their components, become records with values.
 * - `unusable`: whether a record without a subject or with codes of unknown systems only is refused,
 *   which is the default, or left out.
 */
export interface ReadOptions extends CodingOptions {
	readonly encounterReasons?: boolean | undefined;
	readonly measurements?: boolean | undefined;
	readonly unusable?: "refuse" | "leave out" | undefined;
}

/** Turns resources into staged rows, one resource at a time. */
export class ResourceReader {
	readonly skipped = new SkippedResources();
	readonly #rows: StagedRows;
	readonly #choose: ReturnType<typeof chooseCodings>;
	readonly #options: ReadOptions;
	readonly #readers: Readonly<Record<string, (entry: ResourceEntry) => void>> = {
		Patient: (entry) => this.#patient(entry),
		Encounter: (entry) => this.#encounter(entry),
		Condition: (entry) => this.#condition(entry),
		MedicationRequest: (entry) => this.#request(entry),
		MedicationStatement: (entry) => this.#statement(entry),
		Medication: (entry) => this.#medication(entry),
		Observation: (entry) => this.#observation(entry),
	};
	/** Adds the rows of the resource that is being read. */
	#added: (() => void)[] = [];
	/** Counts the resources. */
	#version = 0;
	/** Counts the records. */
	#row = 0;

	constructor(rows: StagedRows, options: ReadOptions) {
		this.#rows = rows;
		this.#choose = chooseCodings(options);
		this.#options = options;
	}

	#add<Name extends StagedTable>(table: Name, row: StagedRow<Name>): void {
		this.#added.push(() => this.#rows.add(table, row));
	}

	/** Adds the rows of a resource, or none if it cannot be read. */
	read(entry: ResourceEntry): void {
		const read = this.#readers[entry.type];
		if (!read || (entry.type === "Observation" && !this.#options.measurements)) {
			this.skipped.otherTypes.add(entry.type);
			return;
		}
		this.#version++;
		this.#added = [];
		const [key] = keysOf(entry.type, textOf(entry.resource.id), entry.fullUrl);
		if (key) this.#add("fhir_version", { key, version: this.#version });
		if (isInvalid(entry)) this.skipped.invalid.add(entry.type);
		else read(entry);
		for (const add of this.#added) add();
	}

	#patient({ resource, fullUrl, where }: ResourceEntry): void {
		const url = fullUrl === undefined ? undefined : parseReference(fullUrl);
		const patient = textOf(resource.id) ?? url?.id;
		if (patient === undefined)
			throw new InputError(`${where}: a Patient has no id; expected "id", or "fullUrl" next to it`);
		if (url && url.id !== patient) this.#add("fhir_alias", { key: url.key, patient });
		const death = momentIn(resource, "deceasedDateTime", where);
		const sex = sexOf(resource.gender);
		if (sex === undefined)
			throw new InputError(
				`${where}: gender is ${shapeOf(resource.gender)}; expected female, male, other or unknown`,
			);
		if (!death && resource.deceasedBoolean === true) this.skipped.deathsWithoutDate++;
		this.#add("fhir_person", {
			version: this.#version,
			patient,
			birth: momentIn(resource, "birthDate", where)?.day ?? null,
			sex,
			// The last day of the month or year, because records may follow its first day.
			death: death ? death.day + (death.slack >= 28 ? death.slack - 1 : 0) : null,
			place: where,
		});
	}

	#encounter(entry: ResourceEntry): void {
		const { resource, fullUrl, where } = entry;
		const start = momentIn(objectOf(resource.period), "start", `${where}: period`);
		if (start) {
			const conditions = listOf(resource.diagnosis).map(({ condition }) => referenceIn(condition));
			const keys = keysOf("Encounter", textOf(resource.id), fullUrl);
			for (const key of [...keys, ...conditions.map((condition) => condition?.key)])
				if (key) this.#add("fhir_encounter_time", { version: this.#version, key, ...start });
		}
		if (this.#options.encounterReasons)
			for (const reason of listOf(resource.reasonCode))
				this.#coded(entry, reason, "diagnosis", { moment: start, else: [] });
	}

	#condition(entry: ResourceEntry): void {
		const { resource, fullUrl, where } = entry;
		const onset =
			momentIn(resource, "onsetDateTime", where) ??
			momentIn(objectOf(resource.onsetPeriod), "start", `${where}: onsetPeriod`);
		this.#coded(entry, resource.code, "diagnosis", {
			moment: onset ?? momentIn(resource, "recordedDate", where),
			age: onset ? undefined : ageIn(resource, "onsetAge", where),
			else: [...keyIn(resource.encounter), ...keysOf("Condition", textOf(resource.id), fullUrl)],
		});
	}

	#request(entry: ResourceEntry): void {
		const { resource, where } = entry;
		this.#drug(entry, {
			moment: momentIn(resource, "authoredOn", where),
			else: keyIn(resource.encounter),
		});
	}

	#statement(entry: ResourceEntry): void {
		const { resource, where } = entry;
		this.#drug(entry, {
			moment:
				momentIn(resource, "effectiveDateTime", where) ??
				momentIn(objectOf(resource.effectivePeriod), "start", `${where}: effectivePeriod`) ??
				momentIn(resource, "dateAsserted", where),
			else: keyIn(resource.context),
		});
	}

	#observation(entry: ResourceEntry): void {
		const { resource, where } = entry;
		const when: When = {
			moment:
				momentIn(resource, "effectiveDateTime", where) ??
				momentIn(objectOf(resource.effectivePeriod), "start", `${where}: effectivePeriod`) ??
				momentIn(resource, "effectiveInstant", where) ??
				momentIn(resource, "issued", where),
			else: keyIn(resource.encounter),
		};
		const components = listOf(resource.component);
		for (const part of components.length > 0 ? components : [resource])
			this.#coded(entry, part.code, "laboratory", when, measuredIn(part));
	}

	#drug(entry: ResourceEntry, when: When): void {
		const { resource } = entry;
		const address = addressIn(resource.medicationReference);
		const medication = address === undefined ? undefined : parseReference(address)?.key;
		if (medication !== undefined) this.#record(entry, "drug", when, medication, [uncoded]);
		else if (address?.startsWith("#")) {
			const id = address.slice(1);
			const contained = listOf(resource.contained).find((one) => textOf(one.id) === id);
			this.#coded(entry, contained?.code, "drug", when);
		} else this.#coded(entry, resource.medicationCodeableConcept, "drug", when);
	}

	#medication({ resource, fullUrl, where, type }: ResourceEntry): void {
		const { kept, unknown, passedOver } = this.#choose(resource.code, "drug");
		if (passedOver > 0) this.skipped.severalCodings++;
		const version = this.#version;
		for (const key of keysOf(type, textOf(resource.id), fullUrl)) {
			for (const [rank, coding] of kept.entries())
				this.#add("fhir_medication", { key, version, rank, ...coding, refused: null });
			if (kept.length > 0) continue;
			// An error only if a record refers to it.
			const isRefused = unknown[0] !== undefined && this.#options.unusable !== "leave out";
			const refused = isRefused ? refusal(where, type, unknown[0] as string) : null;
			this.#add("fhir_medication", { key, version, rank: 0, ...uncoded, refused });
		}
	}

	#coded(
		entry: ResourceEntry,
		concept: unknown,
		kind: RecordKind,
		when: When,
		measured = notMeasured,
	): void {
		const { kept, unknown, passedOver } = this.#choose(concept, kind);
		if (kept.length === 0) {
			if (unknown[0] !== undefined && this.#options.unusable !== "leave out")
				throw new InputError(refusal(entry.where, entry.type, unknown[0]));
			this.skipped.uncoded.add(entry.type);
			return;
		}
		for (const system of unknown) this.skipped.unknownSystems.add(shapeOf(system, longestSystem));
		if (passedOver > 0) this.skipped.severalCodings++;
		this.#record(entry, kind, when, null, kept, measured);
	}

	#record(
		entry: ResourceEntry,
		kind: RecordKind,
		when: When,
		medication: string | null,
		codings: readonly (Coding | typeof uncoded)[],
		measured = notMeasured,
	): void {
		const patient = this.#subject(entry);
		if (patient === undefined) {
			this.skipped.aboutOthers.add(entry.type);
			return;
		}
		const row = ++this.#row;
		for (const [rank, coding] of codings.entries())
			this.#add("fhir_record", {
				version: this.#version,
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
			for (const [rank, key] of when.else.entries())
				this.#add("fhir_time_from", { row, rank, key });
	}

	/** The patient of a resource; undefined if its subject is, for example, a group. */
	#subject({ resource, type, where }: ResourceEntry): Reference | undefined {
		const address = addressIn(resource.subject);
		const reference = address === undefined ? undefined : parseReference(address);
		if (reference) return (reference.type ?? "Patient") === "Patient" ? reference : undefined;
		if (this.#options.unusable === "leave out") return undefined;
		throw new InputError(
			`${where}: a ${type} does not say whose it is: its subject is ${address === undefined ? "absent or has no reference" : "a contained resource or a search"}; expected a subject such as {"reference": "Patient/12"}`,
		);
	}
}

const keyIn = (reference: unknown): string[] => {
	const key = referenceIn(reference)?.key;
	return key === undefined ? [] : [key];
};
