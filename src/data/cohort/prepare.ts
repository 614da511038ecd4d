import { createHash } from "node:crypto";
import { mkdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { allGathered, type Communicator, oneProcess, shared } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { replaceFolder } from "../../base/files/index.js";
import { neededMemory, openStore, type RecordSource, type Store } from "../records/store.js";
import { recordUnit } from "../records/tables/values.js";
import { chooseCohort, readRecords } from "./choose-cohort.js";
import { sortEvents } from "./events-table.js";
import { makeLabels, markRecords } from "./labels.js";
import type { Manifest } from "./manifest.js";
import { clipPeriods, gatherPeriods } from "./observation.js";
import type { PrepareOptions } from "./prepare-options.js";
import { doOrFailOnAllRanks, shardFiles, shardsOf } from "./shards.js";
import { addUserLabels, filesOf, labelUnit } from "./user-labels.js";
import { tableNames, writeDataset } from "./write-dataset.js";

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
	const openWork = async (rankFolder: string, partial: string) => {
		const labelFiles = (await Promise.all(options.labels.map(({ file }) => filesOf(file)))).flat();
		await mkdir(rankFolder, { recursive: true });
		return openStore({
			folder: rankFolder,
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
		const rankFolder = join(work, String(communicator.rank)); // for data that does not fit in memory
		const store = await doOrFailOnAllRanks(communicator, () => openWork(rankFolder, partial));
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

/**
 * Refuses a source that ranks read differently: they number patients and codes by themselves. Records have numbers, so
 * another order is another hash.
 */
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
	const read = await doOrFailOnAllRanks(communicator, () =>
		readRecords(store, source, options, stage),
	);
	await checkSameSource(store, source, read.concepts.list, communicator);
	const shards = shardsOf(communicator, await store.count("patient"), join(folder, workName));
	const cohort = await chooseCohort(store, source, read, shards, options, stage);
	const isCut = cohort.dropped.cut > 0;

	stage("sorting the events");
	await sortEvents(store, shards, options.memory);
	await shards.each(() => markRecords(store));
	for (const table of ["cohort", "final", "marked"] as const) await shards.merge(store, table);
	if (isCut) await shards.merge(store, "shortened");
	if (communicator.rank > 0) return undefined;
	const notes = [...read.notes, ...cohort.notes];
	notes.push(...(await gatherPeriods(store, read.loaded.observation)).notes);
	if (isCut) notes.push(...(await clipPeriods(store, options.keep)));

	stage("labelling");
	const labels = await makeLabels(store, options.drugs);
	const warnings = [...read.warnings];
	const beside = labelUnit(recordUnit(read.loaded), options.labelTimeIs);
	let isTimed = false;
	for (const given of options.labels) {
		const added = await addUserLabels(store, given, beside);
		labels.push(added.summary);
		isTimed ||= added.isTimed;
		notes.push(...added.notes);
		warnings.push(...added.warnings);
	}

	stage("writing");
	const contents = {
		...cohort,
		labels,
		notes,
		warnings,
		labelUnit: isTimed ? beside.unit : undefined,
	};
	return writeDataset(store, source, folder, read, contents, options);
}
