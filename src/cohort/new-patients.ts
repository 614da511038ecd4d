import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "../base/errors.js";
import { builtInMap, type CodeMap } from "../codes/index.js";
import type { RecordSource, Sex } from "../records/rows.js";
import { openStore, quoted, type Store } from "../records/store.js";
import { temporarily } from "./beside.js";
import { type Concept, type Concepts, mapCodes, summaryOf } from "./concepts.js";
import { type History, historyOf } from "./dataset.js";
import { gatherEvents, numberRecords, sortEvents } from "./events-table.js";
import type { Manifest } from "./manifest.js";
import { addDeaths, gatherPeople } from "./people.js";
import { specialCount, type Vocabulary } from "./vocabulary.js";

export interface NewPatient {
	readonly id: string;
	readonly sex: Sex | null;
	/** In time units on the axis of the events, as is death; null if nobody knows. */
	readonly birth: number | null;
	readonly death: number | null;
	/** When the last record was, of a known code or not, or the death that is an event; null if none is. */
	readonly lastRecord: number | null;
	/** Empty, but for the birth, when no event is of a known code. */
	readonly history: History;
}

/** Records whose code is no token, or is not in the map: skipped. */
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
	/** Of everybody in the source. */
	readonly ids: readonly string[];
	/** `dates`: time 0 is 1970-01-01. `days`: an origin of the source's own. */
	readonly axis: Manifest["source"]["axis"];
	readonly unknown: UnknownCodes;
	/** What was put right or left out on the way. */
	readonly notes: readonly string[];
}

export interface NewPatientOptions {
	/** Of the dataset that the model learned from. */
	readonly manifest: Manifest;
	readonly vocabulary: Vocabulary;
	/** The map of that dataset, where it was not the built-in one. */
	readonly map?: CodeMap | undefined;
	/** Only the patient of this id, if there is one. */
	readonly only?: string | undefined;
	/** What DuckDB may hold in memory, in bytes. */
	readonly memory?: number;
	readonly threads?: number | undefined;
}

/** The map a dataset was prepared with: built in, or the given one; where codes stayed as they were, any. */
export function mapOfDataset({ codes }: Manifest, given?: CodeMap): CodeMap {
	const builtIn = builtInMap();
	const own = codes.map ?? builtIn.source;
	if (own === builtIn.source) {
		if (!given) return builtIn;
		throw new InputError(
			`a map of codes was given (${given.source}), but the dataset's codes ${codes.map ? `were mapped with the one that is ${own}` : "were not mapped"}; leave it out`,
		);
	}
	if (!given)
		throw new InputError(
			`the dataset's codes were mapped with ${own}; give that file again with --map`,
		);
	if (given.level === codes.level) return given;
	throw new InputError(
		`${given.source} is read at ${given.level} level; expected ${codes.level}, as the dataset has it`,
	);
}

/**
 * Patients a model has not seen, as histories it can read: codes mapped, repetitions and drugs treated,
 * events ordered and times counted as in its dataset. Nobody is left out for having few records. Of
 * histories longer than the dataset allows the latest records stay, if that is what it kept.
 */
export async function newPatients(
	source: RecordSource,
	options: NewPatientOptions,
): Promise<NewPatients> {
	const map = mapOfDataset(options.manifest, options.map);
	const folder = await mkdtemp(join(tmpdir(), "trajgpt-patients-"));
	return temporarily(folder, async () => {
		const { memory = 2 * 1024 ** 3, threads } = options;
		const store = await openStore({ folder, memory, threads });
		try {
			return await gather(store, source, options, map);
		} finally {
			store.close();
		}
	});
}

