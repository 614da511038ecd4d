import { InputError } from "../../../src/base/errors.js";
import { thousands } from "../../../src/base/thousands.js";
import { builtInMap } from "../../../src/data/codes/built-in.js";
import type { CodeMap } from "../../../src/data/codes/map.js";
import { nothingKnown, peopleNotes } from "../../../src/data/cohort/reading/people.js";
import {
	acceptedCodes,
	type ReadPatient,
	recordReader,
} from "../../../src/data/cohort/reading/records-to-events.js";
import type { ReadingRules } from "../../../src/data/cohort/reading/rules.js";
import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import type { FileContent, FileRecord } from "./records.js";

/** A map of codes that the user gave, and how much it maps. */
export interface UserMap {
	readonly map: CodeMap;
	readonly icd: number;
	readonly snomed: number;
}

/** What was read of a file. */
export type FilePatients = ReturnType<typeof toPatients>;
export type FilePatient = ReturnType<typeof filePatient>;

const progressPatients = 500;
/** Maximum number of records to draw quickly; the limit of a request to the HTTP API. */
const mostEvents = 5000;

/** Turns the records of a file into patients, by the rules of the model's dataset. */
export function toPatients(
	content: FileContent,
	vocabulary: Vocabulary,
	rules: ReadingRules,
	userMap?: UserMap,
	onProgress: (share: number) => void = () => {},
) {
	const { records, known, axis } = content;
	const reader = recordReader(vocabulary, rules, userMap?.map ?? builtInMap());
	const byPatient = new Map<string, FileRecord[]>();
	for (const record of records) {
		const patientRecords = byPatient.get(record.patient);
		if (patientRecords) patientRecords.push(record);
		else byPatient.set(record.patient, [record]);
	}
	const unknown = new Map<string, Pick<FileRecord, "code" | "system"> & { records: number }>();
	const count = { births: 0, late: 0, drugs: 0, repeated: 0, cut: 0, long: 0 };
	const knownPatients: FilePatient[] = [];
	let done = 0;
	for (const [id, patientRecords] of byPatient) {
		if (++done % progressPatients === 0) onProgress(done / byPatient.size);
		const read = reader.patient(id, known.people.get(id) ?? nothingKnown, patientRecords, axis);
		count.births += Number(read.bornLate);
		count.late += Number(read.late);
		for (const what of ["drugs", "repeated", "cut"] as const) count[what] += read[what];
		const unread = new Set<number>();
		for (const { place, alone } of read.unknown) {
			const record = patientRecords[place];
			if (!record || !alone) continue;
			unread.add(place);
			const { code, system } = record;
			const key = `${system} ${code}`;
			unknown.set(key, { code, system, records: (unknown.get(key)?.records ?? 0) + 1 });
		}
		if (read.events.length > mostEvents) count.long++;
		else if (read.events.length > 0)
			knownPatients.push(filePatient(read, patientRecords.length, unread.size));
	}
	const list = [...unknown.values()].sort((a, b) => b.records - a.records);
	if (knownPatients.length === 0 && count.long > 0) throw new InputError(tooLong(count.long));
	if (knownPatients.length === 0) throw nothingFound(content, list, vocabulary, rules);
	const said = (number: number, one: string, many: string, then: string) =>
		number > 0 ? [`${counted(number, one, many)}${then}`] : [];
	knownPatients.sort((a, b) => b.tokens.length - a.tokens.length);
	const { format, bad, dates } = content;
	return {
		format,
		axis,
		bad,
		dates,
		/** Patients with at least one known event, the longest histories first. */
		patients: knownPatients,
		/** The codes that the model does not know. */
		unknown: list,
		/** Records of a table as they stand in the file, and the codes of the model that they stand for. */
		preview: content.first.map(({ line, patient, time, day, code, ...record }) => ({
			line,
			patient,
			time,
			day,
			code,
			tokens: reader
				.patient("1", nothingKnown, [{ ...record, day, code }], axis)
				.events.map(({ token }) => token),
		})),
		notes: [
			...content.notes,
			...said(
				byPatient.size - knownPatients.length - count.long,
				"patient has",
				"patients have",
				" no code that the model knows: left out",
			),
			...(count.long > 0 ? [`${tooLong(count.long)}: left out`] : []),
			...said(
				records.filter(({ system }) => system === null).length,
				"record names no system: its code is",
				"records name no system: their codes are",
				" read as the model's own, else as ICD",
			),
			...peopleNotes({ ...count, sexes: known.sexes, deaths: known.deaths }),
			...said(count.drugs, "record", "records", " of drugs: the model has no drugs; left out"),
			...said(
				count.repeated,
				"record repeats",
				"records repeat",
				` another within a ${rules.dedup}: left out`,
			),
			...said(
				count.cut,
				"record",
				"records",
				` beyond the last ${rules.maxRecords} of a patient: left out`,
			),
			...(axis === rules.axis
				? []
				: [
						`times are ${axis} here and ${rules.axis} in the model's records: what lies between events counts`,
					]),
			...mapNotes(records, rules, userMap),
			...(userMap || rules.map === null || rules.map === builtInMap().source
				? []
				: [
						"the model's codes were mapped with a file of its own; here the built-in map stands in for it",
					]),
		],
	};
}

/** 512 SNOMED concepts and 3 ICD codes */
export const mapSizes = ({ snomed, icd }: Pick<UserMap, "snomed" | "icd">): string =>
	[
		...(snomed > 0 ? [counted(snomed, "SNOMED concept")] : []),
		...(icd > 0 ? [counted(icd, "ICD code")] : []),
	].join(" and ");

/** Whether SNOMED codes are mapped, and if not, how they could be. */
function mapNotes(
	records: readonly FileRecord[],
	rules: ReadingRules,
	userMap: UserMap | undefined,
): string[] {
	if (userMap && rules.map === null)
		return ["the model's codes were not mapped: the map is not used"];
	if (userMap) return [`codes are mapped with ${userMap.map.source}: ${mapSizes(userMap)}`];
	const snomed = records.filter(({ system }) => system === "SNOMED").length;
	return snomed > 0 && rules.map !== null
		? [
				`${counted(snomed, "record has a SNOMED code", "records have SNOMED codes")}: drop a map, a CSV file with the columns SNOMED and PheCode, to have them read`,
			]
		: [];
}

const tooLong = (patients: number) =>
	`${counted(patients, "patient has", "patients have")} more than ${thousands(mostEvents)} events, which is more than the page can draw; \`trajgpt risk\` and \`trajgpt forecast\` read them`;

/**
 * A patient of a file, with events in order of time and without birth; how many records there are, and how many of
 * codes that the model does not know.
 */
function filePatient({ patient }: ReadPatient, records: number, unknown: number) {
	const { id: name, sex, birth, death, history } = patient;
	const tokens = history.tokens.slice(history.birthEvents);
	const times = history.times.slice(history.birthEvents);
	return { name, sex, birth, death, tokens, times, records, unknown };
}

function nothingFound(
	{ records }: FileContent,
	unknown: readonly Pick<FileRecord, "code">[],
	vocabulary: Vocabulary,
	rules: ReadingRules,
): InputError {
	const none =
		records.length === 1
			? "the one record has no code"
			: `none of the ${thousands(records.length)} records has a code`;
	const some = unknown.slice(0, 3).map(({ code }) => code);
	return new InputError(
		`${none} that this model knows${some.length > 0 ? `, for instance ${some.join(", ")}` : ""}; accepted codes: ${acceptedCodes(vocabulary, rules)}`,
	);
}
