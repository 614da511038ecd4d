import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { allGathered, oneProcess, shared } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { contentSha256, replaceFolder } from "../../base/files/index.js";
import { notesFor } from "../records/bad-rows.js";
import { quoted } from "../records/sql.js";
import { neededMemory, openStore, type RecordSource, type Store } from "../records/store.js";
import { recordUnit, unitBeside } from "../records/tables/values.js";
import { chooseCohort, readRecords, sortEvents } from "./choose-cohort.js";
import {
	contentHash,
	eventsHasher,
	fileHash,
	isObservedInOrder,
	type PatientColumns,
	type PeriodColumns,
	readPatients,
	readPeriods,
} from "./dataset-files.js";
import { makeLabels, markRecords } from "./labels.js";
import {
	fileNames,
	type Manifest,
	manifestName,
	manifestSchema,
	observationRules,
	schemaVersion,
} from "./manifest.js";
import { clipPeriods, gatherPeriods } from "./observation.js";
import { observationWarnings } from "./plausible-times.js";
import type { Preparation, PrepareOptions } from "./prepare-options.js";
import { roundUpTimeRange, type TimeRange } from "./privacy-rounding.js";
import { deathRecord } from "./reading/rules.js";
import { doOrFailOnAllRanks, shardFiles, shardsOf } from "./shards.js";
import { addUserLabels, filesOf } from "./user-labels.js";
import { countValues } from "./values.js";
import { codeKey, type Token } from "./vocabulary.js";

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
	const { communicator = oneProcess, memory, threads, splitsFrom } = options;
	if (communicator.size > 1 && options.values !== null)
		throw new InputError(
			`\`values\` is given, and ${communicator.size} processes share the work; prepare values in one process`,
			{ field: "values", value: options.values },
		);
	let manifest: Manifest | undefined;
	const write = async (partial?: string) => {
		const written = await shared(communicator, () => resolve(partial as string));
		const work = join(written, workName);
		const rankFolder = join(work, String(communicator.rank)); // for data that does not fit in memory
		const store = await doOrFailOnAllRanks(communicator, async () => {
			const sourceFiles = source.files ?? [];
			const labelFiles = await Promise.all(options.labels.map(({ file }) => filesOf(file)));
			await mkdir(rankFolder, { recursive: true });
			return openStore({
				folder: rankFolder,
				memory,
				threads,
				onDisk: (await neededMemory(sourceFiles)) > mostInMemory * memory,
				files: [
					...sourceFiles,
					...labelFiles.flat(),
					...(splitsFrom === undefined ? [] : [splitsFrom]),
					...tableNames.map((name) => join(written, name)),
					...shardFiles(work, communicator),
				],
			});
		});
		const stage = (name: string) => options.onStage?.(name, store);
		try {
			manifest = await build({ store, source, options, stage, notes: [], warnings: [] }, written);
		} finally {
			store.close();
			// Other ranks may still close their stores in it.
			if (communicator.rank === 0) await rm(work, { recursive: true, force: true, maxRetries: 5 });
		}
	};
	if (communicator.rank > 0) await write();
	else await replaceFolder(folder, write, options);
	return shared(communicator, () => manifest as Manifest);
}

/**
 * Refuses a source that ranks read differently: they number patients and codes by themselves. Records have numbers, so
 * another order is another hash.
 */
async function checkSameSource(
	{ store, source, options: { communicator = oneProcess } }: Preparation,
	concepts: unknown,
): Promise<void> {
	if (communicator.size === 1) return;
	const digests = ["record", "patient", "code"].map(async (table) => {
		const [row] = await store.all(
			`SELECT count(*)::VARCHAR AS count, bit_xor(hash(t))::VARCHAR AS hash FROM ${table} t`,
		);
		return [table, row];
	});
	const fingerprint = createHash("sha256")
		.update(JSON.stringify([await Promise.all(digests), concepts]))
		.digest("hex");
	const other = allGathered(communicator, fingerprint).findIndex(
		(digest, _, all) => digest !== all[0],
	);
	if (other > 0)
		throw new InputError(
			`${source.path}: ranks 0 and ${other} read different records; give all processes the same files, and change none while prepare runs`,
		);
}

