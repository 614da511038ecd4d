import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { allGathered, type Communicator, oneProcess, shared } from "../base/communicator.js";
import { InputError } from "../base/errors.js";
import { builtInMap } from "../codes/index.js";
import { replaceFolder } from "../files/index.js";
import { BadRows } from "../records/bad-rows.js";
import { neededMemory } from "../records/needed-memory.js";
import type { RecordSource } from "../records/rows.js";
import type { Store } from "../records/store.js";
import { openStore } from "../records/store.js";
import type { CodeOptions } from "./concepts.js";
import { mapCodes } from "./concepts.js";
import { contentHash, fileHash } from "./content-hash.js";
import type { EventOptions } from "./events-table.js";
import { gatherEvents, numberRecords, sortEvents } from "./events-table.js";
import { knownTokens, selectKnown } from "./known-vocabulary.js";
import { makeLabels, markRecords } from "./labels.js";
import type { Manifest } from "./manifest.js";
import {
	fileNames,
	manifestName,
	manifestSchema,
	schemaVersion,
	valuesVersion,
} from "./manifest.js";
import { countAll, observationOf } from "./manifest-counts.js";
import { clipPeriods, gatherPeriods } from "./observation.js";
import { readPatients } from "./patients.js";
import { addDeaths, gatherPeople } from "./people.js";
import { readPeriods } from "./periods.js";
import { badRowNotes, emptyVocabulary, mappedWarnings, nobodyKnown } from "./prepare-messages.js";
import { roundUpTimeRange, type TimeRange } from "./privacy-rounding.js";
import { deathRecord } from "./reading/history-rules.js";
import { countDropped, numberTokens, selectCohort } from "./select.js";
import { shardFiles, shardsOf, together } from "./shards.js";
import { type SplitParts, usualParts } from "./split.js";
import type { UserLabels } from "./user-labels.js";
import { addUserLabels, filesOf } from "./user-labels.js";
import { countValues, divideValues, knownRanges, learntRanges } from "./value-ranges.js";
import { type Vocabulary, vocabularyOf } from "./vocabulary.js";
import { tableNames, writeTables } from "./write-tables.js";
import { checkWrittenEvents } from "./written-events.js";

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
	/** The processes that share the work; all see the folder of the dataset. One by default. */
	readonly communicator?: Communicator | undefined;
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

/** The folder for data that does not fit in memory, and for tables that ranks pass to each other. */
const workName = ".work";

/** The share of the memory that records may take; sorting and joining need the rest. */
const mostInMemory = 0.75;

/**
 * Turns records into a dataset folder, which is written next to its destination and then renamed (see
 * `checkFolderTarget`). Everything learned from data comes from the training split.
 */
export async function prepare(
	source: RecordSource,
	folder: string,
	options: PrepareOptions,
): Promise<Manifest> {
	const { communicator = oneProcess } = options;
	if (communicator.size > 1 && options.values !== null)
		throw new InputError(
			`\`values\` is given, and ${communicator.size} processes share the work; prepare values in one process`,
			{ field: "values", value: options.values },
		);
	const openWork = async (own: string, partial: string) => {
		const labelFiles = (await Promise.all(options.labels.map(({ file }) => filesOf(file)))).flat();
		await mkdir(own, { recursive: true });
		return openStore({
			folder: own,
			memory: options.memory,
			threads: options.threads,
			onDisk: (await neededMemory(source.files ?? [])) > mostInMemory * options.memory,
			files: [
				...(source.files ?? []),
				...labelFiles,
				...(options.splitsFrom === undefined ? [] : [options.splitsFrom]),
				...tableNames.map((name) => join(partial, name)),
				...shardFiles(join(partial, workName), communicator),
			],
		});
	};
	let manifest: Manifest | undefined;
	const write = async (partial: string) => {
		const work = join(partial, workName);
		const own = join(work, String(communicator.rank)); // for data that does not fit in memory
		const store = await together(communicator, () => openWork(own, partial));
		try {
			manifest = await build(store, source, partial, options);
		} finally {
			store.close();
			// Other ranks may still close their stores in it.
			if (communicator.rank === 0) await rm(work, { recursive: true, force: true, maxRetries: 5 });
		}
	};
	const shareFolder = (partial?: string) => shared(communicator, () => resolve(partial as string));
	if (communicator.rank > 0) await write(await shareFolder());
	else
		await replaceFolder(
			folder,
			async (partial) => {
				await shareFolder(partial);
				await write(partial);
			},
			options,
		);
	return shared(communicator, () => manifest as Manifest);
}

