import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { replaceFile } from "../../base/files/index.js";
import { formatDuration } from "../../base/progress.js";
import { simulatedText } from "../../base/simulated.js";
import { thousands } from "../../base/thousands.js";
import { yearDays } from "../../base/time.js";
import { openDataset } from "../../data/cohort/index.js";
import type { Trained } from "../../model/train/index.js";
import { checkOutputFile, checkTableFile } from "../../model/train/output-file.js";
import { riskCsv, riskJson, riskPicture } from "../../predict/risk/json.js";
import type { CodeGroup } from "../../predict/risk/question.js";
import { eventsText, riskText } from "../../predict/risk/text.js";
import type { QueriedPatients } from "../../predict/trained/open.js";
import { risk } from "../../predict/trained/risk.js";
import { momentForms, momentOf } from "../../predict/user-input/moments.js";
import { defineCommand, type Usage } from "./define-command.js";
import { textBarsFor } from "./describe.js";
import {
	type Fields,
	file,
	flag,
	inGroup,
	moment,
	moments,
	option,
	readBy,
	several,
	span,
	text,
	type Values,
	whole,
} from "./fields.js";
import { checkFigureTarget, writeFigure } from "./figure-file.js";
import { communicatorOf, type Io, printJson, progressOf, tell } from "./io.js";
import { openModel, openRun, withDatasetWarning } from "./open-run.js";
import { openQueried, patientFields, patientFlags } from "./patients.js";
import {
	type CohortRisks,
	cohortRisks,
	datasetCohort,
	manyFields,
	newCohort,
} from "./risk-table.js";
import { checkTaskOptions, scorePatients } from "./score.js";

const description = `The probability that a code is recorded for the first time within some years of an index day, death
competing: a table by horizon, beside people of the same age and sex, and how the probability within
--horizon developed along the history, when it rose, and which events were recorded then. For a code that
is recorded already, it is the probability of another record. Records of a day are known on that day.

Several runs of one dataset (RUN1 RUN2 …) give the mean and the spread over runs in the table; the
trajectory is of the first.

A fine-tuned model (RUN/tasks/TASK) takes no codes: it gives the probability of its label, from the records
up to --at. Several patients of --input are scored at once.

TIME is ${momentForms}.
CODE is a PheCode, a code of the model's vocabulary, an ICD code that is mapped to one, a name or synonym
of one code ("heart failure", CHF), or the name of a group of the run ("circulatory system"). 428 includes
all codes below it; icd9:428.0 names the classification. \`trajgpt codes\` finds codes.`;

const examples = {
	"trajgpt risk runs/demo/run --patient p001146 --code 428 --figure risk.svg":
		"a patient of the run's dataset",
	"trajgpt risk run --input bundle.json --code I50.9 --years 1,3 --attribute +0d":
		"a new patient, and what drives the risk of heart failure",
	"trajgpt risk run --input bundle.json --code 428 --why":
		"what the records of each code add to the 5-year risk",
	"trajgpt risk run --input bundle.json --code COPD 'high blood pressure'":
		"codes by their synonyms",
	"trajgpt risk seed1 seed2 seed3 --input bundle.json --code 428 --at age:60":
		"the mean and the spread over three runs, after the age of 60",
	"trajgpt risk run --input bundle.json --group vascular=411,433,443 --years 1,5":
		"a group of your own, from 1,000 sampled futures",
	"trajgpt risk run --input bundle.json --code 428 --add 250@-2y --remove 3":
		"the same with an event added and one removed",
	"trajgpt risk run/tasks/insulin --input bundle.json": "the label that a model was fine-tuned to",
	"trajgpt risk run --data dataset --output risks.parquet --index 2015-01-01":
		"every patient and every code, on one date",
	"trajgpt risk run --input cohort.csv --skip-bad --code 428 250 --output risks.parquet":
		"all patients of a file, on the day of their last record",
};

/** What is told of one patient along the history. */
const trajectoryFields = {
	horizon: option(
		"span",
		"horizon of the trajectory, attribution, what-if and --why: 1y, 18m (default: 5y)",
		span,
	),
	from: option("time", "first time of the trajectory (default: the first event)", moment),
	to: option(
		"time",
		"last time (default: the last record); later ones have no new records",
		moment,
	),
	step: option(
		"span",
		"distance between two times: 10d, 2w, 6m, 1y (default: fits the range)",
		span,
	),
	why: flag(
		"explain the risk of one --code: what the records of each code add to the model without records or, with edits, what each edit adds",
	),
	attribute: option(
		"time...",
		"attribute the risk at these times to events; separated by spaces or commas; write negative times with commas",
		moments,
	),
	top: whole(1, 100_000).default(10).describe("events to list per attribution"),
	events: flag("list the patient's events with their numbers"),
	figure: file("also draw a figure to this .svg or .png file"),
};

