import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { type Column, columnFormat, openColumns } from "../../base/files/column-file.js";
import { replaceFile } from "../../base/files/index.js";
import { splitNames } from "../../data/cohort/index.js";
import type { Trained } from "../../model/train/index.js";
import { checkOutputFile } from "../../model/train/output-file.js";
import { methods, type PatientForecast } from "../../predict/forecast/answer.js";
import { type ForecastContext, forecastJson, forecastText } from "../../predict/forecast/text.js";
import { forecast } from "../../predict/trained/forecast.js";
import { type Moment, momentForms, momentOf } from "../../predict/user-input/index.js";
import { defineCommand } from "./define-command.js";
import { flag, moments, option, seed, type Values, whole } from "./fields.js";
import { communicatorOf, type Io, mayWrite, printJson, progressOf } from "./io.js";
import { labelTimeField, modelArgument, openModel, refuseUnitAlone } from "./open-run.js";
import { openQueried, patientFields, patientFlags, refuseRecordOptions } from "./patients.js";
import { checkTaskOptions, predictionsSchemaField, scoreLabels, scorePatients } from "./score.js";

/** The default query times, by the length of the histories that the model has learned from. */
function defaultTimes({ reach }: Trained["manifest"]): readonly Moment[] {
	const longestDays = reach?.longestDays ?? Number.POSITIVE_INFINITY;
	const times =
		longestDays > 365
			? ["+1m", "+1y", "+5y"]
			: longestDays > 10
				? ["+1d", "+7d", "+30d"]
				: ["+1h", "+6h", "+24h"];
	return times.map(momentOf);
}

const description = `Predict which codes will be recorded at given times, for patients that the model has not seen.

The records may be in any format that prepare reads. Codes are mapped as in training; codes that the
model does not know are counted and skipped. Each prediction is the distribution of the code, given
that something is recorded at that time. At times inside a history, only earlier events are used.

A fine-tuned model (RUN/tasks/TASK) predicts its label instead: the probability from the records up to each
time, by default up to the last record. With --labels, it predicts these labels: each from the records of the
run's dataset up to the very time of the label.

TIME is ${momentForms}.`;

const examples = {
	"trajgpt forecast runs/demo/run --patient p001146":
		"a patient of the run's dataset, in a month, a year, five years",
	"trajgpt forecast run --input bundle.json --at 2026-06-01 +2y age:70": "new patients from FHIR",
	"trajgpt forecast run --input claims --format csv --at +1y --predictions predictions.parquet":
		"all patients of a folder, as a table",
	"trajgpt forecast run/tasks/insulin --input claims.csv --predictions insulin.csv":
		"the probability of insulin, one row per patient",
	"trajgpt forecast run/tasks/stroke --labels labels/stroke --split test --predictions p.parquet --predictions-schema meds":
		"one row per label, for meds-evaluation",
};

const text = z.string().optional();

const options = {
	at: option(
		"time...",
		"query times, separated by spaces or commas; write negative times with commas, or as --at=-2y (default: +1m,+1y,+5y; days or hours where the histories of training are that short)",
		moments,
	),
	patient: option("id", "forecast for one patient instead of all", text),
	top: option("n", "codes per prediction", whole(1, 100_000).default(10)),
	method: option(
		"name",
		"predict at each time directly, by number of events ahead, in equal steps that feed predictions back, or from sampled futures (default: the model's own)",
		z.enum(methods).optional(),
	),
	samples: option(
		"n",
		"futures per patient, with --method sampled",
		whole(1, 100_000).default(200),
	),
	seed: option("n", "seed of the futures", seed.default(0)),
	predictions: option(
		"file",
		"write all predictions to a .csv or .parquet file instead of printing them",
		text,
		{ alias: "--csv" },
	),
	predictionsSchema: predictionsSchemaField,
	labels: option(
		"path",
		"fine-tuned model: predict the labels of a file, or of a folder of MEDS label files",
		text,
	),
	labelTimeIs: labelTimeField("--labels"),
	split: option(
		"name",
		"with --labels: only the patients of this split",
		z.enum(splitNames).optional(),
	),
	splitsFrom: option(
		"file",
		"file that says who is in --split, such as subject_splits.parquet of MEDS (default: the dataset)",
		text,
	),
	force: flag("replace an existing file"),
	json: flag("print one JSON document"),
	...patientFields,
};

type Options = Values<typeof options>;