/** Refuses a source that ranks read differently: they number patients and codes by themselves. */
async function checkSameSource(
	store: Store,
	source: RecordSource,
	concepts: unknown,
	communicator: Communicator,
): Promise<void> {
	if (communicator.size === 1) return;
	const digests = ["record", "patient", "code"].map(async (table) => {
		const [row] = await store.all(
			`SELECT count(*)::VARCHAR AS count, bit_xor(hash(t))::VARCHAR AS hash FROM ${table} t`,
		);
		return [table, row];
	});
	const own = createHash("sha256")
		.update(JSON.stringify([await Promise.all(digests), concepts]))
		.digest("hex");
	const other = allGathered(communicator, own).findIndex((digest, _, all) => digest !== all[0]);
	if (other > 0)
		throw new InputError(
			`${source.path}: ranks 0 and ${other} read different records; give all processes the same files, and change none while prepare runs`,
		);
}

async function build(
	store: Store,
	source: RecordSource,
	folder: string,
	options: PrepareOptions,
): Promise<Manifest | undefined> {
	const { communicator = oneProcess } = options;
	const stage = (name: string) => options.onStage?.(name, store);
	stage(`reading ${source.path}`);
	// Every rank reads all records, and then keeps those of its own patients.
	const read = await together(communicator, () => readRecords(store, source, options, stage));
	const { loaded, notes, warnings, records, people, deathEvents, concepts, valued } = read;
	await checkSameSource(store, source, concepts.list, communicator);
	const shards = shardsOf(communicator, await store.count("patient"), join(folder, workName));
	const gathered = await shards.each(async () => {
		await numberRecords(store, options, shards);
		stage("choosing the cohort");
		return gatherEvents(store, options, loaded.axis);
	});
	const [duplicates = 0, cut = 0] = shards.sums([gathered.duplicates, gathered.cut]);
	const { like, values, minRecords, minCount } = options;
	let { list } = concepts;
	if (values !== null) {
		if (valued === 0)
			notes.push(
				"no record has a numeric value, or it was not read: there is none to make tokens of",
			);
		if (!like) await selectCohort(store, minRecords, minCount, shards);
		const ranges = like
			? knownRanges(list, like.vocabulary)
			: await learntRanges(store, list, values, minCount);
		list = await divideValues(store, list, ranges);
	}
	if (like) await shards.each(() => selectKnown(store, list, like.vocabulary, minRecords));
	else
		await selectCohort(store, minRecords, minCount, shards, values === null ? "concept" : "code");
	const [kept] = shards.sums([await store.count("kept_patient")]);
	if (like && kept === 0) throw nobodyKnown(source, options);
	const tokens = like ? knownTokens(like.vocabulary) : await numberTokens(store, list);
	if (tokens.length === 0) throw emptyVocabulary(source, records, options);
	const vocabulary = vocabularyOf(tokens);
	const dropped = await countDropped(store, list, like !== undefined, shards);

	stage("sorting the events");
	await sortEvents(store, shards, options.memory);
	await shards.each(() => markRecords(store));
	for (const table of ["cohort", "final", "marked"] as const) await shards.merge(store, table);
	if (cut > 0) await shards.merge(store, "shortened");
	if (communicator.rank > 0) return undefined;
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
	await writeTables(store, folder);
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

/** Reads the source, gathers its people and maps its codes. */
async function readRecords(
	store: Store,
	source: RecordSource,
	options: PrepareOptions,
	stage: (name: string) => void,
) {
	const bad = options.skipBad ? new BadRows() : undefined;
	const loaded = await source.load(store, bad);
	const records = await store.count("record");
	if (records === 0)
		throw new InputError(
			`${source.path} contains no records; expected at least one (patient, time, code)`,
		);
	stage("gathering the people");
	const people = await gatherPeople(store, options);
	const deathEvents = options.deathToken ? await addDeaths(store) : 0;
	stage("mapping codes");
	const concepts = await mapCodes(store, options);
	return {
		...{ loaded, records, people, deathEvents, concepts },
		notes: [...loaded.notes, ...(bad ? badRowNotes(bad) : []), ...people.notes],
		warnings: [...(loaded.warnings ?? []), ...mappedWarnings(concepts.codes)],
		valued: await store.count("record WHERE value IS NOT NULL"),
	};
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

const writeJson = (file: string, value: unknown) =>
	writeFile(file, `${JSON.stringify(value, null, "\t")}\n`);