async function build(preparation: Preparation, folder: string): Promise<Manifest | undefined> {
	const { store, source, options, stage, notes, warnings } = preparation;
	const { communicator = oneProcess } = options;
	stage(`reading ${source.path}`);
	// Every rank reads all records, and then keeps those of its own patients.
	const read = await doOrFailOnAllRanks(communicator, () => readRecords(preparation));
	const { loaded, concepts } = read;
	await checkSameSource(preparation, concepts.list);
	const shards = shardsOf(communicator, await store.count("patient"), join(folder, workName));
	const { vocabulary, dropped } = await chooseCohort(preparation, read, shards);
	const isCut = dropped.cut > 0;

	stage("sorting the events");
	await sortEvents(store, shards, options.memory);
	await shards.each(() => markRecords(store));
	for (const table of ["cohort", "final", "marked"] as const) await shards.merge(store, table);
	if (isCut) await shards.merge(store, "shortened");
	if (communicator.rank > 0) return undefined;
	notes.push(...(await gatherPeriods(store, loaded.observation)));
	if (isCut) notes.push(...(await clipPeriods(store, options.keep)));

	stage("labelling");
	const labels = await makeLabels(store, options.drugs);
	const beside = unitBeside(recordUnit(loaded), "labelTimeIs", options.labelTimeIs);
	let isTimed = false;
	for (const userLabels of options.labels) {
		const added = await addUserLabels(store, userLabels, beside);
		labels.push(added.summary);
		isTimed ||= added.isTimed;
		notes.push(...added.notes);
		warnings.push(...added.warnings);
	}

	stage("writing");
	await writeTables(store, folder);
	await writeJson(join(folder, "vocabulary.json"), { tokens: vocabulary.tokens });
	const periods = await readPeriods(join(folder, "observation.parquet"));
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	const written = await checkWrittenEvents(store, vocabulary.tokens, periods, death);
	const [observed] = await store.all<
		Record<"periods" | "patients" | "firstObserved" | "lastObserved", number>
	>(`
		SELECT count(*) AS periods, count(DISTINCT patient) AS patients,
			coalesce(min(first), 'inf') AS firstObserved, coalesce(max(last), '-inf') AS lastObserved
		FROM period`);
	warnings.push(...observationWarnings({ ...written, ...observed }, loaded));
	notes.push(...writtenNotes(written, options.dedup));
	const patients = await readPatients(join(folder, "patients.parquet"));
	const files: Record<string, string> = {};
	for (const name of fileNames) files[name] = await fileHash(join(folder, name));
	const { like, values, minRecords, minCount, dedup, maxRecords, keep, drugs, deathToken } =
		options;
	const { eventsHash } = written;
	const periodSource = loaded.observation ?? "records";
	const content = {
		schemaVersion,
		source: {
			format: source.format,
			path: source.path,
			axis: loaded.axis,
			records: read.records,
			times: {
				...loaded.times,
				records: recordUnit(loaded),
				labels: isTimed ? beside.unit : undefined,
			},
			notes,
			...(warnings.length > 0 && { warnings }),
		},
		codes: { ...concepts.codes, extra: concepts.codes.extra + read.deathEvents },
		filters: { minRecords, minCount, dedup, maxRecords, keep, drugs, deathToken },
		splits: {
			seed: options.splitSeed,
			parts: [...options.splitParts],
			given: read.splitsGiven,
		},
		counts: countAll(patients, vocabulary.size),
		observation: {
			from: periodSource,
			rule: observationRules[periodSource],
			periods: observed.periods,
			patients: observed.patients,
			recordsOutside: written.outside,
		},
		deaths: patients.death.filter((day) => day !== null).length,
		reach: like ? like.manifest.reach : await trainingTimeRange(store),
		...(values !== null && { values: await countValues(store, vocabulary.tokens, values) }),
		dropped,
		labels,
		...(like && { like: like.manifest.contentHash }),
		eventsHash,
		contentHash: contentHash(vocabulary.tokens, patients, eventsHash, periods),
		files,
	};
	const manifest = manifestSchema.parse({ ...content, sha256: contentSha256(content) });
	await writeJson(join(folder, manifestName), manifest);
	return manifest;
}

/** The longest training history and the greatest age in it, rounded up. Reads tables `final`, `cohort` and `patient`. */
async function trainingTimeRange(store: Store): Promise<TimeRange> {
	const [reach] = await store.all<{ longestDays: number | null; oldestDays: number | null }>(`
		SELECT max(own.last - own.first) AS longestDays, max(own.last - birth) AS oldestDays
		FROM (SELECT patient, min(time) AS first, max(time) AS last FROM final GROUP BY patient) AS own
		JOIN cohort ON cohort.number = own.patient JOIN patient USING (id)
		WHERE split = 'train'`);
	return roundUpTimeRange({ ...reach, longestDays: reach.longestDays ?? 0 });
}

const writeJson = (file: string, value: unknown) =>
	writeFile(file, `${JSON.stringify(value, null, "\t")}\n`);

function countAll({ split, count }: PatientColumns, tokens: number): Manifest["counts"] {
	const none = () => ({ patients: 0, events: 0 });
	const splits = { train: none(), valid: none(), test: none() };
	let events = 0;
	for (const [patient, name] of split.entries()) {
		splits[name].patients++;
		splits[name].events += count[patient];
		events += count[patient];
	}
	return { patients: split.length, events, tokens, splits };
}