const editFields = inGroup("What if:", {
	add: option("code@time...", "add an event: 250@2010-05-01", z.array(readBy(addedOf)).optional()),
	remove: option("n...", "remove event number n", z.array(readBy(eventNumber)).optional()),
	move: option(
		"n@time...",
		"move event number n to another time: 12@-6m",
		z.array(readBy(movedOf)).optional(),
	),
});

const options = {
	code: several(
		"code...",
		"codes, their names or synonyms, or names of the run's groups; required without --data and --output",
	),
	group: option(
		"name=code,...",
		"a group of your own, from sampled futures: the first record of any member; repeatable",
		z.array(readBy(groupOf)).default([]),
	),
	samples: whole(1, 1_000_000).default(1000).describe("futures for --group"),
	patient: text("id", "the patient; required if there are several"),
	at: option("time", "index day of the table (default: the last record)", moment),
	years: option(
		"n,...",
		"horizons of the table, in years (default: 1,5,10)",
		readBy(yearsOf).optional(),
	),
	...trajectoryFields,
	csv: file("also write all times to a CSV file"),
	force: flag("replace existing files"),
	json: flag("print one JSON document"),
	...editFields,
	...manyFields,
	...patientFields,
};

type Options = Values<typeof options>;

export const command = defineCommand({
	name: "risk",
	description,
	arguments: {
		run: z
			.tuple([z.string()], z.string())
			.describe(
				"run folder written by `trajgpt pretrain`, several of one dataset, or RUN/tasks/TASK by `trajgpt finetune`",
			),
	},
	options,
	examples,
	flags: patientFlags,
	run(io, { run: [folder, ...others], ...options }, usage) {
		usage.refuse((name) => whyIgnored(name, options));
		return act(io, folder, others, options, usage);
	},
});

const isOn = (name: string, fields: Fields, ...names: string[]) =>
	name in fields || names.includes(name);

/** What is asked of one patient alone. */
const ofOne = { ...trajectoryFields, ...editFields };
/** The options that --data takes, beside those on many patients. */
const withData = ["code", "years", "force", "json", "threads", "provider", "precision"];

/** Why an option has no effect beside the others; undefined if it has one. */
function whyIgnored(name: string, { data, input, db, output }: Options): string | undefined {
	if (data !== undefined)
		return isOn(name, manyFields, ...withData)
			? undefined
			: "has no effect on a whole dataset; leave it out, or leave out --data";
	if (name === "split") return "belongs to --data";
	if (output !== undefined && (input ?? db) !== undefined)
		return isOn(name, ofOne, "group", "samples", "at", "csv")
			? "has no effect on all patients of a file; leave it out, or leave out --output"
			: undefined;
	if (name === "output")
		return "belongs to --data or --input; for one patient use --csv or --figure";
	return name === "index" ? "belongs to --data, or to --input with --output" : undefined;
}

/** What a fine-tuned model has no use for: it answers one question. */
const unusedByTask = (name: string) =>
	isOn(name, { ...ofOne, ...manyFields }, "code", "group", "samples", "years");

