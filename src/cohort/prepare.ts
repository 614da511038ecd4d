import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { InputError } from "../base/errors.js";
import { builtInMap } from "../codes/index.js";
import { replaceFolder } from "../files/index.js";
import { BadRows } from "../records/bad-rows.js";
import type { RecordSource } from "../records/rows.js";
import { quoted } from "../records/sql.js";
import type { Store } from "../records/store.js";
import { openStore } from "../records/store.js";
import type { CodeOptions } from "./concepts.js";
import { mapCodes } from "./concepts.js";
import { contentHash, eventsHasher, fileHash } from "./content-hash.js";
import type { EventOptions } from "./events-table.js";
import { gatherEvents, numberRecords, sortEvents } from "./events-table.js";
import { knownTokens, selectKnown } from "./known-vocabulary.js";
import { makeLabels } from "./labels.js";
import type { Manifest } from "./manifest.js";
import {
	fileNames,
	manifestName,
	manifestSchema,
	type Observation,
	observationRules,
	schemaVersion,
	valuesVersion,
} from "./manifest.js";
import { clipPeriods, gatherPeriods } from "./observation.js";
import { readPatients } from "./patients.js";
import { addDeaths, gatherPeople } from "./people.js";
import { isObservedInOrder, type PeriodColumns, readPeriods } from "./periods.js";
import { roundUpTimeRange, type TimeRange } from "./privacy-rounding.js";
import { deathRecord } from "./reading/history-rules.js";
import { countDropped, numberTokens, selectCohort } from "./select.js";
import { type SplitParts, usualParts } from "./split.js";
import type { UserLabels } from "./user-labels.js";
import { addUserLabels, filesOf } from "./user-labels.js";
import { countValues, divideValues, knownRanges, learntRanges } from "./value-ranges.js";
import { type Vocabulary, vocabularyOf } from "./vocabulary.js";

export interface PrepareOptions extends EventOptions, CodeOptions {
	/** Minimum number of records per patient. */
	readonly minRecords: number;
	/** Minimum number of records per code in the training split. */
	readonly minCount: number;
	readonly splitSeed: number;
	readonly splitParts: SplitParts;
	/** A file with the splits of patients: CSV or Parquet. */
	readonly splitsFrom?: string | undefined;
	/** Whether to leave out rows that cannot be read; if not, the first is refused. */
	readonly skipBad?: boolean | undefined;
	/** The vocabulary of another dataset, which is kept as it is, and where it comes from. */
	readonly like?: KnownVocabulary | undefined;
	/** Whether a known death becomes the last event of a history. */
	readonly deathToken: boolean;
	readonly labels: readonly UserLabels[];
	/** Memory limit of DuckDB in bytes. */
	readonly memory: number;
	readonly threads?: number | undefined;
	/** Whether an existing dataset may be replaced; true by default. */
	readonly replace?: boolean;
	/** Called at the start of each stage. */
	readonly onStage?: (stage: string, store: Store) => void;
}

/** A vocabulary that a dataset shall have. */
export interface KnownVocabulary {
	readonly vocabulary: Vocabulary;
	/** The manifest of the dataset that it comes from. */
	readonly manifest: Manifest;
}

export const prepareDefaults: PrepareOptions = {
	minRecords: 2,
	minCount: 5,
	splitSeed: 0,
	splitParts: usualParts,
	dedup: "none",
	maxRecords: null,
	keep: "last",
	values: null,
	codes: "phecode",
	get map() {
		return builtInMap();
	},
	unmapped: "drop",
	drugs: "labels",
	deathToken: false,
	labels: [],
	memory: 2 * 1024 ** 3,
};

const tableNames = [
	"events.parquet",
	"patients.parquet",
	"labels.parquet",
	"observation.parquet",
] as const;

/** Rows per row group of events.parquet. */
const rowGroup = 32768;

/**
 * Turns records into a dataset folder, which is written next to its destination and then renamed (see
 * `checkFolderTarget`). Everything learned from data comes from the training split.
 */
