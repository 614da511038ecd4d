import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { checkWritable, replaceFile } from "../../base/files/index.js";
import { thousands } from "../../base/thousands.js";
import { splitNames } from "../../data/cohort/index.js";
import * as evaluating from "../../evaluate/index.js";
import { forecastMethods } from "../../model/index.js";
import { checkOutputFile } from "../../model/train/output-file.js";
import { defineCommand } from "./define-command.js";
import { checkWritten, commonDataset, evaluate, type MeasuredRun } from "./evaluate/runs.js";
import { acrossRunsText, evaluationText, onsetCsv, predictionsText } from "./evaluate/text.js";
import * as fields from "./fields.js";
import { communicatorOf, mayWrite, printJson, progressOf, tell } from "./io.js";
import * as opening from "./open-run.js";
import { predictionsSchemaField } from "./score.js";

const description = `Evaluate a run, with 95 % intervals from a bootstrap over patients.

  onset     the probability that a code is recorded for the first time within
            1, 3, 5 and 10 years of an index day, death competing: log loss
            per onset, AUROC, average precision, calibration; codes with at
            least 20 expected onsets, and all codes, rare ones among them
  next      every event after the first, given its time and all events before
            it: accuracy, recall@5 and @10, mean -log p (nats), calibration
  forecast  every event after the first 50, at its own time, given those 50
            alone: recall@1, @5, @10 and @15, averaged over patients, and by
            distance ahead
  futures   only if named: sampled futures against what happened (visits per
            year, codes per visit, onsets, deaths) or, where observation times
            are unknown, T-mAP and optimal-transport distance as in the HoTPP
            benchmark
  chf, diabetes
            the first record of heart failure or diabetes within 3 years of an
            index day, yes or no, without labels, from few and from all
            (finetune)
  a label   a task that the dataset has labels for, such as insulin; chf-paper
            is the paper's heart failure task, whose days are chosen by the
            outcome

Every recall is also given apart for codes that the patient already had and for
new ones. A run trained with --before is evaluated on onset alone.

--compare FILE adds predictions that were made elsewhere, as with R or XGBoost,
as one more row, and the model's paired differences from it.

Baselines: rates by age and sex, a lasso regression and boosted trees (onset);
counts of the patient's own history and code frequencies (next, forecast); the
prevalence, a ridge regression and boosted trees (labelled tasks). On a
simulated population, also the reference model.

Results are written to RUN/eval/<task>.json. Several runs (other seeds, same
dataset) are evaluated one by one and then summarized: means with 95 %
intervals over patients and runs.

If a split has more than ${thousands(evaluating.mostEvaluated)} patients, ${thousands(evaluating.mostEvaluated)} are drawn at random, the same in
every evaluation of the dataset. --patients all evaluates all. For tasks with
labels in the dataset, the limit applies to patients with a label.

External validation: --dataset OTHER, prepared with \`trajgpt prepare … --like RUN\`.
Its results are kept apart, in RUN/eval/external/<content of OTHER>/<task>.json. Baselines
are trained on the training patients of OTHER. If it has none, onset and labelled tasks use those of
the run's own dataset.`;

const { split, lookup, draws, seed: usualSeed, futures } = evaluating.evaluateDefaults;

