import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { columnFormat, openColumns } from "../../base/files/column-file.js";
import { checkWritable, replaceFile } from "../../base/files/index.js";
import { mapValues } from "../../base/map-values.js";
import { type Progress, silentProgress } from "../../base/progress.js";
import { thousands } from "../../base/thousands.js";
import { type Dataset, openDataset } from "../../data/cohort/index.js";
import * as evaluating from "../../evaluate/index.js";
import { checkTableFile } from "../../model/train/output-file.js";
import { defineCommand } from "./define-command.js";
import * as fields from "./fields.js";
import { printJson, progressOf, tell } from "./io.js";
import * as opening from "./open-run.js";

const description = `Write features and outcomes of people as one table, so that R, XGBoost or any other tool learns from and
predicts for exactly the people of \`trajgpt evaluate\`. \`evaluate --compare\` reads the predictions.

--task onset has one row per test patient at the index day of \`evaluate --task onset\`, and, for
training and validation, the days that the lasso regression and the trees learn from: up to five
per patient. Each code has the days to its first record, to death or to the end of observation, and
weights that correct for censoring within each horizon. A task with labels has one row per label.

Features are those of the lasso regression. The table names patients by their ids: protect it like
the records.`;

export const command = defineCommand({
	name: "features",
	description,
	arguments: opening.datasetArgument,
	options: {
		out: fields.option("file", ".parquet or .csv file to write", z.string()),
		task: fields.option("name", "onset, or a task with labels", z.string().default("onset")),
		codes: fields.option(
			"codes",
			"onset: codes whose outcomes are written, such as 428,250 (default: those with at least 20 expected onsets within a horizon)",
			fields.readBy(fields.namesIn).optional(),
		),
		index: fields.text(
			"rule",
			"onset: index day of test patients: random, visit, a date, or age:N (default: that of evaluate)",
		),
		horizons: fields.option(
			"years",
			"onset: horizons of the weights, in years (default: 1,3,5,10)",
			fields.horizonYears,
		),
		lookBack: fields.option(
			"days",
			"onset: observation needed before the index day (default: 365)",
			fields.decimal(0, 36_525).optional(),
		),
		before: fields.option(
			"date",
			"onset: training and validation rows from records up to this date, as of a run trained with --before",
			fields.date.optional(),
		),
		patients: fields.option(
			"n|all",
			`the first n test patients by id, or all (default: all, or ${thousands(evaluating.mostEvaluated)} drawn at random)`,
			fields.patientCount,
		),
		seed: fields.seed
			.default(evaluating.evaluateDefaults.seed)
			.describe("seed of random index days"),
		labels: opening.labelsField,
		labelTimeIs: opening.labelTimeField("--labels"),
		force: fields.flag("replace an existing file"),
		json: fields.flag("print one JSON document"),
	},
	flags: { lookBackDays: "--look-back" },
	examples: {
		"trajgpt features data --out matrix.parquet": "first records of every frequent code",
		"trajgpt features data --out chf.parquet --codes 428 --horizons 5": "one code, within 5 years",
		"trajgpt features data --out insulin.parquet --task insulin": "one row per label",
		"trajgpt evaluate runs/sim --task onset --horizons 5 --compare xgb.csv":
			"beside predictions that were learned from the table",
	},
	async run(io, { dataset: folder, ...options }, { refuse }) {
		const { out, force, json, labels, labelTimeIs, lookBack: lookBackDays, ...rest } = options;
		const { task } = options;
		const onlyOnset = ["codes", "index", "horizons", "lookBack", "before"];
		refuse((name) =>
			task !== "onset" && onlyOnset.includes(name)
				? `has no effect on task ${task}; leave it out, or choose onset as --task`
				: undefined,
		);
		await checkTableFile(out, force);
		await checkWritable(out);
		const opened = opening.withDatasetWarning(io, await openDataset(folder));
		const dataset = await opening.withGivenLabels(io, opened, task, { labels, labelTimeIs });
		const { notes, ...written } = await writeFeatures(out, dataset, {
			...rest,
			...(lookBackDays !== undefined && { lookBackDays }),
			progress: progressOf(io),
		});
		tell(io, { notes });
		if (json) printJson(io, { file: out, task, ...written, notes });
		else io.stdout.write(writtenText(out, written));
	},
});

type Written = Omit<Awaited<ReturnType<typeof writeFeatures>>, "notes">;

function writtenText(file: string, { rows, features, onset }: Written): string {
	const { train, valid, test } = rows;
	const outcomes = onset
		? `, outcomes of ${onset.codes.length} codes within ${onset.horizons.join(", ")} years`
		: "";
	return `${file}: ${thousands(train)} training, ${thousands(valid)} validation and ${thousands(test)} test rows; ${thousands(features)} features${outcomes}\n`;
}

/**
 * Writes the features and outcomes of a task to a .parquet or .csv file, in bounded memory.
 *
 * @example
 * await writeFeatures("matrix.parquet", await openDataset("data"), { task: "onset" });
 */
export async function writeFeatures(
	file: string,
	dataset: Dataset,
	{
		progress = silentProgress,
		...options
	}: evaluating.MatrixOptions & { readonly progress?: Progress },
) {
	const matrix = await evaluating.openFeatureMatrix(dataset, options);
	const rows = mapValues(matrix.rows, ({ people }) => people.length);
	const total = rows.train + rows.valid + rows.test;
	if (total === 0)
		throw new InputError(`${dataset.folder} has no label of task ${options.task}`, {
			field: "task",
			value: options.task,
		});
	let features = 0;
	let done = 0;
	await replaceFile(file, async (partial) => {
		const table = await openColumns(partial, columnFormat(file));
		for (const columns of evaluating.matrixPieces(dataset, matrix)) {
			await table.add(columns);
			features = columns.length - columns.findIndex(({ name }) => name === "age");
			done += columns[0]?.values.length ?? 0;
			progress.update({ label: "writing: row", done, total });
		}
		await table.close();
	});
	progress.finish();
	return {
		rows,
		features,
		...(matrix.onset && { onset: matrix.onset }),
		notes: matrix.notes,
	};
}
