import { InputError } from "../../base/errors.js";
import type { RecordKind, Sex } from "../rows.js";
import { sexes } from "../sexes.js";
import { knownSystems } from "../systems.js";
import { ageIn } from "./ages.js";
import type { ChooseCodings, Coding } from "./codings.js";
import { type Moment, momentIn } from "./dates.js";
import { listOf, objectOf, shapeOf, textOf } from "./fields.js";
import { LeftOut } from "./left-out.js";
import { addressIn, keysOf, parseReference, referenceIn } from "./references.js";
import type { FoundResource } from "./resources.js";
import type { Stage } from "./stage.js";
import { patientOf } from "./subject.js";
import { isVoid } from "./void.js";

const longestSystem = 200;

const refusal = (where: string, type: string, system: string): string =>
	`${where}: the code of a ${type} is of system ${shapeOf(system, longestSystem)}, which is not known; known are ${knownSystems.join(", ")}; to keep its codes under this name, pass \`allowSystems\` ${shapeOf(system, longestSystem)}`;

/** The code is with a Medication. */
const uncoded = { code: null, system: null, name: null };

/** When, and what else to ask if that is not known. */
interface When {
	readonly moment: Moment | undefined;
	readonly age?: number | undefined;
	/** Resources whose time it takes, the first that is there. */
	readonly else: readonly string[];
}

export interface ReadOptions {
	readonly encounterReasons?: boolean | undefined;
}

