import { Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../base/errors.js";
import { percent, table } from "../../base/table.js";
import { libraryDescription, libraryFile, libraryTasks } from "../../data/tasks/index.js";
import { type LabelledTask, type LabelTaskOptions, labelTask } from "../workflows/tasks.js";
import { nameFlags } from "./flags.js";
import { type Io, printJson } from "./io.js";
import { byteSize, threadCount, wholeNumber } from "./option-values.js";

interface Options extends Omit<LabelTaskOptions, "cohorts"> {
	readonly list?: true;
	readonly show?: string;
	readonly cohorts?: string;
	readonly target?: number;
	readonly outcome?: number;
	readonly timeAtRisk?: readonly [number, number];
	readonly minTimeAtRisk?: number;
	readonly force?: true;
	readonly json?: true;
}

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

export const examples = {
	"trajgpt tasks --list": "the ready tasks, and what they need",
	"trajgpt tasks data --task heart-failure --out labels": "a ready task on a dataset",
	"trajgpt tasks my-meds --aces mortality.yaml --predicates mimic.yaml --out labels":
		"an ACES task on a folder in MEDS",
	"trajgpt tasks data --cohorts cohort.csv --target 1 --outcome 2 --time-at-risk 1:365":
		"cohorts of OMOP: counts alone, nothing is written",
	"trajgpt tasks --show heart-failure > mine.yaml": "start a task of your own from a ready one",
};

/** A century. */
const longestDays = 36_525;

/** `1:365`. */
function dayRange(text: string): [number, number] {
	const [, first, last] = /^(\d+):(\d+)$/.exec(text) ?? [];
	if (!(Number(first) >= 1 && Number(last) >= Number(first) && Number(last) <= longestDays))
		throw new InvalidArgumentError(
			`Expected the first and last day at risk, from 1 to ${longestDays}, for example 1:365.`,
		);
	return [Number(first), Number(last)];
}

const wholeId = wholeNumber(0, Number.MAX_SAFE_INTEGER);

export function command(io: Io): Command {
	const made = new Command("tasks")
		.description(description)
		.argument("[source]", "dataset, run or folder in MEDS")
		.option("--list", "list the ready tasks")
		.option("--show <task>", "print the file of a ready task")
		.option("--task <name>", "ready task")
		.option("--aces <file>", "task file in the format of ACES (YAML)")
		.option("--predicates <file>", "file whose predicates replace those of the task (YAML)")
		.option("--cohorts <file>", "OMOP table cohort (CSV or Parquet)")
		.option("--target <id>", "cohorts: cohort_definition_id of the target", wholeId)
		.option("--outcome <id>", "cohorts: cohort_definition_id of the outcome", wholeId)
		.addOption(
			new Option(
				"--time-at-risk <days>",
				"cohorts: first and last day at risk after the start of the target (default: 1:365)",
			).argParser(dayRange),
		)
		.option(
			"--min-time-at-risk <days>",
			"cohorts: days at risk needed without an outcome (default: all)",
			wholeNumber(0, longestDays),
		)
		.option("--label <task>", "labels that the dataset has")
		.option("--out <folder>", "folder of label files; the task's labels go into OUT/TASK")
		.option("--name <name>", "name of the task (default: that of the file)")
		.option("--force", "replace earlier labels of the task")
		.option("--dataset <folder>", "the run's dataset, if it was moved")
		.option(
			"--memory <size>",
			"memory limit, above which data goes to disk (default: 2GB)",
			byteSize,
		)
		.option("--threads <n>", "number of threads (default: all cores)", threadCount)
		.option("--json", "print one JSON document");
	nameFlags(made, { atRisk: "--time-at-risk" });
	return made.action((source: string | undefined, options: Options) =>
		act(io, made, source, options),
	);
}

async function act(
	io: Io,
	command: Command,
	source: string | undefined,
	options: Options,
): Promise<void> {
	const { list, show, json } = options;
	if (list) {
		const tasks = libraryTasks().map((name) => ({ name, description: libraryDescription(name) }));
		if (json) printJson(io, tasks);
		else for (const { name, description } of tasks) io.stdout.write(`${name}\n  ${description}\n`);
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
	const done = await labelTask(source, libraryOptions(command, options));
	for (const note of done.notes) io.stderr.write(`note: ${note}\n`);
	for (const { code, when, labels, positive, positives } of done.determining)
		io.stderr.write(
			`warning: ${code} is ${when} in the input of ${labels} labels, ${positive} of them positive, of ${positives} positive labels in all: it nearly determines the label\n`,
		);
	if (json) printJson(io, done);
	else io.stdout.write(render(done));
}

/** Flags that describe cohorts. */
const cohortFlags = ["target", "outcome", "timeAtRisk", "minTimeAtRisk"] as const;

function libraryOptions(command: Command, options: Options): LabelTaskOptions {
	const { cohorts: file, target, outcome, timeAtRisk, minTimeAtRisk, force, ...others } = options;
	const replace = force ?? false;
	if (file === undefined) {
		const unused = cohortFlags.find((name) => options[name] !== undefined);
		const flag = command.options.find((option) => option.attributeName() === unused)?.long;
		if (flag) throw new InputError(`${flag} has no effect without --cohorts; omit it`);
		return { ...others, replace };
	}
	if (target === undefined || outcome === undefined)
		throw new InputError(
			"--cohorts needs --target and --outcome: the cohort_definition_id of the two cohorts",
		);
	const cohorts = { file, target, outcome, atRisk: timeAtRisk, minAtRisk: minTimeAtRisk };
	return { ...others, replace, cohorts };
}

function render(done: LabelledTask): string {
	const { task, records, patients, labelled, triggers, labels, positive, excluded, file } = done;
	const parts = [
		`${task}: ${labels} labels at ${triggers} trigger events; ${labelled} of ${patients} patients in ${records} have one\n`,
		positive === null
			? "the task has no label: boolean_value is empty\n"
			: `${positive} positive (${percent(positive, labels)})\n`,
	];
	if (excluded.length > 0)
		parts.push(
			"\n",
			table(
				["left out at", "reason", "number"],
				excluded.map(({ at, reason, count }) => [at, reason, count]),
			),
		);
	if (file !== undefined) parts.push("\n", `written: ${file}\n`);
	return parts.join("");
}