export async function prepare(
	source: RecordSource,
	folder: string,
	options: PrepareOptions,
): Promise<Manifest> {
	let manifest: Manifest | undefined;
	const write = async (partial: string) => {
		const work = join(partial, ".work");
		await mkdir(work);
		const labelFiles = (await Promise.all(options.labels.map(({ file }) => filesOf(file)))).flat();
		const store = await openStore({
			folder: work,
			memory: options.memory,
			threads: options.threads,
			files: [
				...(source.files ?? []),
				...labelFiles,
				...(options.splitsFrom === undefined ? [] : [options.splitsFrom]),
				...tableNames.map((name) => join(partial, name)),
			],
		});
		try {
			manifest = await build(store, source, partial, options);
		} finally {
			store.close();
			await rm(work, { recursive: true, force: true });
		}
	};
	await replaceFolder(folder, write, options);
	return manifest as Manifest;
}

async function build(
	store: Store,
	source: RecordSource,
	folder: string,
	options: PrepareOptions,
): Promise<Manifest> {
	const stage = (name: string) => options.onStage?.(name, store);
	stage(`reading ${source.path}`);
	const bad = options.skipBad ? new BadRows() : undefined;
	const loaded = await source.load(store, bad);
	const notes = [...loaded.notes, ...(bad ? badRowNotes(bad) : [])];
	const warnings = [...(loaded.warnings ?? [])];
	const records = await store.count("record");
	if (records === 0)
		throw new InputError(
			`${source.path} contains no records; expected at least one (patient, time, code)`,
		);
	stage("gathering the people");
	const people = await gatherPeople(store, options);
	notes.push(...people.notes);
	const deathEvents = options.deathToken ? await addDeaths(store) : 0;
	stage("mapping codes");
	const concepts = await mapCodes(store, options);
	warnings.push(...mappedWarnings(concepts.codes));
	const valued = await store.count("record WHERE value IS NOT NULL");
	await numberRecords(store, options);
	stage("choosing the cohort");
	const { duplicates, cut } = await gatherEvents(store, options, loaded.axis);
	const { like, values, minRecords, minCount } = options;
	let { list } = concepts;
	if (values !== null) {
		if (valued === 0)
			notes.push(
				"no record has a numeric value, or it was not read: there is none to make tokens of",
			);
		if (!like) await selectCohort(store, minRecords, minCount);
		const ranges = like
			? knownRanges(list, like.vocabulary)
			: await learntRanges(store, list, values, minCount);
		list = await divideValues(store, list, ranges);
	}
	if (like) await selectKnown(store, list, like.vocabulary, minRecords);
	else await selectCohort(store, minRecords, minCount, values === null ? "concept" : "code");
	if (like && (await store.count("kept_patient")) === 0) throw nobodyKnown(source, options);
	const tokens = like ? knownTokens(like.vocabulary) : await numberTokens(store, list);
	if (tokens.length === 0) throw emptyVocabulary(source, records, options);
	const vocabulary = vocabularyOf(tokens);
	const dropped = await countDropped(store, list, like !== undefined);

	stage("sorting the events");
	await sortEvents(store);
	const { notes: periodNotes } = await gatherPeriods(store, loaded.observation);
	notes.push(...periodNotes);
	if (cut > 0) notes.push(...(await clipPeriods(store, options.keep)));
	stage("labelling");
	const labels = await makeLabels(store, options.drugs);
	for (const given of options.labels) {
		const { summary, notes: more } = await addUserLabels(store, given, loaded.axis);
		labels.push(summary);
		notes.push(...more);
	}

	stage("writing");
	await writeFiles(store, folder);
	await writeJson(join(folder, "vocabulary.json"), { tokens: vocabulary.tokens });
	const periods = await readPeriods(join(folder, "observation.parquet"));
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	const { eventsHash, repeated, outOfOrder, outside } = await checkWrittenEvents(
		store,
		vocabulary.size,
		periods,
		death,
	);
	if (outside > 0)
		notes.push(`${outside} records lie outside the observation of their patient: kept`);
	if (outOfOrder > 0)
		notes.push(
			`${outOfOrder} events come before an earlier one of the same patient: sorted by time, ties in the order of the source`,
		);
	if (repeated > 0)
		notes.push(
			`${repeated} events repeat another of the same patient, time and code: kept${options.dedup === "none" ? "; --dedup day drops them" : ""}`,
		);
	const patients = await readPatients(join(folder, "patients.parquet"));
	const files: Record<string, string> = {};
	for (const name of fileNames) files[name] = await fileHash(join(folder, name));
	const manifest = manifestSchema.parse({
		schemaVersion: options.values === null ? schemaVersion : valuesVersion,
		source: {
			...{ format: source.format, path: source.path, axis: loaded.axis, records, notes },
			...(warnings.length > 0 && { warnings }),
		},
		codes: { ...concepts.codes, extra: concepts.codes.extra + deathEvents },
		filters: {
			minRecords: options.minRecords,
			minCount: options.minCount,
			dedup: options.dedup,
			maxRecords: options.maxRecords,
			keep: options.keep,
			drugs: options.drugs,
			deathToken: options.deathToken,
		},
		splits: {
			seed: options.splitSeed,
			parts: [...options.splitParts],
			given: people.given,
		},
		counts: countAll(patients, vocabulary.size),
		observation: observationOf(loaded.observation ?? "records", periods, outside),
		deaths: patients.death.filter((day) => day !== null).length,
		reach: like ? like.manifest.reach : await trainingTimeRange(store),
		...(values !== null && { values: await countValues(store, vocabulary.tokens, values) }),
		dropped: { duplicates, cut, drugs: concepts.drugs, ...dropped },
		labels,
		...(like && { like: like.manifest.contentHash }),
		eventsHash,
		contentHash: contentHash(vocabulary.tokens, patients, eventsHash, periods),
		files,
	});
	await writeJson(join(folder, manifestName), manifest);
	return manifest;
}