async function act(
	io: Io,
	folder: string,
	further: readonly string[],
	options: Options,
	usage: Usage,
): Promise<void> {
	const refuseOthers = (flag: string) => {
		if (further.length > 0) throw new InputError(`${flag} takes one run; score each run by itself`);
	};
	if (options.data !== undefined) {
		if (options.output === undefined)
			throw new InputError("--data needs --output FILE (.parquet or .csv)");
		refuseOthers("--data");
		const run = openRun(io, folder);
		const dataset = withDatasetWarning(io, await openDataset(options.data));
		return scoreMany(io, folder, run, datasetCohort(run, dataset, options.split), options);
	}
	const trained = openModel(io, folder);
	checkTaskOptions(usage, trained, unusedByTask);
	if (trained.task && further.length > 0)
		throw new InputError(`${folder} scores its own label; score each model by itself`);
	if (trained.task)
		return scorePatients(io, folder, trained, await openQueried(io, trained, options), {
			...options,
			at: options.at && [options.at],
			predictions: options.csv,
		});
	if (options.output !== undefined) {
		refuseOthers("--output");
		await checkTableFile(options.output, options.force);
		const queried = await openQueried(io, trained, options);
		return scoreMany(io, folder, trained, newCohort(trained, queried), options, queried);
	}
	if (communicatorOf(io).size > 1)
		throw new InputError(
			"processes share the work on many patients, and these options ask about one; start it without a launcher, or give --output",
		);
	const { figure, csv, force = false, group: groups } = options;
	if (!options.code && groups.length === 0)
		throw new InputError(
			"give codes with --code, groups with --group, or a dataset to score with --data",
		);
	const trajectories = figure ?? csv;
	if (!options.code && trajectories !== undefined)
		throw new InputError(
			`${trajectories} would hold trajectories, which groups from futures do not have; name codes with --code`,
			{ field: "code" },
		);
	if (figure !== undefined && csv !== undefined && resolve(figure) === resolve(csv))
		throw new InputError(`--figure and --csv both name ${csv}; expected two files`);
	if (figure !== undefined) await checkFigureTarget(figure, force);
	if (csv !== undefined) await checkOutputFile(csv, force);
	const queried = await openQueried(io, trained, options);
	const others = further.map((other) => openRun(io, other));
	const { code = [], years, samples, seed = 0 } = options;
	const answer = await risk(
		trained,
		queried,
		{ ...options, codes: code, groups, horizons: years?.map((count) => count * yearDays) },
		{ ...options, others, samples, seed },
	);
	const notes = [...answer.query.notes, ...answer.query.assumptions];
	tell(io, { notes, warnings: answer.warnings });
	if (options.json)
		printJson(io, {
			run: folder,
			...(further.length > 0 && { otherRuns: further }),
			...riskJson(answer),
			unknown: queried.unknown,
			notes: [...queried.notes, ...notes],
			warnings: answer.warnings,
		});
	else {
		io.stdout.write(riskText(answer, options.top, textBarsFor(io)));
		if (options.events) io.stdout.write(eventsText(answer));
	}
	if (csv !== undefined) {
		await replaceFile(csv, (partial) => writeFile(partial, riskCsv(answer)));
		io.stderr.write(`written: ${csv}\n`);
	}
	if (figure !== undefined) {
		const { riskFigure } = await import("../../evaluate/charts/risk/risk-figure.js");
		await writeFigure(figure, riskFigure(riskPicture(answer)));
		io.stderr.write(`drawn: ${figure}\n`);
	}
}

async function scoreMany(
	io: Io,
	folder: string,
	trained: Trained,
	cohort: Parameters<typeof cohortRisks>[1],
	{ output, json, ...options }: Options,
	queried?: QueriedPatients,
): Promise<void> {
	const scored = await cohortRisks(trained, cohort, {
		...options,
		output: output as string,
		progress: progressOf(io),
		communicator: communicatorOf(io),
	});
	tell(io, scored);
	const { unknown, notes = [] } = queried ?? {};
	if (json)
		printJson(io, {
			run: folder,
			...scored,
			...(queried && { unknown, notes: [...notes, ...scored.notes] }),
		});
	else io.stdout.write(cohortRisksText(scored));
}

function cohortRisksText(scored: CohortRisks): string {
	const { file, patients, codes, seconds, excluded, notAtRisk, simulated } = scored;
	const reasons = (text: string, counts: Readonly<Record<string, number>>) => {
		const all = Object.entries(counts);
		const named = all.map(([reason, count]) => `${thousands(count)} ${reason}`);
		return all.length > 0 ? [`${text}: ${named.join(", ")}`] : [];
	};
	const lines = [
		`${thousands(patients)} patients, ${thousands(codes)} codes in ${formatDuration(seconds)}: ${(patients / seconds).toFixed(1)} patients per second`,
		...(simulated ? [simulatedText] : []),
		...reasons("without an index day", excluded),
		...reasons("not at risk on the index day (at_risk is false)", notAtRisk),
		`written: ${file}`,
	];
	return `${lines.join("\n")}\n`;
}

/** NAME=CODE,CODE,… */
function groupOf(text: string): CodeGroup {
	const [, name, codes] = /^\s*([^=]*[^=\s])\s*=(.+)$/.exec(text) ?? [];
	const members = codes?.split(",").map((code) => code.trim()) ?? [];
	if (name === undefined || members.length === 0 || members.includes(""))
		throw new InputError("Expected a name and its codes, as in stroke=433,434.");
	return { name, codes: members };
}

function yearsOf(text: string): number[] {
	const years = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
	if (years.every((count) => count > 0 && count <= 1000) && years.length <= 12) return years;
	throw new InputError("Expected up to 12 numbers of years, for example 1,5,10.");
}

/** The two parts of CODE@TIME or N@TIME. */
function atTime(text: string, what: string, example: string) {
	const [, before, time] = /^([^@]+)@(.+)$/.exec(text) ?? [];
	if (!before || !time) throw new InputError(`Expected ${what} and a time, as in ${example}.`);
	return { before, at: momentOf(time) };
}

function addedOf(text: string) {
	const { before: code, at } = atTime(text, "a code", "250@2010-05-01");
	return { code, at };
}

function movedOf(text: string) {
	const { before, at } = atTime(text, "the number of an event", "12@-6m");
	return { event: eventNumber(before), at };
}

function eventNumber(text: string): number {
	if (/^[1-9]\d*$/.test(text)) return Number(text);
	throw new InputError("Expected the number of an event, from 1; --events lists them.");
}
