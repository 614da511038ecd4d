import { InputError } from "../../base/errors.js";
import { builtInMap, type CodeMap } from "../codes/index.js";
import { BadRows, counted, mostNamed, notesFor } from "../records/bad-rows.js";
import type { PersonRow, RecordKind } from "../records/rows.js";
import { quoted } from "../records/sql.js";
import { type RecordSource, type Store, withStore } from "../records/store.js";
import { summaryOf } from "./concepts.js";
import type { Period } from "./history.js";
import type { Manifest } from "./manifest.js";
import { mergedSql } from "./observation.js";
import { knownPeople, nothingKnown, peopleNotes } from "./reading/people.js";
import {
	type GivenRecord,
	type NewPatient,
	type ReadPatient,
	recordReader,
} from "./reading/records-to-events.js";
import { readingRules } from "./reading/rules.js";
import type { Vocabulary } from "./vocabulary.js";

export type { NewPatient };

/** Skipped records: their code is not in the map or not in the vocabulary. */
export interface UnknownCodes {
	readonly codes: number;
	readonly records: number;
	/** The most frequent. */
	readonly top: readonly {
		readonly code: string;
		readonly system: string;
		readonly records: number;
	}[];
}

export interface NewPatients {
	/** By id. */
	readonly patients: readonly NewPatient[];
	/** The ids of all patients in the source. */
	readonly ids: readonly string[];
	/** `dates`: time 0 is 1970-01-01. `days`: time 0 is defined by the source. */
	readonly axis: Manifest["source"]["axis"];
	readonly unknown: UnknownCodes;
	/** What was corrected or left out. */
	readonly notes: readonly string[];
}

export interface NewPatientOptions {
	/** The manifest of the dataset that the model was trained on. */
	readonly manifest: Manifest;
	readonly vocabulary: Vocabulary;
	/** The map of that dataset, if it was not the built-in one. */
	readonly map?: CodeMap | undefined;
	/** Reads only the patient with this id. */
	readonly only?: string | undefined;
	/**
	 * Whether rows that cannot be read, people without records and patients none of whose codes the model knows are left
	 * out, with notes, or refused (the default), with one error that names the first ten.
	 */
	readonly skipBad?: boolean | undefined;
	/** Memory limit of DuckDB in bytes. */
	readonly memory?: number;
	readonly threads?: number | undefined;
}

/** The map that a dataset was prepared with: the built-in or the given one. Any map will do if codes were not mapped. */
export function mapOfDataset({ codes }: Manifest, given?: CodeMap): CodeMap {
	const builtIn = builtInMap();
	const mapName = codes.map ?? builtIn.source;
	if (mapName === builtIn.source) {
		if (!given) return builtIn;
		throw new InputError(
			`a map of codes was given (${given.source}), but the dataset's codes ${codes.map ? `were mapped with the one that is ${mapName}` : "were not mapped"}; leave it out`,
		);
	}
	if (!given)
		throw new InputError(
			`the dataset's codes were mapped with ${mapName}; give that file again with \`phecodeMap\``,
			{ field: "phecodeMap" },
		);
	if (given.level === codes.level) return given;
	throw new InputError(
		`${given.source} is read at ${given.level} level; expected ${codes.level}, as the dataset has it`,
	);
}

/**
 * Reads new patients as histories for a model, by the rules of its dataset for codes, repetitions, drugs and
 * order. Patients with few records are kept. If the dataset kept the latest records of long histories, so does
 * this function.
 */
export async function newPatients(
	source: RecordSource,
	options: NewPatientOptions,
): Promise<NewPatients> {
	const map = mapOfDataset(options.manifest, options.map);
	const { memory = 2 * 1024 ** 3, threads } = options;
	return withStore({ memory, threads, files: source.files }, (store) =>
		gather(store, source, options, map),
	);
}

