import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { checkFolderTarget, replaceFolder, temporarily } from "../../base/files/index.js";
import { percent, table } from "../../base/table.js";
import {
	type Dataset,
	type LabelDefinition,
	manifestName,
	openDataset,
	taskMarker,
} from "../../data/cohort/index.js";
import { isTaskName, labelsOfTask, taskNameRule } from "../../data/cohort/label-rules.js";
import { openStore, type Store } from "../../data/records/store.js";
import { checkOverlap, definitionOfTask } from "../../data/tasks/definition.js";
import { type Extracted, extract } from "../../data/tasks/extract.js";
import {
	type CohortTask,
	definitionOfCohorts,
	determiningCodes,
	labelCohorts,
	storedLabels,
	writeLabels,
} from "../../data/tasks/labels.js";
import {
	libraryDescription,
	libraryFile,
	libraryTask,
	libraryTasks,
	readAces,
	taskText,
} from "../../data/tasks/read-aces.js";
import { datasetRecords, medsRecords, type TaskRecords } from "../../data/tasks/records.js";
import { openRunDataset, readRun, runFiles } from "../../model/train/index.js";
import { defineCommand, type Usage } from "./define-command.js";
import {
	byteSize,
	datasetField,
	file,
	flag,
	folder,
	type Optional,
	option,
	readBy,
	seed,
	text,
	threadsField,
	type Values,
	whole,
} from "./fields.js";
import { printJson, tell } from "./io.js";

const description = `Label patients by a task definition, and write the labels as MEDS label files.

The patients are those of a dataset, of a run's dataset, or of a folder in MEDS. The task is one of

  --task     a ready one: readmission, mortality, onset of chronic diseases (--list)
  --aces     a file of your own in the format of ACES: predicates, a trigger and windows
  --cohorts  OMOP cohort tables: who is in the target cohort, and does the outcome begin in
             the time at risk? Earlier outcomes are removed, as PatientLevelPrediction does
  --label    labels that the dataset has, from prepare

Labels are written to OUT/TASK/labels.parquet: subject_id, prediction_time, boolean_value. Use
them with prepare --label TASK=OUT/TASK, or evaluate and finetune with --labels OUT/TASK. Without
--out they are only counted. What was left out is listed, with the window that left it out. The
file names patients by their ids: protect it like the records.

A task whose target overlaps its input is refused. Codes of the input that nearly determine the
label are named. In a dataset, codes are as in MEDS: PheCode//250, ICD10CM//I50.9, MEDS_DEATH.`;

/** A century. */
const longestDays = 36_525;

/** `1:365`. */
function dayRange(text: string): [number, number] {
	const [, first, last] = /^(\d+):(\d+)$/.exec(text) ?? [];
	if (!(Number(first) >= 1 && Number(last) >= Number(first) && Number(last) <= longestDays))
		throw new InputError(
			`Expected the first and last day at risk, from 1 to ${longestDays}, for example 1:365.`,
		);
	return [Number(first), Number(last)];
}

const options = {
	list: flag("list the ready tasks"),
	show: text("task", "print the file of a ready task"),
	task: text("name", "ready task"),
	aces: file("task file in the format of ACES (YAML)"),
	predicates: file("file whose predicates replace those of the task (YAML)"),
	cohorts: file("OMOP table cohort (CSV or Parquet)"),
	target: option("id", "cohorts: cohort_definition_id of the target", seed.optional()),
	outcome: option("id", "cohorts: cohort_definition_id of the outcome", seed.optional()),
	timeAtRisk: option(
		"days",
		"cohorts: first and last day at risk after the start of the target (default: 1:365)",
		readBy(dayRange).optional(),
	),
	minTimeAtRisk: option(
		"days",
		"cohorts: days at risk needed without an outcome (default: all)",
		whole(0, longestDays).optional(),
	),
	label: text("task", "labels that the dataset has"),
	out: folder("folder of label files; the task's labels go into OUT/TASK"),
	name: text("name", "name of the task (default: that of the file)"),
	force: flag("replace earlier labels of the task"),
	dataset: datasetField,
	memory: option(
		"size",
		"memory limit, above which data goes to disk (default: 2GB)",
		byteSize.optional(),
	),
	threads: threadsField,
	json: flag("print one JSON document"),
};

