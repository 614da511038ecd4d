import { existsSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../base/errors.js";
import { checkFolderTarget } from "../../base/files/index.js";
import { silentProgress } from "../../base/progress.js";
import { builtInMap, type CodeMap } from "../../data/codes/index.js";
import {
	fileNames,
	type Manifest,
	manifestName,
	prepareDefaults,
	prepare as prepareRecords,
	type PrepareOptions as RecordOptions,
} from "../../data/cohort/index.js";
import { withObservation } from "../../data/records/index.js";
import type { TimeIs } from "../../data/records/tables/column-names.js";
import { readRunRecords } from "../../model/train/index.js";
import { type CodeMapOptions, mapInFile, requiredCodeMap } from "./code-map.js";
import { openRecords, type ReaderOptions } from "./record-formats.js";
import type { Monitoring } from "./training.js";

/** Options of `prepare`. Defaults: `prepareDefaults`. */
export interface PrepareOptions
	extends Partial<Omit<RecordOptions, "map" | "onStage" | "like">>,
		CodeMapOptions,
		Pick<Monitoring, "progress"> {
	/** Format of the records: one of `recordFormats`. */
	readonly format: string;
	/** Options of the format's reader. */
	readonly records?: ReaderOptions | undefined;
	/**
	 * File (CSV or Parquet) with the periods in which patients were observed: patient, start, end. By default those of
	 * the source, or else from the first to the last record of each patient.
	 */
	readonly observation?: string | undefined;
	/** The unit of the times in that file, if it is not that of the records. */
	readonly observationTimeIs?: TimeIs | undefined;
	/**
	 * A run whose vocabulary, code map and rules the dataset shall have, for predictions and external validation. All
	 * patients go into the test split, unless `splitParts`, `splitsFrom` or the source say otherwise.
	 */
	readonly like?: string | undefined;
	/** Level of PheCodes: `integer` (250), or `full` (250.2), which needs `phecodeMap`. */
	readonly level?: "integer" | "full" | undefined;
}

/**
 * Turns records into a dataset: mapped codes, a vocabulary, splits by patient, events ordered by time, and labels.
 * Returns the manifest of the dataset.
 *
 * @example
 * await prepare(["claims.csv"], "data", { format: "csv", records: { system: "icd9" } });
 */
export async function prepare(
	paths: readonly string[],
	folder: string,
	options: PrepareOptions,
): Promise<Manifest> {
	const { format, records = {}, observation, observationTimeIs, like, ...given } = options;
	const { progress = silentProgress } = options;
	refuseUnitAlone(options);
	await checkFolderTarget(folder, options.replace ?? false, manifestName, fileNames);
	const known = like === undefined ? undefined : knownRecords(like);
	const overrides = known ? { ...given, ...rulesLike(known.manifest, options) } : given;
	const map = known ? await requiredCodeMap(known.manifest, options) : await codeMap(options);
	const opened = await openRecords(format, paths, records);
	const source =
		observation === undefined
			? opened
			: withObservation(opened, observation, { ...records, observationTimeIs });
	let timer: NodeJS.Timeout | undefined;
	try {
		const manifest = await prepareRecords(source, folder, {
			...{ ...prepareDefaults, ...overrides, map },
			...(known && { like: known }),
			onStage(stage, store) {
				clearInterval(timer);
				progress.note(stage);
				timer = setInterval(() => {
					const done = store.progress();
					if (done) progress.update({ label: stage, done: Math.round(100 * done), total: 100 });
				}, 500);
			},
		});
		clearInterval(timer);
		progress.finish();
		return manifest;
	} finally {
		clearInterval(timer);
	}
}

/** Refuses the unit of times that nothing has. */
function refuseUnitAlone(options: PrepareOptions): void {
	const files = { observation: options.observation, labels: options.labels?.[0] };
	for (const [unit, name] of [
		["observationTimeIs", "observation"],
		["labelTimeIs", "labels"],
	] as const)
		if (options[unit] !== undefined && files[name] === undefined)
			throw new InputError(`\`${unit}\` needs \`${name}\`: a file whose times are in that unit`, {
				field: unit,
				value: options[unit],
			});
}

/** The vocabulary and the rules of a run, or of a dataset. */
function knownRecords(like: string): ReturnType<typeof readRunRecords> {
	if (!existsSync(join(like, manifestName)))
		throw new InputError(
			`${like} is neither a run nor a dataset: it has no ${manifestName}; give \`like\` the folder that \`trajgpt pretrain --out\` wrote`,
			{ field: "like", value: like },
		);
	return readRunRecords(like);
}

/** The rules of a run's dataset. Other rules are refused: events would not mean the same. */
function rulesLike(
	{ codes, filters, values }: Manifest,
	options: PrepareOptions,
): Partial<Omit<RecordOptions, "map">> {
	const rules = {
		codes: codes.map === null ? "as-is" : "phecode",
		unmapped: codes.keptUnmapped ? "keep" : "drop",
		...{ dedup: filters.dedup, maxRecords: filters.maxRecords, keep: filters.keep },
		...{ drugs: filters.drugs, deathToken: filters.deathToken, minCount: filters.minCount },
		values: values?.quantiles ?? null,
	} as const;
	for (const [name, own] of Object.entries(rules)) {
		const given = options[name as keyof typeof rules];
		if (given !== undefined && given !== own)
			throw new InputError(
				`\`${name}\` is ${given}, and ${options.like} was prepared ${own === null ? "without" : `with ${own}`}; leave it out: \`like\` takes the rules of the run`,
				{ field: name, value: given },
			);
	}
	return {
		...rules,
		minRecords: options.minRecords ?? filters.minRecords,
		splitParts: options.splitParts ?? [0, 0, 100],
	};
}

async function codeMap(options: PrepareOptions): Promise<CodeMap> {
	const { level = "integer" } = options;
	if (level === "full" && options.phecodeMap === undefined)
		throw new InputError(
			"`level` full needs the official map: the built-in table has integer PheCodes only; pass `phecodeMap` FILE",
			{ field: "level", value: level },
		);
	return (await mapInFile(options, level)) ?? builtInMap();
}
