import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { contentSha256 } from "../../base/files/index.js";
import type { RecordSource } from "../records/rows.js";
import type { Store } from "../records/store.js";
import type { TimeIs } from "../records/tables/column-names.js";
import { recordUnit } from "../records/tables/values.js";
import { contentHash, fileHash } from "./content-hash.js";
import {
	fileNames,
	type Manifest,
	manifestName,
	manifestSchema,
	schemaVersion,
} from "./manifest.js";
import { countAll, observationOf } from "./manifest-counts.js";
import { readPatients } from "./patients.js";
import { type PeriodColumns, readPeriods } from "./periods.js";
import { observationWarnings } from "./plausible-times.js";
import type { PrepareOptions } from "./prepare.js";
import { writtenNotes } from "./prepare-messages.js";
import { roundUpTimeRange, type TimeRange } from "./privacy-rounding.js";
import type { ReadRecords } from "./read-records.js";
import { deathRecord } from "./reading/history-rules.js";
import { countValues } from "./value-ranges.js";
import type { Vocabulary } from "./vocabulary.js";
import { writeTables } from "./write-tables.js";
import { checkWrittenEvents } from "./written-events.js";

interface Contents extends Pick<Manifest, "dropped" | "labels"> {
	readonly vocabulary: Vocabulary;
	readonly notes: readonly string[];
	readonly warnings: readonly string[];
	/** The unit of the labels from files, if they have times. */
	readonly labelUnit: TimeIs | undefined;
}

/** Writes a dataset from the tables of a store, and checks what was written. */
export async function writeDataset(
	store: Store,
	source: RecordSource,
	folder: string,
	{ loaded, records, people, deathEvents, concepts }: ReadRecords,
	{ vocabulary, dropped, labels, notes, labelUnit, ...contents }: Contents,
	options: PrepareOptions,
): Promise<Manifest> {
	await writeTables(store, folder);
	await writeJson(join(folder, "vocabulary.json"), { tokens: vocabulary.tokens });
	const periods = await readPeriods(join(folder, "observation.parquet"));
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	const written = await checkWrittenEvents(store, vocabulary.tokens, periods, death);
	const warnings = [
		...contents.warnings,
		...observationWarnings({ ...written, ...observedRange(periods) }, loaded),
	];
	const patients = await readPatients(join(folder, "patients.parquet"));
	const files: Record<string, string> = {};
	for (const name of fileNames) files[name] = await fileHash(join(folder, name));
	const { like, values, minRecords, minCount, dedup, maxRecords, keep, drugs, deathToken } =
		options;
	const { eventsHash } = written;
	const content = {
		schemaVersion,
		source: {
			...{ format: source.format, path: source.path, axis: loaded.axis, records },
			times: { ...loaded.times, records: recordUnit(loaded), labels: labelUnit },
			notes: [...notes, ...writtenNotes(written, dedup)],
			...(warnings.length > 0 && { warnings }),
		},
		codes: { ...concepts.codes, extra: concepts.codes.extra + deathEvents },
		filters: { minRecords, minCount, dedup, maxRecords, keep, drugs, deathToken },
		splits: {
			seed: options.splitSeed,
			parts: [...options.splitParts],
			given: people.given,
		},
		counts: countAll(patients, vocabulary.size),
		observation: observationOf(loaded.observation ?? "records", periods, written.outside),
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
	return roundUpTimeRange({
		longestDays: reach?.longestDays ?? 0,
		oldestDays: reach?.oldestDays ?? null,
	});
}

/** The first and the last observed day. */
const observedRange = ({ start, end }: PeriodColumns) => ({
	firstObserved: start.reduce((first, day) => Math.min(first, day), Number.POSITIVE_INFINITY),
	lastObserved: end.reduce((last, day) => Math.max(last, day), Number.NEGATIVE_INFINITY),
});

const writeJson = (file: string, value: unknown) =>
	writeFile(file, `${JSON.stringify(value, null, "\t")}\n`);