export const command = defineCommand({
	name: "tasks",
	description,
	arguments: { source: z.string().optional().describe("dataset, run or folder in MEDS") },
	options,
	flags: { atRisk: "--time-at-risk" },
	examples: {
		"trajgpt tasks --list": "the ready tasks, and what they need",
		"trajgpt tasks data --task heart-failure --out labels": "a ready task on a dataset",
		"trajgpt tasks my-meds --aces mortality.yaml --predicates mimic.yaml --out labels":
			"an ACES task on a folder in MEDS",
		"trajgpt tasks data --cohorts cohort.csv --target 1 --outcome 2 --time-at-risk 1:365":
			"cohorts of OMOP: counts alone, nothing is written",
		"trajgpt tasks --show heart-failure > mine.yaml": "start a task of your own from a ready one",
	},
	async run(io, { source, list, show, json, ...definition }, usage) {
		if (list) {
			const tasks = libraryTasks().map((name) => ({ name, description: libraryDescription(name) }));
			if (json) return printJson(io, tasks);
			for (const { name, description } of tasks) io.stdout.write(`${name}\n  ${description}\n`);
			return;
		}
		if (show !== undefined) {
			io.stdout.write(libraryFile(show));
			return;
		}
		if (source === undefined)
			throw new InputError(
				"no records to label; name a dataset, a run or a folder in MEDS, or pass --list",
			);
		const done = await labelTask(source, libraryOptions(definition, usage));
		const warnings = done.determining.map(
			({ code, when, labels, positive, positives }) =>
				`${code} is ${when} in the input of ${labels} labels, ${positive} of them positive, of ${positives} positive labels in all: it nearly determines the label`,
		);
		tell(io, { notes: done.notes, warnings });
		if (json) printJson(io, done);
		else io.stdout.write(render(done));
	},
});

/** The options of the library: those that describe cohorts are one. */
function libraryOptions(
	{ cohorts: file, force: replace, ...others }: CommandOptions,
	usage: Usage,
): LabelTaskOptions {
	const { target, outcome, timeAtRisk: atRisk, minTimeAtRisk: minAtRisk } = others;
	if (file === undefined) {
		usage.refuse((name) =>
			["target", "outcome", "timeAtRisk", "minTimeAtRisk"].includes(name)
				? "has no effect without --cohorts; omit it"
				: undefined,
		);
		return { ...others, replace };
	}
	if (target === undefined || outcome === undefined)
		throw new InputError(
			"--cohorts needs --target and --outcome: the cohort_definition_id of the two cohorts",
		);
	return { ...others, replace, cohorts: { file, target, outcome, atRisk, minAtRisk } };
}

function render(done: LabelledTask): string {
	const { task, records, patients, labelled, triggers, labels, positive, excluded, file } = done;
	const header = ["left out at", "reason", "number"];
	const rows = excluded.map(({ at, reason, count }) => [at, reason, count]);
	return [
		`${task}: ${labels} labels at ${triggers} trigger events; ${labelled} of ${patients} patients in ${records} have one\n`,
		positive === null
			? "the task has no label: boolean_value is empty\n"
			: `${positive} positive (${percent(positive, labels)})\n`,
		rows.length > 0 ? `\n${table(header, rows)}` : "",
		file === undefined ? "" : `\nwritten: ${file}\n`,
	].join("");
}

/** OMOP cohorts, with the defaults of PatientLevelPrediction. */
interface CohortOptions extends Pick<CohortTask, "file" | "target" | "outcome"> {
	/** The first and last day at risk, counted from the start of the target cohort. Default: 1 and 365. */
	readonly atRisk?: readonly [first: number, last: number] | undefined;
	/** Days at risk that somebody without the outcome must have, the first not counted. Default: all. */
	readonly minAtRisk?: number | undefined;
}

type CommandOptions = Values<typeof options>;