/** Puts what resources say on the stage, one resource at a time. */
export class ResourceReader {
	readonly leftOut = new LeftOut();
	readonly #stage: Stage;
	readonly #choose: ChooseCodings;
	readonly #options: ReadOptions;
	readonly #readers: Readonly<Record<string, (found: FoundResource) => void>> = {
		Patient: (found) => this.#patient(found),
		Encounter: (found) => this.#encounter(found),
		Condition: (found) => this.#condition(found),
		MedicationRequest: (found) => this.#request(found),
		MedicationStatement: (found) => this.#statement(found),
		Medication: (found) => this.#medication(found),
	};
	/** Counts the resources, and the records that they are. */
	#version = 0;
	#row = 0;

	constructor(stage: Stage, choose: ChooseCodings, options: ReadOptions) {
		this.#stage = stage;
		this.#choose = choose;
		this.#options = options;
	}

	read(found: FoundResource): void {
		const read = this.#readers[found.type];
		if (!read) {
			this.leftOut.otherTypes.add(found.type);
			return;
		}
		this.#version++;
		const [key] = keysOf(found.type, textOf(found.resource.id), found.fullUrl);
		if (key) this.#stage.add("fhir_version", { key, version: this.#version });
		if (isVoid(found)) this.leftOut.void.add(found.type);
		else read(found);
	}

	#patient({ resource, fullUrl, where }: FoundResource): void {
		const url = fullUrl === undefined ? undefined : parseReference(fullUrl);
		const patient = textOf(resource.id) ?? url?.id;
		if (patient === undefined)
			throw new InputError(`${where}: a Patient has no id; expected "id", or "fullUrl" beside it`);
		if (url && url.id !== patient) this.#stage.add("fhir_alias", { key: url.key, patient });
		const death = momentIn(resource, "deceasedDateTime", where);
		if (!death && resource.deceasedBoolean === true) this.leftOut.deathsWithoutDate++;
		this.#stage.add("fhir_person", {
			version: this.#version,
			patient,
			birth: momentIn(resource, "birthDate", where)?.day ?? null,
			sex: sexOf(resource.gender, where),
			// the last day of the month or year, for records of that month may follow its first
			death: death ? death.day + (death.slack >= 28 ? death.slack - 1 : 0) : null,
			place: where,
		});
	}

	#encounter(found: FoundResource): void {
		const { resource, fullUrl, where } = found;
		const start = momentIn(objectOf(resource.period), "start", `${where}: period`);
		if (start) {
			const conditions = listOf(resource.diagnosis).map(({ condition }) => referenceIn(condition));
			const keys = keysOf("Encounter", textOf(resource.id), fullUrl);
			for (const key of [...keys, ...conditions.map((condition) => condition?.key)])
				if (key) this.#stage.add("fhir_time", { version: this.#version, key, ...start });
		}
		if (this.#options.encounterReasons)
			for (const reason of listOf(resource.reasonCode))
				this.#coded(found, reason, "diagnosis", { moment: start, else: [] });
	}

	#condition(found: FoundResource): void {
		const { resource, fullUrl, where } = found;
		const onset =
			momentIn(resource, "onsetDateTime", where) ??
			momentIn(objectOf(resource.onsetPeriod), "start", `${where}: onsetPeriod`);
		this.#coded(found, resource.code, "diagnosis", {
			moment: onset ?? momentIn(resource, "recordedDate", where),
			age: onset ? undefined : ageIn(resource, "onsetAge", where),
			else: [...keyIn(resource.encounter), ...keysOf("Condition", textOf(resource.id), fullUrl)],
		});
	}

	#request(found: FoundResource): void {
		const { resource, where } = found;
		this.#drug(found, {
			moment: momentIn(resource, "authoredOn", where),
			else: keyIn(resource.encounter),
		});
	}

	#statement(found: FoundResource): void {
		const { resource, where } = found;
		this.#drug(found, {
			moment:
				momentIn(resource, "effectiveDateTime", where) ??
				momentIn(objectOf(resource.effectivePeriod), "start", `${where}: effectivePeriod`) ??
				momentIn(resource, "dateAsserted", where),
			else: keyIn(resource.context),
		});
	}

	#drug(found: FoundResource, when: When): void {
		const { resource } = found;
		const address = addressIn(resource.medicationReference);
		const medication = address === undefined ? undefined : parseReference(address)?.key;
		if (medication !== undefined) this.#record(found, "drug", when, medication, [uncoded]);
		else if (address?.startsWith("#")) {
			const id = address.slice(1);
			const contained = listOf(resource.contained).find((one) => textOf(one.id) === id);
			this.#coded(found, contained?.code, "drug", when);
		} else this.#coded(found, resource.medicationCodeableConcept, "drug", when);
	}

	#medication({ resource, fullUrl, where, type }: FoundResource): void {
		const { kept, unknown, passedOver } = this.#choose(resource.code, "drug");
		if (passedOver > 0) this.leftOut.severalCodings++;
		const version = this.#version;
		for (const key of keysOf(type, textOf(resource.id), fullUrl)) {
			for (const [rank, coding] of kept.entries())
				this.#stage.add("fhir_drug", { key, version, rank, ...coding, refused: null });
			if (kept.length > 0) continue;
			// refused only where a record asks for it
			const refused = unknown[0] === undefined ? null : refusal(where, type, unknown[0]);
			this.#stage.add("fhir_drug", { key, version, rank: 0, ...uncoded, refused });
		}
	}

	#coded(found: FoundResource, concept: unknown, kind: RecordKind, when: When): void {
		const { kept, unknown, passedOver } = this.#choose(concept, kind);
		if (kept.length === 0) {
			if (unknown[0] !== undefined)
				throw new InputError(refusal(found.where, found.type, unknown[0]));
			this.leftOut.uncoded.add(found.type);
			return;
		}
		for (const system of unknown) this.leftOut.unknownSystems.add(shapeOf(system, longestSystem));
		if (passedOver > 0) this.leftOut.severalCodings++;
		this.#record(found, kind, when, null, kept);
	}

	#record(
		found: FoundResource,
		kind: RecordKind,
		when: When,
		medication: string | null,
		codings: readonly (Coding | typeof uncoded)[],
	): void {
		const patient = patientOf(found);
		if (patient === undefined) {
			this.leftOut.aboutOthers.add(found.type);
			return;
		}
		const row = ++this.#row;
		for (const [rank, coding] of codings.entries())
			this.#stage.add("fhir_record", {
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
			});
		if (!when.moment)
			for (const [rank, key] of when.else.entries())
				this.#stage.add("fhir_wait", { row, rank, key });
	}
}

const keyIn = (reference: unknown): string[] => {
	const key = referenceIn(reference)?.key;
	return key === undefined ? [] : [key];
};

function sexOf(value: unknown, where: string): Sex | null {
	if (value === undefined || value === null) return null;
	const sex = typeof value === "string" ? sexes.get(value.trim().toLowerCase()) : undefined;
	if (sex !== undefined) return sex;
	throw new InputError(
		`${where}: gender is ${shapeOf(value)}; expected female, male, other or unknown`,
	);
}