async function gather(
	store: Store,
	source: RecordSource,
	{ manifest, vocabulary, only, skipBad = false }: NewPatientOptions,
	map: CodeMap,
): Promise<NewPatients> {
	const badRows = new BadRows();
	const { axis, notes, warnings = [], observation } = await source.load(store, badRows);
	const everybody = await store.all<{ patient: string }>(
		"SELECT patient FROM record UNION SELECT patient FROM person ORDER BY patient",
	);
	const ids = everybody.map(({ patient }) => patient);
	if (ids.length === 0 && badRows.count === 0)
		throw new InputError(
			`${source.path} contains no patients; expected at least one (patient, time, code)`,
		);
	const whose = only === undefined ? "" : `WHERE patient = ${quoted(only)}`;
	const known = knownPeople(
		await store.all<PersonRow & Record<string, string | number | null>>(
			`SELECT patient, birth, sex, death, split, place FROM person ${whose} ORDER BY rowid`,
		),
	);
	const rules = readingRules(manifest);
	const reader = recordReader(vocabulary, rules, map);
	const read = new Map<string, Counted>();
	const periods = await observedBy(store, whose);
	const readOne = (id: string, records: readonly GivenRecord[]) => {
		const observed = observation && (periods.get(id) ?? []);
		const person = { ...(known.people.get(id) ?? nothingKnown), observed };
		const patient = reader.patient(id, person, records, axis);
		const lacking = reader.lacksKnown(records.length, patient.events.length, patient.drugs);
		read.set(id, { ...patient, records: records.length, lacking });
	};
	for await (const { id, records } of histories(store, whose)) readOne(id, records);
	const chosen = only === undefined ? ids : ids.filter((id) => id === only);
	for (const id of chosen) if (!read.has(id)) readOne(id, []);
	const all = chosen.flatMap((id) => read.get(id) ?? []);
	const kept = all.filter(({ lacking }) => lacking === undefined);
	const lacking = all.filter((one) => one.lacking !== undefined);
	const silent = lacking.filter(({ records }) => records === 0);
	const unknown = lacking.filter(({ records }) => records > 0);
	const faults = [
		faultOf(`${counted(badRows.count, "row")} cannot be read`, badRows.count, badRows.first),
		patientsFault(silent, `${counted(silent.length, "person has", "people have")} no record`),
		patientsFault(
			unknown,
			`${counted(unknown.length, "patient has", "patients have")} no code that the model knows`,
		),
	].filter(({ count }) => count > 0);
	if (faults.length > 0 && (!skipBad || kept.length === 0)) {
		const [first, second] = kept.map(({ patient }) => patient.id);
		const canChoose = only === undefined && silent.length > 0 && second === undefined;
		const remedy = skipBad
			? "nobody is left"
			: `correct them${first === undefined ? "" : ", or leave them out with `skipBad`"}${first !== undefined && canChoose ? `; or read patient ${first} alone` : ""}`;
		throw new InputError(
			`${source.path}: ${faults.map(({ what }) => what).join(", ")}; ${remedy}\n${faults.map(({ lines }) => lines).join("\n")}`,
			{ field: "skipBad" },
		);
	}
	const count = (of: (one: ReadPatient) => number | boolean) =>
		all.reduce((sum, one) => sum + Number(of(one)), 0);
	const drugs = count((one) => one.drugs);
	const repeated = count((one) => one.repeated);
	const cut = count((one) => one.cut);
	return {
		patients: kept.map(({ patient }) => patient),
		ids,
		axis,
		unknown: unknownOf(all),
		notes: [
			...warnings,
			...notes,
			...faults.map(({ what, lines }) => `${what}: left out\n${lines}`),
			...peopleNotes({
				births: count(({ bornLate }) => bornLate),
				sexes: known.sexes,
				deaths: known.deaths,
				late: count(({ late }) => late),
			}),
			...notesFor([
				[
					drugs,
					`${counted(drugs, "record is of a drug", "records are of drugs")}, and the model has none: left out; it learns drugs from a dataset that was prepared with \`drugs\` tokens`,
				],
				[repeated, `${repeated} records repeat another within a ${rules.dedup}: left out`],
				[cut, `${cut} records beyond the last ${rules.maxRecords} of a patient: left out`],
			]),
		],
	};
}

/** With the number of records in the source, and why nothing is predicted for the patient. */
type Counted = ReadPatient & { readonly records: number; readonly lacking: string | undefined };

/** Rows or patients that cannot be used: what is wrong, how many there are, and one line for each of the first. */
function faultOf(what: string, count: number, first: readonly string[]) {
	const more = count > first.length ? [`and ${count - first.length} more`] : [];
	return { what, count, lines: [...first, ...more].map((line) => `  ${line}`).join("\n") };
}

const patientsFault = (all: readonly Counted[], what: string) =>
	faultOf(
		what,
		all.length,
		all.slice(0, mostNamed).map(({ patient, lacking }) => `patient ${patient.id}: ${lacking}`),
	);

/** The periods of table `observation`, by patient. */
async function observedBy(store: Store, whose: string): Promise<Map<string, Period[]>> {
	const rows = await store.all<{ patient: string; first: number; last: number }>(
		`${mergedSql(`observation ${whose}`)} ORDER BY patient, first`,
	);
	const periods = new Map<string, Period[]>();
	for (const { patient, first: start, last: end } of rows) {
		const ofPatient = periods.get(patient);
		if (ofPatient) ofPatient.push({ start, end });
		else periods.set(patient, [{ start, end }]);
	}
	return periods;
}

/** Yields the records of each patient in the order of the source. */
async function* histories(
	store: Store,
	whose: string,
): AsyncGenerator<{ readonly id: string; readonly records: readonly GivenRecord[] }> {
	let current: { readonly id: string; readonly records: GivenRecord[] } | undefined;
	const sql = `SELECT patient, time, code, system, kind, value, unit FROM record ${whose} ORDER BY patient, row`;
	for await (const { rows, columns } of store.stream(sql)) {
		const [ids, days, codes, systems, kinds, values, units] = columns as unknown as readonly [
			readonly string[],
			readonly number[],
			readonly string[],
			readonly string[],
			readonly RecordKind[],
			readonly (number | null)[],
			readonly (string | null)[],
		];
		for (let row = 0; row < rows; row++) {
			const id = ids[row];
			if (current?.id !== id) {
				if (current) yield current;
				current = { id, records: [] };
			}
			current.records.push({
				day: days[row],
				code: codes[row],
				system: systems[row],
				kind: kinds[row],
				value: values[row] ?? null,
				unit: units[row] ?? null,
			});
		}
	}
	if (current) yield current;
}

function unknownOf(all: readonly ReadPatient[]): UnknownCodes {
	const rows = all.flatMap(({ unknown }) => unknown);
	const { codes, events, top } = summaryOf(
		rows.map(({ code, system }) => ({ code, system: system ?? "", records: 1 })),
	);
	const records = top.map(({ events, ...code }) => ({ ...code, records: events }));
	return { codes, records: events, top: records };
}