/** Options of `labelTask`: those of the command. One of `aces`, `task`, `cohorts` and `label` gives the labels. */
export interface LabelTaskOptions
	extends Optional<
		CommandOptions,
		"aces" | "task" | "label" | "predicates" | "out" | "name" | "dataset" | "memory" | "threads"
	> {
	/** OMOP cohort tables. */
	readonly cohorts?: CohortOptions | undefined;
	readonly replace?: boolean | undefined;
}

export type LabelledTask = Awaited<ReturnType<typeof finish>> & {
	readonly task: string;
	/** What the labels mean; missing for a task without a label. */
	readonly definition?: LabelDefinition | undefined;
	/** The Parquet file of the labels, if one was written. */
	readonly file?: string;
};

const labelFile = "labels.parquet";

/**
 * Labels the patients of a dataset, of the dataset of a run, or of a folder in MEDS, and writes the labels as MEDS
 * does: `OUT/TASK/labels.parquet`. A task whose target overlaps its input is refused.
 *
 * @example
 * const { labels, positive } = await labelTask("data", { task: "heart-failure", out: "labels" });
 */
export async function labelTask(path: string, options: LabelTaskOptions): Promise<LabelledTask> {
	const { out, replace = false } = options;
	checkDefinition(options);
	const { records, dataset } = await openSource(path, options.dataset);
	const { name, definition, label } = await labellerOf(records, dataset, options);
	const work = async (folder: string, file: string | undefined): Promise<LabelledTask> => {
		const { cohorts, memory = 2 * 1024 ** 3, threads } = options;
		const more = [cohorts?.file, file].filter((one) => one !== undefined);
		const store = await openStore({ folder, memory, threads, files: [...records.files, ...more] });
		try {
			const finished = await finish(store, records, await label(store), file);
			return { task: name, ...(definition && { definition }), ...finished };
		} finally {
			store.close();
		}
	};
	if (out === undefined) {
		const folder = await mkdtemp(join(tmpdir(), "trajgpt-tasks-"));
		return temporarily(folder, () => work(folder, undefined));
	}
	const target = join(out, name);
	await checkFolderTarget(target, replace, taskMarker, [labelFile]);
	let summary: LabelledTask | undefined;
	await replaceFolder(
		target,
		async (partial) => {
			const folder = join(partial, ".work");
			await mkdir(folder);
			summary = await work(folder, join(partial, labelFile));
			await rm(folder, { recursive: true, force: true });
			await writeFile(join(partial, taskMarker), `${JSON.stringify(summary, null, "\t")}\n`);
		},
		{ replace },
	);
	return { ...(summary as LabelledTask), file: join(target, labelFile) };
}

/** Refuses options that contradict each other or have no effect. */
function checkDefinition(options: LabelTaskOptions): void {
	const kinds = (["task", "aces", "cohorts", "label"] as const).filter(
		(name) => options[name] !== undefined,
	);
	const [kind, other] = kinds;
	if (kind === undefined)
		throw new InputError("no task; pass one of `task`, `aces`, `cohorts` and `label`");
	if (other !== undefined)
		throw new InputError(`\`${kind}\` and \`${other}\` both name a task; pass one of them`, {
			field: other,
		});
	if (options.predicates !== undefined && kind !== "task" && kind !== "aces")
		throw new InputError(`\`predicates\` has no effect with \`${kind}\`; omit it`, {
			field: "predicates",
		});
}

/** Refuses a time at risk that overlaps the input, which ends with the day of entry. */
function cohortTask({ file, target, outcome, ...given }: CohortOptions): CohortTask {
	if (target === outcome)
		throw new InputError(`\`target\` and \`outcome\` are both cohort ${target}; name two cohorts`, {
			field: "outcome",
			value: outcome,
		});
	const [first, last] = given.atRisk ?? [1, 365];
	if (!(first >= 1 && last >= first))
		throw new InputError(
			`\`atRisk\` is ${first}:${last}; expected a first day from 1, and a last day not before it: the day of entry is part of the input`,
			{ field: "atRisk" },
		);
	return {
		file,
		target,
		outcome,
		atRisk: [first, last],
		minAtRisk: given.minAtRisk ?? last - first,
	};
}