const options = {
	task: fields.option(
		"name",
		"task to evaluate: onset, next, forecast, futures, a yes-or-no task, or all",
		z.string().default("all"),
	),
	method: fields.option(
		"name",
		"forecast: method of the model",
		z.enum([...forecastMethods, "all"]).default("all"),
	),
	split: fields.option("name", "split of the patients", z.enum(splitNames).default(split)),
	index: fields.text(
		"rule",
		"onset and futures: index day: random, visit, a date, or age:N (default: for onset, the first of January with the most time at risk within five years after it, or random where times are not dates; for futures, the day on which most patients are observed a year before and after)",
	),
	horizons: fields.option(
		"years",
		"onset: horizons in years (default: 1,3,5,10)",
		fields.horizonYears,
	),
	lookBack: fields.option(
		"days",
		"onset and futures: observation needed before the index day (default: 365)",
		fields.decimal(0, 36_525).optional(),
	),
	csv: fields.file("onset: also write every code to a CSV file"),
	lookup: fields.whole(1, 1_000_000).default(lookup).describe("forecast: events that are observed"),
	draws: fields.whole(evaluating.fewestDraws, 1_000_000).default(draws).describe("bootstrap draws"),
	seed: fields.seed
		.default(usualSeed)
		.describe("seed of the bootstrap, of index days and of sampled futures"),
	patients: fields.option(
		"n|all",
		`the first n patients of the split by id, or all; a stored result of more patients is kept (default: all, or ${thousands(evaluating.mostEvaluated)} drawn at random)`,
		fields.patientCount,
	),
	labels: opening.labelsField,
	labelTimeIs: opening.labelTimeField("--labels"),
	dataset: fields.folder(
		"another dataset, prepared with --like RUN, for external validation; or the run's own, if it was moved",
	),
	predictions: fields.file(
		"onset and labelled tasks: write the predictions for each patient to a .csv or .parquet file",
	),
	predictionsSchema: predictionsSchemaField,
	plp: fields.folder(
		"onset and labelled tasks: write prediction.csv and the evaluation tables of OHDSI's PatientLevelPrediction",
	),
	compare: fields.option(
		"file",
		"onset and labelled tasks: compare the model with the predictions of a .csv or .parquet file, for the same patients and times; repeatable",
		z.array(z.string()).optional(),
	),
	force: fields.flag("replace existing files of --csv, --predictions and --plp"),
	oracle: fields.folder("the simulated population, if it was moved"),
	futures: fields
		.whole(1, 100_000)
		.default(futures)
		.describe(
			"forecast, onset, chf and diabetes: futures that the reference model samples per patient",
		),
	regressionPatients: fields
		.whole(2, 10_000_000)
		.optional()
		.describe(
			"onset and labelled tasks: most training patients or labels that regressions learn from, evenly spread (default: 100,000)",
		),
	shots: fields
		.whole(2, 1_000_000)
		.optional()
		.describe("labelled tasks: labels of the few-shot row (default: 5)"),
	code: fields.text(
		"code",
		"labelled tasks of your own: the code that the label is about; onset: the code of --predictions",
	),
	threads: fields.threadsField,
	...fields.computeFields(),
	json: fields.flag("print one JSON document"),
};

type Options = fields.Values<typeof options>;

/** Flags whose library option has another name. */
const libraryNames: Readonly<Record<string, string>> = {
	lookBack: "lookBackDays",
	method: "methods",
};