/** Says how many rows were left out as unreadable, and what is wrong with the first. */
const badRowNotes = ({ count, first }: BadRows): string[] =>
	count === 0
		? []
		: [
				`${count} ${count === 1 ? "row" : "rows"} that cannot be read: left out`,
				...first.map((one) => `left out: ${one}`),
			];

/** Warns if fewer than half of the diagnoses are in the map, and names the most frequent of the others. */
function mappedWarnings({ map, mapped, unmapped }: Manifest["codes"]): string[] {
	const all = mapped + unmapped.events;
	if (map === null || 2 * mapped >= all) return [];
	const top = unmapped.top
		.slice(0, 10)
		.map(({ code, system, events }) => `${system} ${code} (${events})`);
	return [
		`only ${mapped} of ${all} diagnoses have a PheCode in ${map}; the most frequent without one: ${top.join(", ")}; check the code system of the source, or set \`codes\` to as-is`,
	];
}

const nobodyKnown = ({ path }: RecordSource, { minRecords, like }: PrepareOptions) =>
	new InputError(
		`${path}: no patient has ${minRecords} records of the ${like?.vocabulary.size} codes of the run; check that the codes are of the same classification, and name it with \`system\``,
		{ field: "like" },
	);

function emptyVocabulary(source: RecordSource, records: number, o: PrepareOptions) {
	return new InputError(
		`${source.path}: no code of ${records} records is left: none has ${o.minCount} records among training patients with at least ${o.minRecords} records; lower \`minCount\` or \`minRecords\`, add patients, or set \`codes\` to as-is to see whether the codes could not be mapped`,
	);
}

async function writeFiles(store: Store, folder: string): Promise<void> {
	const copy = (sql: string, name: (typeof tableNames)[number]) =>
		store.run(
			`COPY (${sql}) TO ${quoted(resolve(folder, name))} (FORMAT parquet, ROW_GROUP_SIZE ${rowGroup})`,
		);
	await copy("SELECT patient, time, token FROM final", "events.parquet");
	await copy(
		`SELECT key AS id, birth, sex, death, split,
			(sum(own.count) OVER (ORDER BY number) - own.count)::INTEGER AS first, own.count AS count
		FROM cohort JOIN patient USING (id)
		JOIN (SELECT patient, count(*)::INTEGER AS count FROM final GROUP BY patient) AS own
			ON own.patient = cohort.number
		ORDER BY number`,
		"patients.parquet",
	);
	await copy(
		`SELECT task, patient, day AS time, events, value FROM label
		ORDER BY task, patient, day`,
		"labels.parquet",
	);
	await copy(
		`SELECT patient, first AS start, last AS "end" FROM period ORDER BY patient, start`,
		"observation.parquet",
	);
}

