import { InputError } from "../../../base/errors.js";
import { yearDays } from "../../../base/time.js";
import { expectedYears, oldestDays, parseMoment } from "../dates.js";
import type { FhirOptions } from "../options.js";
import type { RecordKind } from "../rows.js";
import { knownSystems, systemNamed } from "../systems.js";

/** An object of unknown JSON. */
export type Fields = Readonly<Record<string, unknown>>;

export const objectOf = (value: unknown): Fields | undefined =>
	typeof value === "object" && value !== null && !Array.isArray(value)
		? (value as Fields)
		: undefined;

/** The objects of a list; a single object counts as a list of one. */
export function listOf(value: unknown): Fields[] {
	const list = Array.isArray(value) ? value : [value];
	return list.map(objectOf).filter((fields) => fields !== undefined);
}

/** The trimmed text; undefined if it is empty or not a text. */
export const textOf = (value: unknown): string | undefined =>
	typeof value === "string" ? value.trim() || undefined : undefined;

/** A short description of a value for messages. */
export function shapeOf(value: unknown, longest = 40): string {
	if (typeof value === "string")
		return value.length > longest ? `a text of ${value.length} characters` : JSON.stringify(value);
	if (value === undefined) return "nothing";
	if (value === null) return "null";
	if (Array.isArray(value)) return "a list";
	return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

export interface Reference {
	/** The lookup key: `Patient/12`, whatever the server, or `urn:uuid:…` as written. */
	readonly key: string;
	readonly id: string;
	/** Absent for a URN. */
	readonly type?: string;
}

const typed = /(?:^|\/)([A-Z][A-Za-z]{1,63})\/([^/\s]+)$/;
const urn = /^urn:(?:uuid|oid):([^\s]+)$/i;

/** Parses a relative or absolute address, with or without a version, or a URN; undefined for a search. */
export function parseReference(text: string): Reference | undefined {
	const whole = text.trim().replace(/\/_history\/[^/]*$/, "");
	if (/[?#]/.test(whole)) return undefined;
	const name = urn.exec(whole)?.[1];
	if (name) return { key: whole, id: name };
	const [, type, id] = typed.exec(whole) ?? [];
	if (type && id) return { key: `${type}/${id}`, id, type };
	return /^[^/\s]+$/.test(whole) ? { key: whole, id: whole } : undefined;
}

/** The address in `{"reference": "Patient/12"}`. */
export const addressIn = (value: unknown): string | undefined => textOf(objectOf(value)?.reference);

export function referenceIn(value: unknown): Reference | undefined {
	const address = addressIn(value);
	return address === undefined ? undefined : parseReference(address);
}

/** All keys that a reference to a resource may have. */
export function keysOf(type: string, id: string | undefined, fullUrl: string | undefined) {
	const keys = id === undefined ? [] : [`${type}/${id}`];
	const key = fullUrl === undefined ? undefined : parseReference(fullUrl)?.key;
	if (key !== undefined && !keys.includes(key)) keys.push(key);
	return keys;
}

/** The moment in a field; undefined if the field is absent. */
export function momentIn(record: Fields | undefined, field: string, where: string) {
	const value = record?.[field];
	if (value === undefined || value === null) return undefined;
	const moment = typeof value === "string" ? parseMoment(value) : undefined;
	if (moment) return moment;
	throw new InputError(
		`${where}: ${field} is ${shapeOf(value)}; expected a date such as 2020, 2020-05, 2020-05-17 or 2020-05-17T10:30:00Z; ${expectedYears}: correct it or leave the resource out`,
	);
}

/** Days per unit of time, by UCUM code and by word. */
const daysPerUnit = new Map(
	(
		[
			["a year years yr y", yearDays],
			["mo month months", yearDays / 12],
			["wk week weeks", 7],
			["d day days", 1],
			["h", 1 / 24],
			["min", 1 / 1440],
		] as const
	).flatMap(([names, days]) => names.split(" ").map((name) => [name, days] as const)),
);

/** The days of an Age such as `{"value": 45, "code": "a"}`; undefined if the field has no number. */
export function ageIn(resource: Fields, field: string, where: string): number | undefined {
	const age = objectOf(resource[field]);
	if (typeof age?.value !== "number") return undefined;
	const unit = textOf(age.code) ?? textOf(age.unit);
	const days = age.value * (daysPerUnit.get(unit?.toLowerCase() ?? "") ?? Number.NaN);
	if (days >= 0 && days < oldestDays) return days;
	throw new InputError(
		`${where}: ${field} is ${age.value} of unit ${shapeOf(unit)}; expected an age in years (a), months (mo), weeks (wk), days (d), hours (h) or minutes (min)`,
	);
}

export interface Coding {
	readonly code: string;
	readonly system: string;
	readonly name: string | null;
}

const preference: Readonly<Record<RecordKind, readonly string[]>> = {
	diagnosis: ["ICD10CM", "ICD9CM", "SNOMED"],
	drug: ["RxNorm", "ATC", "NDC"],
	procedure: ["ICD10PCS", "ICD9Proc", "CPT4", "HCPCS", "SNOMED"],
	laboratory: ["LOINC", "SNOMED"],
	other: [],
};

/**
 * Chooses among the codings of a CodeableConcept: that of the best known system, or all. `passedOver` is the number of
 * codings of known systems left out for a better one.
 */
export function chooseCodings({
	allCodings,
	allowSystems = [],
}: Pick<FhirOptions, "allCodings" | "allowSystems">) {
	const allowed = new Map(allowSystems.map((name) => [name.trim().toLowerCase(), name.trim()]));
	const systemOf = (name: string) => systemNamed(name) ?? allowed.get(name.toLowerCase());
	return (concept: unknown, kind: RecordKind) => {
		const fields = objectOf(concept);
		const text = textOf(fields?.text) ?? null;
		const kept: Coding[] = [];
		/** Systems that are neither known nor allowed. */
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
