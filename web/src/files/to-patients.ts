import { InputError } from "../../../src/base/errors.js";
import { builtInMap } from "../../../src/codes/built-in.js";
import { normaliseIcd } from "../../../src/codes/icd.js";
import { integerPheCode, normalisePheCode } from "../../../src/codes/map.js";
import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Patient, PatientEvent } from "../data/patient.js";
import type { FileContent, FileRecord } from "./records.js";

/** What of a dataset's making says how further records are to be treated. */
export interface Treatment {
	/** What ICD codes were mapped with; null if they stayed as they were. */
	readonly map: string | null;
	readonly level: "integer" | "full" | null;
	/** One record a code within a day or a month, or all. */
	readonly dedup: "none" | "day" | "month";
	readonly unitDays: number;
	readonly axis: "dates" | "days";
}

export interface UnknownCode {
	readonly code: string;
	readonly system: string | null;
	readonly records: number;
}

export interface FilePatients {
	/** Those with an event that the model knows, the longest histories first. */
	readonly patients: readonly Patient[];
	readonly unknown: readonly UnknownCode[];
	readonly notes: readonly string[];
}

/** More than this are too many to choose from. */
const mostPatients = 500;

/** Finds the tokens of a record; none where the model does not know its code. */
function tokenFinder(
	vocabulary: Vocabulary,
	{ map, level }: Treatment,
): (record: Pick<FileRecord, "code" | "system">) => readonly number[] {
	const toPheCodes = map !== null;
	const builtIn = builtInMap();
	const phecodes = (codes: readonly string[]) =>
		[...new Set(codes)].flatMap((code) => vocabulary.find(code, "PheCode") ?? []);
	return ({ code, system }) => {
		const own = vocabulary.find(code, system ?? undefined);
		if (own !== undefined) return [own];
		const systems = (["ICD10CM", "ICD9CM"] as const).filter(
			(one) => system === one || system === null,
		);
		for (const icd of systems) {
			const normal = normaliseIcd(icd, code);
			if (normal === undefined) continue;
			const asIs = vocabulary.find(normal, icd);
			if (asIs !== undefined) return [asIs];
			if (!toPheCodes) continue;
			const found = phecodes(builtIn.phecodesOf(icd, normal));
			if (found.length > 0) return found;
		}
		const asPheCode = system === "PheCode" || system === null ? normalisePheCode(code) : undefined;
		if (asPheCode === undefined) return [];
		return phecodes([level === "integer" ? integerPheCode(asPheCode) : asPheCode]);
	};
}

/** What repetitions of a code are one within. */
function periodOf(day: number, dedup: "day" | "month", axis: "dates" | "days"): string {
	if (dedup === "day") return `${Math.floor(day)}`;
	return axis === "dates"
		? new Date(day * 86_400_000).toISOString().slice(0, 7)
		: `${Math.floor(day / 30.4375)}`;
}

/** The patients of a file as the model reads them: codes looked up, in order of time, repetitions as in its dataset. */
export function toPatients(
	content: FileContent,
	vocabulary: Vocabulary,
	treatment: Treatment,
): FilePatients {
	const { records, people, axis } = content;
	const tokensOf = tokenFinder(vocabulary, treatment);
	const unknown = new Map<string, UnknownCode>();
	const events = new Map<string, (Omit<PatientEvent, "id"> & { readonly rank: number })[]>();
	const seen = new Set<string>();
	let [repeated, early] = [0, 0];
	for (const record of [...records].sort((a, b) => a.day - b.day)) {
		const { patient, day, code, system, kind } = record;
		const tokens = tokensOf(record);
		if (tokens.length === 0) {
			const key = `${system} ${code}`;
			unknown.set(key, { code, system, records: (unknown.get(key)?.records ?? 0) + 1 });
		}
		const birth = people.get(patient)?.birth ?? null;
		if (birth !== null && day < birth) {
			early++;
			continue;
		}
		for (const token of tokens) {
			if (treatment.dedup !== "none") {
				const key = `${patient} ${token} ${periodOf(day, treatment.dedup, axis)}`;
				if (seen.has(key)) {
					repeated++;
					continue;
				}
				seen.add(key);
			}
			const own = events.get(patient) ?? [];
			events.set(patient, own);
			own.push({ token, time: day / treatment.unitDays, rank: kind === "diagnosis" ? 0 : 1 });
		}
	}
	const list = [...unknown.values()].sort((a, b) => b.records - a.records);
	if (events.size === 0)
		throw new InputError(
			`none of the ${records.length.toLocaleString("en-US")} records has a code that this model knows, for instance ${list
				.slice(0, 3)
				.map(({ code }) => code)
				.join(", ")}; ${acceptedCodes(vocabulary, treatment)}`,
		);
	const said = (count: number, text: string) => (count > 0 ? [`${count} ${text}`] : []);
	return {
		patients: [...events]
			.sort(([, a], [, b]) => b.length - a.length)
			.slice(0, mostPatients)
			.map(([id, own]): Patient => {
				const { birth = null, sex = null } = people.get(id) ?? {};
				return {
					sample: null,
					name: id,
					sex,
					birth: birth === null ? null : birth / treatment.unitDays,
					events: own
						.sort((a, b) => a.time - b.time || a.rank - b.rank)
						.map(({ token, time }, at) => ({ id: `e${at}`, token, time })),
				};
			}),
		unknown: list,
		notes: [
			...content.notes,
			...said(
				events.size - mostPatients,
				`patients more: the ${mostPatients} with the most events are listed`,
			),
			...said(
				records.filter(({ system }) => system === null).length,
				"records name no system: their codes are read as the model's own, else as ICD",
			),
			...said(early, "records before the birth: left out"),
			...said(repeated, `records repeat another within a ${treatment.dedup}: left out`),
			...(axis === treatment.axis
				? []
				: [
						`times are ${axis} here and ${treatment.axis} in the model's records: what lies between events counts`,
					]),
			...(treatment.map === null || treatment.map === builtInMap().source
				? []
				: [
						"the model's codes were mapped with a file of its own; here the built-in map stands in for it",
					]),
		],
	};
}

/** What a record's code may be, in words. */
export function acceptedCodes({ tokens }: Vocabulary, { map }: Treatment): string {
	const systems = [...new Set(tokens.flatMap(({ system }) => system ?? []))];
	const own = systems.length > 0 ? systems.join(", ") : "its own";
	return map === null
		? `accepted are codes of ${own}, as they are`
		: `accepted are ICD-9-CM and ICD-10-CM diagnoses, which become PheCodes, and codes of ${own}`;
}
