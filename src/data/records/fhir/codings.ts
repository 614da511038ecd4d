import type { RecordKind } from "../rows.js";
import { knownSystems, systemNamed } from "../systems.js";
import { listOf, objectOf, textOf } from "./json-fields.js";

export interface Coding {
	readonly code: string;
	readonly system: string;
	readonly name: string | null;
}

/** The codings chosen from a CodeableConcept, and those left out. */
interface Choice {
	readonly kept: readonly Coding[];
	/** Systems that are neither known nor allowed. */
	readonly unknown: readonly string[];
	/** The number of codings of known systems left out for a better one. */
	readonly passedOver: number;
}

const preference: Readonly<Record<RecordKind, readonly string[]>> = {
	diagnosis: ["ICD10CM", "ICD9CM", "SNOMED"],
	drug: ["RxNorm", "ATC", "NDC"],
	procedure: ["ICD10PCS", "ICD9Proc", "CPT4", "HCPCS", "SNOMED"],
	laboratory: ["LOINC", "SNOMED"],
	other: [],
};

export interface CodingOptions {
	readonly allCodings?: boolean | undefined;
	readonly allowSystems?: readonly string[] | undefined;
}

/** Chooses among the codings of a concept: that of the best known system, or all. */
export function chooseCodings({
	allCodings,
	allowSystems = [],
}: CodingOptions): (concept: unknown, kind: RecordKind) => Choice {
	const allowed = new Map(allowSystems.map((name) => [name.trim().toLowerCase(), name.trim()]));
	const systemOf = (name: string) => systemNamed(name) ?? allowed.get(name.toLowerCase());
	return (concept, kind) => {
		const fields = objectOf(concept);
		const text = textOf(fields?.text) ?? null;
		const kept: Coding[] = [];
		const unknown: string[] = [];
		for (const coding of listOf(fields?.coding)) {
			const code = textOf(coding.code);
			const name = textOf(coding.system);
			if (!code || !name) continue;
			const system = systemOf(name);
			if (!system) unknown.push(name);
			else if (!kept.some((one) => one.system === system && one.code === code))
				kept.push({ code, system, name: textOf(coding.display) ?? text });
		}
		if (allCodings || kept.length < 2) return { kept, unknown, passedOver: 0 };
		const rank = ({ system }: Coding) => {
			const place = preference[kind].indexOf(system);
			if (place >= 0) return place;
			return knownSystems.includes(system) ? preference[kind].length : preference[kind].length + 1;
		};
		const best = kept.reduce((a, b) => (rank(b) < rank(a) ? b : a));
		return { kept: [best], unknown, passedOver: kept.length - 1 };
	};
}
