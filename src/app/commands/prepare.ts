import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { checkFolderTarget } from "../../base/files/index.js";
import { silentProgress } from "../../base/progress.js";
import { percent, table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
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
import {
	openRecords,
	type ReaderOptions,
	recordFields,
	recordFormats,
	withObservation,
} from "../../data/records/index.js";
import { timeUnits } from "../../data/records/rows.js";
import { readRunRecords } from "../../model/train/index.js";
import { defineCommand } from "./define-command.js";
import {
	byteSize,
	choice,
	file,
	flag,
	inGroup,
	type Optional,
	option,
	readBy,
	seed,
	text,
	texts,
	threadsField,
	type Values,
	whole,
} from "./fields.js";
import { communicatorOf, printJson, progressOf, tell } from "./io.js";
import { labelTimeField } from "./open-run.js";
import { type CodeMapOptions, mapInFile, requiredCodeMap } from "./patients.js";
import type { Monitoring } from "./pretrain/training.js";

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

const count = whole(1, 1_000_000_000);

const options = {
	from: option("format", "format of the records", z.enum(Object.keys(recordFormats))),
	out: option("dataset", "dataset folder to write", z.string()),
	like: text(
		"run",
		"take the vocabulary, code map and rules of a run, for external validation; all patients go into the test split unless --splits or --splits-from say otherwise",
	),
	force: flag("replace an existing dataset"),
	memory: option(
		"size",
		"memory limit, above which data goes to disk",
		byteSize.default(prepareDefaults.memory),
		{ defaultText: "2GB" },
	),
	threads: threadsField,
	json: flag("print the manifest as one JSON document"),
	...inGroup("Codes:", {
		codes: option(
			"what",
			"map codes to PheCodes, or keep them as they are",
			z.enum(["phecode", "as-is"]).default(prepareDefaults.codes),
		),
		level: option(
			"level",
			"level of PheCodes: 250, or 250.2 (needs --phecode-map)",
			z.enum(["integer", "full"]).default("integer"),
		),
		phecodeMap: file(
			"use the official map (CSV), or one of your own that may map SNOMED, instead of the built-in table",
		),
		keepIgnored: flag("use the rows that the official map marks to ignore"),
		unmapped: option(
			"what",
			"drop ICD codes that are not in the map, or keep them as they are",
			z.enum(["drop", "keep"]).default(prepareDefaults.unmapped),
		),
		values: option(
			"quantiles:n",
			"make the numeric values of a code tokens, by quantile of the training patients' values: quantiles:10",
			readBy(quantilesOf).optional(),
		),
	}),
	...inGroup("Cohort:", {
		minRecords: count
			.default(prepareDefaults.minRecords)
			.describe("minimum records per patient (paper: 50)"),
		minCount: count
			.default(prepareDefaults.minCount)
			.describe("minimum training records per code (paper: 50000)"),
		dedup: option(
			"rule",
			"keep one record per patient and code within a day or month, or keep all",
			z.enum(dedupRules).default(prepareDefaults.dedup),
		),
		maxRecords: count.optional().describe("maximum records per patient"),
		keep: option(
			"end",
			"end of a longer history to keep",
			z.enum(["last", "first"]).default(prepareDefaults.keep),
		),
		drugs: option(
			"use",
			"whether records of kind drug are events (tokens), count for the labels only, or are left out",
			z.enum(drugUses).default(prepareDefaults.drugs),
		),
		observation: file("table of the periods in which patients were observed: patient, start, end"),
		observationTimeIs: choice(
			"what",
			"meaning of the times in --observation (default: as in the records)",
			timeUnits,
		),
		skipBad: flag(
			"leave out rows that cannot be read, and say how many (default: refuse the first)",
		),
		deathToken: flag("add death, where known, as an event"),
		label: option(
			"task=file",
			"labels of your own, a file (patient, time, value) or a folder of MEDS label files; may be repeated",
			texts.transform((pairs) => pairs.reduce(withLabel, [])).optional(),
		),
		labelTimeIs: labelTimeField("all --label files"),
		splitsFrom: file(
			"published splits (CSV or Parquet): patient, split; also subject_splits.parquet of MEDS",
		),
		seed: seed.default(prepareDefaults.splitSeed).describe("seed of the split"),
		splits: option(
			"percents",
			"percentages of patients for training, validation and test",
			readBy(splitParts).default(prepareDefaults.splitParts),
		),
	}),
	...recordFields,
};

export const command = defineCommand({
	name: "prepare",
	description,
	arguments: { source: texts.default([]).describe("files or folder with the records") },
	options,
	flags: { source: "SOURCE", format: "--from", labels: "--label" },
	examples: {
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
	},
	async run(io, { source, ...options }, { typed }) {
		const { from, out, label, seed, splits, force, json, like, ...others } = options;
		// A run brings its own rules: the defaults of these options do not replace them.
		const isRule = (name: string) => like === undefined || typed.has(name);
		const rules = Object.fromEntries(Object.entries(others).filter(([name]) => isRule(name)));
		const manifest = await prepare(source, out, {
			...rules,
			like,
			format: from,
			records: options,
			splitSeed: seed,
			replace: force ?? false,
			progress: progressOf(io),
			communicator: communicatorOf(io),
			...(isRule("splits") && { splitParts: splits }),
			...(label && { labels: label }),
		});
		tell(io, manifest.source);
		if (json) printJson(io, manifest);
		else io.stdout.write(render(out, manifest) + (like ? unknownText(like, manifest) : ""));
	},
});

function quantilesOf(text: string): number {
	const [, number] = /^quantiles:(\d{1,3})$/.exec(text) ?? [];
	const quantiles = Number(number);
	if (quantiles >= 2 && quantiles <= 100) return quantiles;
	throw new InputError(`--values is "${text}"; expected quantiles:n with n from 2 to 100`);
}

/** Three percentages that make 100: 80,10,10. */
function splitParts(text: string): SplitParts {
	const parts = text.split(",").map(Number);
	const [train = 0, valid = 0, test = 0] = parts;
	const sound = parts.length === 3 && parts.every((part) => part >= 0);
	if (!sound || Math.abs(train + valid + test - 100) > 1e-9)
		throw new InputError("Expected three percentages that make 100, as in 80,10,10.");
	return [train, valid, test];
}

function withLabel(
	before: readonly { task: string; file: string }[],
	text: string,
): readonly { task: string; file: string }[] {
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

export const deathsText = (deaths: number): string =>
	deaths === 0
		? "no deaths are recorded: death is not a competing event in results"
		: `deaths: ${thousands(deaths)}`;

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
	const { counts, codes, labels, observation, deaths, values } = manifest;
	const diagnoses = codes.mapped + codes.unmapped.events;
	const leftOut = leftOutTable(manifest);
	const labelRows = labels.map(({ task, labels, positive }) => [
		taskOfLabels(task),
		labels,
		positive,
		percent(positive, labels),
	]);
	return [
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
		table(
			["split", "patients", "events"],
			Object.entries(counts.splits).map(([name, split]) => [name, split.patients, split.events]),
		),
		leftOut === undefined ? "" : `\n${leftOut}`,
		labels.length > 0 ? `\n${table(["task", "labels", "positive", ""], labelRows)}` : "",
	].join("");
}

/** What the rules left out, with the most frequent codes; undefined if nothing. */
export function leftOutTable({ codes, dropped }: Manifest): string | undefined {
	const { unmapped, keptUnmapped } = codes;
	const { patients, rareCodes, unknownCodes } = dropped;
	const topOf = ({ top }: typeof unmapped) =>
		top
			.slice(0, 3)
			.map(({ code, system, events }) => `${system} ${code} (${thousands(events)})`)
			.join(", ");
	const codeRow = (what: string, of: typeof unmapped) =>
		[what, of.codes, of.events, topOf(of)] as const;
	const rows = [
		codeRow(`codes without a mapping${keptUnmapped ? ", kept as they are" : ""}`, unmapped),
		["repeated records", 0, dropped.duplicates, ""] as const,
		["records beyond the longest history", 0, dropped.cut, ""] as const,
		["drug records", 0, dropped.drugs, ""] as const,
		["patients with too few records", patients.patients, patients.events, ""] as const,
		codeRow("rare codes", rareCodes),
		codeRow("codes unknown in training", unknownCodes),
	]
		.filter(([, number, records]) => number > 0 || records > 0)
		.map(([what, number, ...more]) => [what, number === 0 ? "" : thousands(number), ...more]);
	const header = ["left out", "number", "records", "the most frequent"];
	return rows.length === 0 ? undefined : table(header, rows);
}

/**
 * Options of `prepare`. Defaults: `prepareDefaults`. By default patients are observed in the periods of the source, or
 * else from the first to the last record of each.
 */
export interface PrepareOptions
	extends Partial<Omit<RecordOptions, "map" | "onStage" | "like">>,
		CodeMapOptions,
		Optional<Values<typeof options>, "observation" | "observationTimeIs" | "like" | "level">,
		Pick<Monitoring, "progress"> {
	/** Format of the records: one of `recordFormats`. */
	readonly format: string;
	/** Options of the format's reader. */
	readonly records?: ReaderOptions | undefined;
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
			...prepareDefaults,
			...overrides,
			map,
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

function knownRecords(like: string): ReturnType<typeof readRunRecords> {
	if (!existsSync(join(like, manifestName)))
		throw new InputError(
			`${like} is neither a run nor a dataset: it has no ${manifestName}; give \`like\` the folder that \`trajgpt pretrain --out\` wrote`,
			{ field: "like", value: like },
		);
	return readRunRecords(like);
}

/** The rules of a run's dataset. Other rules are refused: events would not mean the same. */
function rulesLike({ codes, filters, values }: Manifest, options: PrepareOptions) {
	const rules = {
		codes: codes.map === null ? "as-is" : "phecode",
		unmapped: codes.keptUnmapped ? "keep" : "drop",
		dedup: filters.dedup,
		maxRecords: filters.maxRecords,
		keep: filters.keep,
		drugs: filters.drugs,
		deathToken: filters.deathToken,
		minCount: filters.minCount,
		values: values?.quantiles ?? null,
	} as const;
	for (const [name, rule] of Object.entries(rules)) {
		const given = options[name as keyof typeof rules];
		if (given !== undefined && given !== rule)
			throw new InputError(
				`\`${name}\` is ${given}, and ${options.like} was prepared ${rule === null ? "without" : `with ${rule}`}; leave it out: \`like\` takes the rules of the run`,
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