export const command = defineCommand({
	name: "forecast",
	description,
	arguments: { run: z.string().describe(modelArgument) },
	options,
	examples,
	flags: patientFlags,
	async run(io, { run: folder, ...options }, usage) {
		const trained = openModel(io, folder);
		checkTaskOptions(usage, trained, ["top", "method", "samples", "seed"]);
		const { labels, labelTimeIs, split, splitsFrom } = options;
		refuseUnitAlone(labels, labelTimeIs);
		if (labels !== undefined) {
			usage.refuse((name) =>
				["at", "patient", "input", "json"].includes(name)
					? "does not go with --labels, which name patients of the run's dataset and times; leave one of them out"
					: undefined,
			);
			refuseRecordOptions(options);
			const communicator = communicatorOf(io);
			return scoreLabels(io, trained, { ...options, labels, communicator }, options);
		}
		if (split !== undefined || splitsFrom !== undefined)
			throw new InputError("--split and --splits-from are for --labels; leave them out", {
				field: "labels",
			});
		if (trained.task)
			return scorePatients(io, folder, trained, await openQueried(io, trained, options), options);
		return act(io, folder, trained, options);
	},
});

async function act(io: Io, folder: string, trained: Trained, options: Options): Promise<void> {
	const {
		predictions: file,
		at: moments = defaultTimes(trained.manifest),
		samples,
		seed,
		json,
	} = options;
	if (options.predictionsSchema !== undefined && options.predictionsSchema !== "plain")
		throw new InputError(
			`--predictions-schema ${options.predictionsSchema} is for predictions of a label, and ${folder} predicts codes; leave it out, or give a fine-tuned model: ${folder}/tasks/TASK`,
			{ field: "predictionsSchema" },
		);
	const format = file === undefined ? undefined : columnFormat(file);
	if (file !== undefined) await checkOutputFile(file, options.force ?? false);
	const queried = await openQueried(io, trained, options);
	const { method, warnings, forecasts } = forecast(trained, queried, moments, {
		...options,
		communicator: communicatorOf(io),
	});
	for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
	const context = { moments, axis: queried.axis, vocabulary: trained.vocabulary };
	const shown = progressing(io, queried.patients.length, forecasts);
	const patients: unknown[] = [];
	let before = "If something is recorded then, what is it?\n\n";
	const print = (one: PatientForecast) => {
		if (json) patients.push(forecastJson(one, context));
		else if (file === undefined) {
			io.stdout.write(before + forecastText(one, context, io.stdout.columns ?? 100));
			before = "\n\n";
		}
	};
	if (file === undefined || format === undefined || !mayWrite(io))
		for await (const one of shown) print(one);
	else await writeForecasts(file, format, context, shown, print);
	if (json)
		printJson(io, {
			run: folder,
			method,
			...(method === "sampled" && { samples, seed }),
			patients,
			unknown: queried.unknown,
			notes: queried.notes,
			warnings,
		});
	if (file !== undefined) io.stderr.write(`written: ${file}\n`);
}

/** Reports progress when there are many patients. */
async function* progressing(
	io: Io,
	total: number,
	forecasts: AsyncIterable<PatientForecast>,
): AsyncGenerator<PatientForecast> {
	const progress = progressOf(io);
	let done = 0;
	for await (const one of forecasts) {
		yield one;
		done++;
		if (total > 100) progress.update({ label: "patient", done, total });
	}
	if (total > 100) progress.finish();
}

/** Patients per piece of a file. */
const pieceSize = 256;

async function writeForecasts(
	file: string,
	format: ReturnType<typeof columnFormat>,
	context: ForecastContext,
	forecasts: AsyncIterable<PatientForecast>,
	onForecast: (forecast: PatientForecast) => void,
): Promise<void> {
	await replaceFile(file, async (partial) => {
		const table = await openColumns(partial, format);
		let piece: PatientForecast[] = [];
		for await (const one of forecasts) {
			onForecast(one);
			if (piece.push(one) < pieceSize) continue;
			await table.add(forecastColumns(piece, context));
			piece = [];
		}
		if (piece.length > 0) await table.add(forecastColumns(piece, context));
		await table.close();
	});
}

/** One row per patient, time and code. */
function forecastColumns(
	forecasts: readonly PatientForecast[],
	context: ForecastContext,
): Column[] {
	const rows = forecasts.flatMap((forecast) => {
		const { id, answers } = forecastJson(forecast, context);
		return answers.flatMap(({ top, ...query }) =>
			top.map((code, rank) => ({ id, ...query, ...code, rank: rank + 1 })),
		);
	});
	type Row = (typeof rows)[number];
	const text = (name: string, of: (row: Row) => string | null | undefined): Column => ({
		name,
		type: "text",
		values: rows.map((row) => of(row) ?? null),
	});
	return [
		text("patient", ({ id }) => id),
		text("at", ({ at }) => at),
		text("date", ({ date }) => date),
		{ name: "day", type: "number", values: rows.map(({ day }) => day) },
		{ name: "age_years", type: "decimal", values: rows.map(({ ageYears }) => ageYears) },
		text("place", ({ place }) => place),
		{ name: "rank", type: "count", values: rows.map(({ rank }) => rank) },
		text("code", ({ code }) => code),
		text("system", ({ system }) => system),
		text("name", ({ name }) => name),
		{ name: "probability", type: "number", values: rows.map(({ probability }) => probability) },
	];
}
