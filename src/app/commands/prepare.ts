import { existsSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import { InputError } from "../../base/errors.js";
import { checkFolderTarget } from "../../base/files/index.js";
import { silentProgress } from "../../base/progress.js";
import { percent, table } from "../../base/table.js";
import { builtInMap, type CodeMap } from "../../data/codes/index.js";
import {
	dedupRules,
	drugUses,
	fileNames,
	type Manifest,
	manifestName,
	prepareDefaults,
	prepare as prepareRecords,
	type PrepareOptions as RecordOptions,
	type SplitParts,
} from "../../data/cohort/index.js";
import {
	isTaskName,
	labelRules,
	reservedTasks,
	taskNameRule,
	taskOfLabels,
} from "../../data/cohort/label-rules.js";
import { withObservation } from "../../data/records/index.js";
import { type TimeIs, timeUnits } from "../../data/records/tables/column-names.js";
import { readRunRecords } from "../../model/train/index.js";
import { type CodeMapOptions, mapInFile, requiredCodeMap } from "../workflows/code-map.js";
import { addFields, optionsOf } from "./fields.js";
import { nameFlags } from "./flags.js";
import { communicatorOf, type Io, printJson, progressOf } from "./io.js";
import { deathsText } from "./observation-text.js";
import { labelTimeField } from "./open-run.js";
import {
	addGroup,
	byteSize,
	seedNumber,
	splitParts,
	threadCount,
	wholeNumber,
} from "./option-values.js";
import type { Monitoring } from "./pretrain/training.js";
import { openRecords, type ReaderOptions, recordFields, recordFormats } from "./records.js";
import { mayRepeat } from "./repeated-options.js";

interface Options extends Omit<PrepareOptions, "format" | "records"> {
	readonly from: string;
	readonly out: string;
	readonly label?: readonly { task: string; file: string }[];
	readonly seed: number;
	readonly splits: SplitParts;
	readonly force?: true;
	readonly json?: true;
	readonly [records: string]: unknown;
}

const description = `Turn health records into a dataset: mapped codes, a vocabulary, splits by patient, events ordered by
time, and labels.

Formats (--from):
${Object.entries(recordFormats)
	.map(([name, { about }]) => `  ${name.padEnd(9)}${about}`)
	.join("\n")}

ICD-9-CM and ICD-10-CM diagnoses become PheCodes; other codes stay, except SNOMED diagnoses if
--phecode-map has them. Patients are assigned to train, valid and test by a seeded hash of their id,
80/10/10 or as set by --splits, unless the source names splits. Everything learned from data comes
from the training patients alone. docs/guides has one page per format.

All times of a command have one unit: records, prescriptions, births, deaths, labels and observation
are read as --time-is says, unless an option such as --label-time-is names another. Datasets hold days.`;

export const examples = {
	"trajgpt prepare sim --from csv --min-records 50 --out data":
		"a dataset from the output of trajgpt simulate",
	'trajgpt prepare claims.csv --from csv --code "ICD9_DGNS_CD_*" --people people.csv --out data':
		"several columns of codes",
	"trajgpt prepare --from omop --db postgres://me@host/cdm --out data": "from PostgreSQL",
	"trajgpt prepare other --from csv --like runs/sim --out other-data":
		"records of another hospital, for trajgpt evaluate runs/sim --dataset other-data",
	"trajgpt prepare meds --from meds --splits-from splits.csv --out data": "published splits",
	"trajgpt prepare dx.csv.gz --from csv --join adm.csv.gz --on hadm_id --system icd9 --out data":
		"dates in another table",
};

export function command(io: Io): Command {
	const d = prepareDefaults;
	const made = new Command("prepare")
		.description(description)
		.argument("[source...]", "files or folder with the records")
		.addOption(
			new Option("--from <format>", "format of the records")
				.choices(Object.keys(recordFormats))
				.makeOptionMandatory(),
		)
		.requiredOption("--out <dataset>", "dataset folder to write")
		.option(
			"--like <run>",
			"take the vocabulary, code map and rules of a run, for external validation; all patients go into the test split unless --splits or --splits-from say otherwise",
		)
		.option("--force", "replace an existing dataset")
		.addOption(
			new Option("--memory <size>", "memory limit, above which data goes to disk")
				.argParser(byteSize)
				.default(d.memory, "2GB"),
		)
		.option("--threads <n>", "number of threads (default: all cores)", threadCount)
		.option("--json", "print the manifest as one JSON document");
	addCohortOptions(made);
	addFields(made, recordFields);
	nameFlags(made, { source: "SOURCE", format: "--from", labels: "--label" });
	return made.action((paths: string[], options: Options) => act(io, made, paths, options));
}

function addCohortOptions(command: Command): void {
	const d = prepareDefaults;
	const option = (flags: string, description: string) => new Option(flags, description);
	addGroup(command, "Codes:", [
		option("--codes <what>", "map codes to PheCodes, or keep them as they are")
			.choices(["phecode", "as-is"])
			.default(d.codes),
		option("--level <level>", "level of PheCodes: 250, or 250.2 (needs --phecode-map)")
			.choices(["integer", "full"])
			.default("integer"),
		option(
			"--phecode-map <file>",
			"use the official map (CSV), or one of your own that may map SNOMED, instead of the built-in table",
		),
		option("--keep-ignored", "use the rows that the official map marks to ignore"),
		option("--unmapped <what>", "drop ICD codes that are not in the map, or keep them as they are")
			.choices(["drop", "keep"])
			.default(d.unmapped),
		option(
			"--values <quantiles:n>",
			"make the numeric values of a code tokens, by quantile of the training patients' values: quantiles:10",
		).argParser(quantilesOf),
	]);
	addGroup(command, "Cohort:", [
		option("--min-records <n>", "minimum records per patient (paper: 50)")
			.argParser(wholeNumber(1, 1_000_000_000))
			.default(d.minRecords),
		option("--min-count <n>", "minimum training records per code (paper: 50000)")
			.argParser(wholeNumber(1, 1_000_000_000))
			.default(d.minCount),
		option(
			"--dedup <rule>",
			"keep one record per patient and code within a day or month, or keep all",
		)
			.choices(dedupRules)
			.default(d.dedup),
		option("--max-records <n>", "maximum records per patient").argParser(
			wholeNumber(1, 1_000_000_000),
		),
		option("--keep <end>", "end of a longer history to keep")
			.choices(["last", "first"])
			.default(d.keep),
		option(
			"--drugs <use>",
			"whether records of kind drug are events (tokens), count for the labels only, or are left out",
		)
			.choices(drugUses)
			.default(d.drugs),
		option(
			"--observation <file>",
			"table of the periods in which patients were observed: patient, start, end",
		),
		option(
			"--observation-time-is <what>",
			"meaning of the times in --observation (default: as in the records)",
		).choices(timeUnits),
		option(
			"--skip-bad",
			"leave out rows that cannot be read, and say how many (default: refuse the first)",
		),
		option("--death-token", "add death, where known, as an event"),
		mayRepeat(
			option(
				"--label <task=file>",
				"labels of your own, a file (patient, time, value) or a folder of MEDS label files; may be repeated",
			),
			labelOf,
		),
		...optionsOf("labelTimeIs", labelTimeField("all --label files")),
		option(
			"--splits-from <file>",
			"published splits (CSV or Parquet): patient, split; also subject_splits.parquet of MEDS",
		),
		option("--seed <n>", "seed of the split").argParser(seedNumber).default(d.splitSeed),
		option("--splits <percents>", "percentages of patients for training, validation and test")
			.argParser(splitParts)
			.default(d.splitParts, d.splitParts.join(",")),
	]);
}

function quantilesOf(text: string): number {
	const [, number] = /^quantiles:(\d{1,3})$/.exec(text) ?? [];
	const quantiles = Number(number);
	if (quantiles >= 2 && quantiles <= 100) return quantiles;
	throw new InputError(`--values is "${text}"; expected quantiles:n with n from 2 to 100`);
}

function labelOf(text: string, before: readonly { task: string; file: string }[] = []) {
	const [, task, file] = /^([^=]*)=(.+)$/.exec(text) ?? [];
	if (!task || !file || !isTaskName(task))
		throw new InputError(
			`--label is "${text}"; expected a task and a file, as in stroke=labels.csv; the name of a task has ${taskNameRule}`,
		);
	if (reservedTasks.includes(task))
		throw new InputError(
			`--label names "${task}", which is a task without labels of your own; choose another name`,
		);
	if (Object.hasOwn(labelRules, task) || before.some((label) => label.task === task))
		throw new InputError(`--label gives the task "${task}" a second time; choose another name`);
	return [...before, { task, file }];
}

async function act(
	io: Io,
	command: Command,
	paths: readonly string[],
	options: Options,
): Promise<void> {
	const { from, out, label, seed, splits, force, json, ...more } = options;
	const isTyped = (name: string) => command.getOptionValueSource(name) === "cli";
	// A run brings its own rules: the defaults of these options do not replace them.
	const rules = Object.fromEntries(
		Object.entries(more).filter(([name]) => more.like === undefined || isTyped(name)),
	);
	const manifest = await prepare(paths, out, {
		...rules,
		format: from,
		records: options,
		...{ splitSeed: seed, replace: force ?? false, progress: progressOf(io) },
		communicator: communicatorOf(io),
		...((more.like === undefined || isTyped("splits")) && { splitParts: splits }),
		...(label && { labels: label }),
	});
	for (const note of manifest.source.notes) io.stderr.write(`note: ${note}\n`);
	for (const warning of manifest.source.warnings ?? []) io.stderr.write(`warning: ${warning}\n`);
	if (json) printJson(io, manifest);
	else io.stdout.write(render(out, manifest) + (more.like ? unknownText(more.like, manifest) : ""));
}

/** What the run does not know. */
function unknownText(run: string, { codes, dropped, source }: Manifest): string {
	const unmapped = codes.keptUnmapped ? [] : codes.unmapped.top;
	const top = [...unmapped, ...dropped.unknownCodes.top]
		.sort((a, b) => b.events - a.events)
		.slice(0, 10);
	const records = dropped.unknownCodes.events + (codes.keptUnmapped ? 0 : codes.unmapped.events);
	if (records === 0) return `\n${run} knows every code\n`;
	return `\n${run} does not know the codes of ${records} records (${percent(records, source.records)}); the most frequent:\n${table(
		["code", "system", "records"],
		top.map(({ code, system, events }) => [code, system, events]),
	)}`;
}

function render(folder: string, manifest: Manifest): string {
	const { counts, codes, dropped, labels, observation, deaths, values } = manifest;
	const splits = Object.entries(counts.splits).map(([name, { patients, events }]) => [
		name,
		patients,
		events,
	]);
	const diagnoses = codes.mapped + codes.unmapped.events;
	const lost = [
		["codes not in the map", codes.unmapped.codes, codes.keptUnmapped ? 0 : codes.unmapped.events],
		["drugs", "", dropped.drugs],
		["repetitions", "", dropped.duplicates],
		["records beyond the maximum", "", dropped.cut],
		["patients with too few records", dropped.patients.patients, dropped.patients.events],
		["rare codes", dropped.rareCodes.codes, dropped.rareCodes.events],
		["codes unknown in training", dropped.unknownCodes.codes, dropped.unknownCodes.events],
	].filter(([, number, records]) => number || records);
	const parts = [
		`${folder}: ${counts.patients} patients, ${counts.events} events, ${counts.tokens} tokens\n`,
		codes.map && diagnoses > 0
			? `${codes.mapped} of ${diagnoses} diagnoses (${percent(codes.mapped, diagnoses)}) mapped with ${codes.map}\n`
			: "",
		values
			? `values of ${values.codes} codes in ${values.tokens} ranges, each a token: ${values.events} events\n`
			: "",
		`${observation.rule}\n`,
		deaths === null ? "" : `${deathsText(deaths)}\n`,
		"\n",
		table(["split", "patients", "events"], splits),
	];
	if (lost.length > 0) parts.push("\n", table(["left out", "number", "records"], lost));
	if (labels.length > 0)
		parts.push(
			"\n",
			table(
				["task", "labels", "positive", ""],
				labels.map((l) => [
					taskOfLabels(l.task),
					l.labels,
					l.positive,
					percent(l.positive, l.labels),
				]),
			),
		);
	return parts.join("");
}

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