async function openSource(path: string, moved: string | undefined) {
	const isRun = existsSync(runFiles(path).run);
	if (!isRun && !existsSync(join(path, manifestName))) return { records: await medsRecords(path) };
	const dataset = isRun
		? await openRunDataset(path, readRun(path), moved)
		: await openDataset(path);
	return { records: datasetRecords(dataset), dataset };
}

/** The name and the meaning of the labels, and how they are made. */
async function labellerOf(
	records: TaskRecords,
	dataset: Dataset | undefined,
	options: LabelTaskOptions,
) {
	const { aces, task, cohorts, label, predicates } = options;
	const named = (
		name: string,
		definition: LabelDefinition | undefined,
		label: (store: Store) => Promise<Extracted>,
	) => ({ name: taskName(options.name ?? name), definition, label });
	if (cohorts !== undefined) {
		const task = cohortTask(cohorts);
		const name = `cohort-${task.target}-outcome-${task.outcome}`;
		return named(name, definitionOfCohorts(task), (store) => labelCohorts(store, records, task));
	}
	if (label !== undefined) {
		if (!dataset)
			throw new InputError(
				`${records.path} is not a dataset, so it has no labels "${label}"; name a folder that \`trajgpt prepare\` wrote`,
				{ field: "label", value: label },
			);
		const known = dataset.manifest.labels.find((stored) => stored.task === labelsOfTask(label));
		const definition = known?.definition ?? {
			what: known?.rule ?? label,
			source: `labels of the dataset: ${label}`,
		};
		return named(label, definition, async (store) => {
			await records.view(store, []);
			return storedLabels(store, dataset, label);
		});
	}
	const replacement = predicates && { file: predicates, text: await taskText(predicates) };
	const read =
		aces === undefined
			? libraryTask(task ?? "", replacement || undefined)
			: await readAces(aces, predicates);
	checkOverlap(read);
	if (records.axis !== "dates")
		throw new InputError(
			`labels in MEDS need dates, and ${records.path} has days alone; prepare the records with their dates`,
		);
	const source = aces === undefined ? `ready task ${read.name}` : `ACES file ${basename(aces)}`;
	return named(read.name, definitionOfTask(read, source), (store) => extract(store, records, read));
}

function taskName(name: string): string {
	if (isTaskName(name)) return name;
	throw new InputError(`the task is called "${name}"; expected ${taskNameRule}: pass a \`name\``, {
		field: "name",
		value: name,
	});
}

/** Stores the labels, and counts them. */
async function finish(
	store: Store,
	records: TaskRecords,
	{ subjects, triggers, excluded, notes }: Extracted,
	file: string | undefined,
) {
	const determining = await determiningCodes(store);
	const isWhole = file === undefined || (await writeLabels(store, file));
	const [counts] = (await store.all(`
		SELECT count(*) AS labels, count(DISTINCT subject) AS labelled,
			count(*) FILTER (value) AS positives, count(value) AS valued FROM task_label`)) as [
		Record<"labels" | "labelled" | "positives" | "valued", number>,
	];
	const { labels, labelled } = counts;
	const positive = counts.valued < labels ? null : counts.positives;
	const isOneSided = labels > 0 && (positive === 0 || positive === labels);
	return {
		records: records.path,
		/** Patients in the records, and those with a label. */
		patients: subjects,
		labelled,
		/** Trigger events, or entries into the target cohort: each has at most one label. */
		triggers,
		labels,
		/** null for a task without a label. */
		positive,
		excluded,
		/** Codes of the input that nearly determine the label. */
		determining,
		notes: [
			...notes,
			...(isOneSided
				? [`all labels are ${positive === 0 ? "negative" : "positive"}; check the definition`]
				: []),
			...(isWhole
				? []
				: [
						"ids of patients are not whole numbers, which MEDS wants: subject_id is text, which trajgpt reads and other tools may not",
					]),
		],
	};
}