/** The longest training history and the greatest age in it, rounded up. Reads tables `final`, `cohort` and `patient`. */
async function trainingTimeRange(store: Store): Promise<TimeRange> {
	const [reach] = await store.all<{ longestDays: number | null; oldestDays: number | null }>(`
		SELECT max(own.last - own.first) AS longestDays, max(own.last - birth) AS oldestDays
		FROM (SELECT patient, min(time) AS first, max(time) AS last FROM final GROUP BY patient) AS own
		JOIN cohort ON cohort.number = own.patient JOIN patient USING (id)
		WHERE split = 'train'`);
	return roundUpTimeRange({
		longestDays: reach?.longestDays ?? 0,
		oldestDays: reach?.oldestDays ?? null,
	});
}

/**
 * Reads all written events once: their hash, how many repeat another, how many came in the source before an
 * earlier event of the same kind (drugs come from separate tables), and how many, other than deaths (token
 * `death`), lie outside the periods.
 */
async function checkWrittenEvents(
	store: Store,
	tokens: number,
	periods: PeriodColumns,
	death: number | undefined,
) {
	const isObserved = isObservedInOrder(periods);
	const hasher = eventsHasher();
	const lastSeen = new Float64Array(tokens).fill(-1); // number of the (patient, time) pair at which the token last occurred
	const earlier = [-1, -1]; // by rank: the last position in the source of an event of an earlier time
	const latest = [-1, -1]; // the same, this time included
	let [visit, patient, time, repeated, outOfOrder, outside] = [0, -1, Number.NaN, 0, 0, 0];
	const sql = "SELECT time, token, patient, rank, ord::DOUBLE FROM final";
	for await (const columns of store.bytes(sql, [8, 4, 4, 4, 8])) {
		const bytes = columns as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array];
		hasher.add(bytes[0], bytes[1]);
		const times = new Float64Array(copied(bytes[0]));
		const tokenColumn = new Int32Array(copied(bytes[1]));
		const patients = new Int32Array(copied(bytes[2]));
		const ranks = new Int32Array(copied(bytes[3]));
		const places = new Float64Array(copied(bytes[4]));
		for (let row = 0; row < tokenColumn.length; row++) {
			const token = tokenColumn[row] as number;
			const rank = ranks[row] as number;
			const place = places[row] as number;
			if (patients[row] !== patient) latest.fill(-1);
			if (patients[row] !== patient || times[row] !== time) {
				visit++;
				earlier[0] = latest[0] as number;
				earlier[1] = latest[1] as number;
			}
			patient = patients[row] as number;
			time = times[row] as number;
			if (!isObserved(patient, Math.floor(time)) && token !== death) outside++;
			if (lastSeen[token] === visit) repeated++;
			lastSeen[token] = visit;
			if (place < (earlier[rank] as number)) outOfOrder++;
			if (place > (latest[rank] as number)) latest[rank] = place;
		}
	}
	return { eventsHash: hasher.digest(), repeated, outOfOrder, outside };
}

/** Copies bytes to a new buffer, which is aligned for numbers of any width. */
const copied = (bytes: Uint8Array): ArrayBuffer => bytes.slice().buffer as ArrayBuffer;

const writeJson = (file: string, value: unknown) =>
	writeFile(file, `${JSON.stringify(value, null, "\t")}\n`);

const observationOf = (
	from: Observation["from"],
	{ patient }: PeriodColumns,
	recordsOutside: number,
): Observation => ({
	from,
	rule: observationRules[from],
	periods: patient.length,
	// Sorted by patient.
	patients: patient.reduce((n, own, row) => n + Number(row === 0 || own !== patient[row - 1]), 0),
	recordsOutside,
});

function countAll(
	{ split, count }: Awaited<ReturnType<typeof readPatients>>,
	tokens: number,
): Manifest["counts"] {
	const none = () => ({ patients: 0, events: 0 });
	const splits = { train: none(), valid: none(), test: none() };
	for (const [at, name] of split.entries()) {
		splits[name].patients++;
		splits[name].events += count[at] as number;
	}
	return {
		patients: split.length,
		events: count.reduce((sum, n) => sum + n, 0),
		tokens,
		splits,
	};
}