const tableNames = [
	"events.parquet",
	"patients.parquet",
	"labels.parquet",
	"observation.parquet",
] as const;

/** Rows per row group of events.parquet. */
const rowGroup = 32768;

/** Writes the tables of a dataset. Reads `final`, `cohort`, `patient`, `label` and `period`. */
async function writeTables(store: Store, folder: string): Promise<void> {
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

/**
 * Reads all written events once: their hash, how many repeat the code of another at the same time or on the same day,
 * as `dedup` counts them, how many came in the source before an earlier event of the same kind (drugs come from
 * separate tables), and how many, other than deaths (token `death`), lie outside the periods.
 */
async function checkWrittenEvents(
	store: Store,
	tokens: readonly Token[],
	periods: PeriodColumns,
	death: number | undefined,
) {
	const isObserved = isObservedInOrder(periods);
	const hasher = eventsHasher();
	const codeOf = codesOf(tokens);
	// By code and rank: the number of the (patient, time) pair, and of the (patient, day) pair, of the last event.
	const lastVisit = new Float64Array(2 * tokens.length).fill(-1);
	const lastDay = new Float64Array(2 * tokens.length).fill(-1);
	const earlier = [-1, -1]; // by rank: the last position in the source of an event of an earlier time
	const latest = [-1, -1]; // the same, this time included
	let [visit, day, patient, time] = [0, 0, -1, Number.NaN];
	const counts = { repeated: 0, repeatedInDay: 0, outOfOrder: 0, records: 0, outside: 0 };
	let [firstRecord, lastRecord] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
	const sql = "SELECT time, token, patient, rank, ord::DOUBLE FROM final";
	for await (const bytes of store.bytes(sql, [8, 4, 4, 4, 8])) {
		hasher.add(bytes[0], bytes[1]);
		// Copies are aligned for numbers of any width.
		const buffers = bytes.map((column) => column.slice().buffer);
		const times = new Float64Array(buffers[0]);
		const tokenColumn = new Int32Array(buffers[1]);
		const patients = new Int32Array(buffers[2]);
		const ranks = new Int32Array(buffers[3]);
		const positions = new Float64Array(buffers[4]);
		for (let row = 0; row < tokenColumn.length; row++) {
			const token = tokenColumn[row];
			const rank = ranks[row];
			const position = positions[row];
			const isOther = patients[row] !== patient;
			const date = Math.floor(times[row]);
			if (isOther) latest.fill(-1);
			if (isOther || date !== Math.floor(time)) day++;
			if (isOther || times[row] !== time) {
				visit++;
				earlier[0] = latest[0];
				earlier[1] = latest[1];
			}
			patient = patients[row];
			time = times[row];
			if (token !== death) {
				counts.records++;
				if (!isObserved(patient, date)) counts.outside++;
				if (time < firstRecord) firstRecord = time;
				if (time > lastRecord) lastRecord = time;
			}
			const code = 2 * codeOf[token] + rank;
			if (lastVisit[code] === visit) counts.repeated++;
			if (lastDay[code] === day) counts.repeatedInDay++;
			lastVisit[code] = visit;
			lastDay[code] = day;
			if (position < earlier[rank]) counts.outOfOrder++;
			if (position > latest[rank]) latest[rank] = position;
		}
	}
	return { ...counts, eventsHash: hasher.digest(), firstRecord, lastRecord };
}

/** A number for the code of each token: ranges of the values of a code share one. */
function codesOf(tokens: readonly Token[]): Int32Array {
	const numbers = new Map<string, number>();
	for (const token of tokens)
		if (!numbers.has(codeKey(token))) numbers.set(codeKey(token), numbers.size);
	return Int32Array.from(tokens, (token) => numbers.get(codeKey(token)) as number);
}

/** What the check of the written events found. */
function writtenNotes(
	{ outside, outOfOrder, repeated, repeatedInDay }: Awaited<ReturnType<typeof checkWrittenEvents>>,
	dedup: PrepareOptions["dedup"],
): string[] {
	const more = repeatedInDay - repeated;
	const dropped = `; --dedup day drops them${more > 0 ? `, and ${more} that repeat a code at another time of the same day` : ""}`;
	return notesFor([
		[outside, `${outside} records lie outside the observation of their patient: kept`],
		[
			outOfOrder,
			`${outOfOrder} events come before an earlier one of the same patient: sorted by time, ties in the order of the source`,
		],
		[
			repeated,
			`${repeated} events repeat another of the same patient, time and code: kept${dedup === "none" ? dropped : ""}`,
		],
	]);
}