export const command = defineCommand({
	name: "evaluate",
	description,
	arguments: {
		run: z.tuple([z.string()], z.string()).describe("run folders written by `trajgpt pretrain`"),
	},
	options,
	flags: { lookBackDays: "--look-back", methods: "--method" },
	examples: {
		"trajgpt evaluate runs/sim": "every task on the test patients",
		"trajgpt evaluate runs/sim --dataset other": "all tasks on the patients of another hospital",
		"trajgpt evaluate runs/sim --task insulin --predictions p.parquet --predictions-schema meds":
			"predictions for meds-evaluation",
		"trajgpt evaluate runs/sim --task insulin --plp results": "tables for OHDSI's tools",
		"trajgpt evaluate runs/sim --task onset --index 2015-01-01 --horizons 1,5":
			"first records after a date, within 1 and 5 years",
		"trajgpt evaluate runs/sim --task onset --horizons 1,5 --compare xgb.csv":
			"beside predictions of your own",
		"trajgpt evaluate runs/sim --task forecast --method time-specific": "one forecasting method",
		"trajgpt evaluate runs/sim --task stroke --code 433 --labels labels/stroke":
			"labels that `trajgpt tasks` wrote",
		"trajgpt evaluate runs/sim --patients all": "everybody, also in a large split",
		"trajgpt evaluate runs/s1 runs/s2 runs/s3 --task forecast": "intervals over three seeds",
		"mpirun -n 4 trajgpt evaluate runs/sim": "four processes share the patients",
	},
	async run(io, { run: folders, ...options }, { typed, withFlags }) {
		const { task, method, dataset, json, csv, lookBack: lookBackDays, ...others } = options;
		const { predictions, predictionsSchema, plp, force, labels, labelTimeIs, ...rest } = others;
		checkFiles(folders, options);
		const runs = folders.map((folder) => opening.openRun(io, folder));
		let printed = 0;
		const print = (text: string) => {
			if (!json) io.stdout.write(printed++ === 0 ? text : `\n${text}`);
		};
		const opened = opening.withDatasetWarning(io, await commonDataset(runs, dataset));
		const data = await opening.withGivenLabels(io, opened, task, { labels, labelTimeIs });
		if (task !== "all")
			evaluating.checkTaskOptions(
				task,
				data,
				Array.from(typed, (name) => libraryNames[name] ?? name),
			);
		if (csv !== undefined) {
			await checkOutputFile(csv, force ?? false);
			await checkWritable(csv);
		}
		const results = await evaluate(runs, data, {
			...rest,
			...(lookBackDays !== undefined && { lookBackDays }),
			...(method !== "all" && { methods: [method] }),
			...(predictions !== undefined && {
				predictions: { file: predictions, schema: predictionsSchema ?? "plain", replace: force },
			}),
			...(plp !== undefined && { plp: { folder: plp, replace: force } }),
			task: task === "all" ? undefined : task,
			progress: progressOf(io),
			communicator: communicatorOf(io),
			onEvaluation: ({ run, evaluation, predictions: written, ...stored }) => {
				tell(io, written ?? {});
				print(evaluationText(run, storedText(stored), evaluation, withFlags));
				if (written) print(predictionsText(written));
			},
			onAcrossRuns: (name, over) => print(acrossRunsText(name, over)),
		});
		if (json) printJson(io, results);
		const onset = results.onset?.runs[0]?.evaluation;
		if (csv !== undefined && onset && mayWrite(io))
			await replaceFile(csv, (partial) => writeFile(partial, onsetCsv(onset)));
		else if (csv !== undefined && !onset)
			io.stderr.write(`note: ${csv} is not written: onset is not evaluated\n`);
		checkWritten(results, "; the results are printed above");
	},
});

function checkFiles(
	folders: readonly string[],
	{ task, csv, code, predictions, predictionsSchema, plp }: Options,
): void {
	const refuse = (problem: string) => {
		throw new InputError(problem);
	};
	if (predictionsSchema !== undefined && predictions === undefined)
		refuse("--predictions-schema needs --predictions FILE");
	if (csv !== undefined && folders.length > 1)
		refuse("--csv holds the codes of one run; name one run");
	if (csv !== undefined && predictions !== undefined && resolve(csv) === resolve(predictions))
		refuse(
			`--csv and --predictions both name ${csv}; expected a file for the codes and another for the patients`,
		);
	if (csv !== undefined && !["all", "onset"].includes(task))
		refuse(
			`--csv has no effect on task ${task}: it holds the codes of onset; leave it out, or choose another --task`,
		);
	if (code !== undefined && task === "onset" && !predictions && !plp)
		refuse(
			"--code has no effect on task onset without --predictions or --plp; leave it out: all codes are evaluated",
		);
}

const storedText = ({
	file,
	notWritten,
	notStored,
}: Pick<MeasuredRun, "file" | "notWritten" | "notStored">): string =>
	notStored ? `not stored: ${notStored}` : file ? `written: ${file}` : `not written: ${notWritten}`;