async function gather(
	store: Store,
	source: RecordSource,
	{ manifest, vocabulary, only }: NewPatientOptions,
	map: CodeMap,
): Promise<NewPatients> {
	const { filters, splits, timeUnit, codes } = manifest;
	const { axis, notes } = await source.load(store);
	const ids = await everybody(store);
	if (ids.length === 0)
		throw new InputError(
			`${source.path} holds no patient; expected at least one (patient, time, code)`,
		);
	if (only !== undefined)
		for (const table of ["record", "person"])
			await store.run(`DELETE FROM ${table} WHERE patient <> ${quoted(only)}`);
	await nameAsKnown(store, vocabulary);
	const people = await gatherPeople(store, {
		splitSeed: splits.seed,
		splitParts: splits.parts,
		everybody: true,
	});
	if (filters.deathToken) await addDeaths(store);
	const concepts = await mapCodes(store, {
		codes: codes.map === null ? "as-is" : "phecode",
		map,
		unmapped: codes.keptUnmapped ? "keep" : "drop",
		drugs: filters.drugs,
	});
	await numberRecords(store);
	const maxRecords = filters.keep === "last" ? filters.maxRecords : null;
	const { duplicates, cut } = await gatherEvents(store, { ...filters, maxRecords }, axis);
	await findTokens(store, concepts.list, vocabulary);
	await store.run("CREATE TABLE kept_patient AS SELECT id FROM patient");
	await sortEvents(store, timeUnit.days);
	const said = (count: number, text: string) => (count > 0 ? [`${count} ${text}`] : []);
	return {
		patients: await readHistories(store, timeUnit.days),
		ids,
		axis,
		unknown: await countUnknown(store, concepts),
		notes: [
			...notes,
			...people.notes,
			...said(concepts.drugs, "records of drugs: the model has no drugs; left out"),
			...said(duplicates, `records repeat another within a ${filters.dedup}: left out`),
			...said(cut, `records beyond the last ${maxRecords} of a patient: left out`),
		],
	};
}

async function everybody(store: Store): Promise<string[]> {
	const rows = await store.all<{ patient: string }>(
		"SELECT patient FROM record UNION SELECT patient FROM person ORDER BY patient",
	);
	return rows.map(({ patient }) => patient);
}

/** Codes are of the kind that they were of in the dataset, whatever this source calls them. */
async function nameAsKnown(store: Store, { tokens }: Vocabulary): Promise<void> {
	await store.run("DELETE FROM code_name");
	await store.append(
		"code_name",
		tokens.slice(specialCount).map(({ system, code, name, category, kind }) => ({
			system: system as string,
			code,
			name,
			category,
			kind: kind === "special" ? null : kind,
		})),
	);
}

/** Table `token` (concept, token), of the concepts that the vocabulary holds. */
async function findTokens(
	store: Store,
	concepts: readonly Concept[],
	vocabulary: Vocabulary,
): Promise<void> {
	await store.run("CREATE TABLE token (concept INTEGER, token INTEGER)");
	await store.appendTo(
		"token",
		["whole", "whole"],
		concepts.flatMap(({ code, system }, id) => {
			const token = vocabulary.find(code, system);
			return token === undefined ? [] : [[id, token]];
		}),
	);
}

async function countUnknown(store: Store, { list, codes }: Concepts): Promise<UnknownCodes> {
	const strange = await store.all<{ concept: number; records: number }>(`
		SELECT concept, count(*) AS records FROM event
		ANTI JOIN token USING (concept) GROUP BY concept`);
	const unmapped = codes.keptUnmapped ? [] : codes.unmapped.top;
	const all = summaryOf([
		...strange.map(({ concept, records }) => ({ ...(list[concept] as Concept), records })),
		...unmapped.map(({ events, ...code }) => ({ ...code, records: events })),
	]);
	return {
		codes: all.codes,
		records: all.events,
		top: all.top.map(({ events, ...code }) => ({ ...code, records: events })),
	};
}

interface PatientRow {
	readonly [column: string]: string | number | null;
	readonly key: string;
	readonly birth: number | null;
	readonly sex: Sex | null;
	readonly death: number | null;
	readonly lastRecord: number | null;
	readonly events: number;
}

async function readHistories(store: Store, unitDays: number): Promise<NewPatient[]> {
	const rows = await store.all<PatientRow>(`
		SELECT key, birth / ${unitDays}::DOUBLE AS birth, sex, death / ${unitDays}::DOUBLE AS death,
			greatest(last / ${unitDays}::DOUBLE,
				(SELECT max(time) FROM final WHERE final.patient = patient.id)) AS "lastRecord",
			(SELECT count(*) FROM final WHERE final.patient = patient.id) AS events
		FROM patient ORDER BY id`);
	const total = rows.reduce((sum, { events }) => sum + events, 0);
	const times = new Float64Array(total);
	const tokens = new Int32Array(total);
	let filled = 0;
	for await (const columns of store.bytes("SELECT time, token FROM final", [8, 4])) {
		const [time, token] = columns as [Uint8Array, Uint8Array];
		new Uint8Array(times.buffer).set(time, 8 * filled);
		new Uint8Array(tokens.buffer).set(token, 4 * filled);
		filled += token.length / 4;
	}
	let end = 0;
	return rows.map(({ key: id, birth, sex, death, lastRecord, events }) => {
		const first = end;
		end += events;
		const own = { tokens: tokens.subarray(first, end), times: times.subarray(first, end) };
		return { id, sex, birth, death, lastRecord, history: historyOf({ id, sex, birth }, own) };
	});
}
