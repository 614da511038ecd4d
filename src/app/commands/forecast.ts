import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { type Column, columnFormat, columnsOf, openColumns } from "../../base/files/column-file.js";
import { replaceFile } from "../../base/files/index.js";
import type { Trained } from "../../model/train/index.js";
import { checkTableFile } from "../../model/train/output-file.js";
import { forecastText, type PatientForecast } from "../../predict/forecast-text.js";
import { type Forecast, forecast, methods } from "../../predict/trained/forecast.js";
import { type Moment, momentForms, momentOf } from "../../predict/user-input/moments.js";
import { defineCommand } from "./define-command.js";
import { choice, file, flag, moments, option, seed, text, type Values, whole } from "./fields.js";
import { communicatorOf, type Io, mayWrite, printJson, progressOf, tell } from "./io.js";
import { modelArgument, openModel, refuseUnitAlone } from "./open-run.js";
import { hasRecords, openQueried, patientFields, patientFlags } from "./patients.js";
import {
	checkTaskOptions,
	labelFields,
	predictionsSchemaField,
	scoreLabels,
	scorePatients,
} from "./score.js";

/** The default query times, by the length of the histories that the model has learned from. */
function defaultTimes({ reach }: Trained["manifest"]): readonly Moment[] {
	const longestDays = reach?.longestDays ?? Number.POSITIVE_INFINITY;
	if (longestDays > 365) return ["+1m", "+1y", "+5y"].map(momentOf);
	return (longestDays > 10 ? ["+1d", "+7d", "+30d"] : ["+1h", "+6h", "+24h"]).map(momentOf);
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

const options = {
	at: option(
		"time...",
		"query times, separated by spaces or commas; write negative times with commas, or as --at=-2y (default: +1m,+1y,+5y; days or hours where the histories of training are that short)",
		moments,
	),
	patient: text("id", "forecast for one patient instead of all"),
	top: whole(1, 100_000).default(10).describe("codes per prediction"),
	method: choice(
		"name",
		"predict at each time directly, by number of events ahead, in equal steps that feed predictions back, or from sampled futures (default: the model's own)",
		methods,
	),
	samples: whole(1, 100_000).default(200).describe("futures per patient, with --method sampled"),
	seed: seed.default(0).describe("seed of the futures"),
	predictions: file(
		"write all predictions to a .csv or .parquet file instead of printing them",
	).meta({ alias: "--csv" }),
	predictionsSchema: predictionsSchemaField,
	...labelFields,
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
		checkTaskOptions(usage, trained, (name) => ["top", "method", "samples", "seed"].includes(name));
		const { labels, labelTimeIs, split, splitsFrom } = options;
		refuseUnitAlone(labels, labelTimeIs);
		if (labels !== undefined) {
			usage.refuse((name) =>
				["at", "patient", "input", "json"].includes(name)
					? "does not go with --labels, which name patients of the run's dataset and times; leave one of them out"
					: undefined,
			);
			hasRecords(options);
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
	await checkTableFile(file, options.force);
	const queried = await openQueried(io, trained, options);
	const { method, warnings, forecasts } = forecast(trained, queried, moments, {
		...options,
		communicator: communicatorOf(io),
	});
	tell(io, { warnings });
	const shown = progressing(io, queried.patients.length, forecasts);
	const patients: PatientForecast[] = [];
	let before = "If something is recorded then, what is it?\n\n";
	const print = ({ patient, forecast }: Forecast) => {
		if (json) patients.push(forecast);
		else if (file === undefined) {
			const text = forecastText(patient, forecast, queried.axis, io.stdout.columns ?? 100);
			io.stdout.write(before + text);
			before = "\n\n";
		}
	};
	if (file !== undefined && mayWrite(io)) await writeForecasts(file, shown, print);
	else for await (const one of shown) print(one);
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

async function* progressing(
	io: Io,
	total: number,
	forecasts: AsyncIterable<Forecast>,
): AsyncGenerator<Forecast> {
	if (total <= 100) return yield* forecasts;
	const progress = progressOf(io);
	let done = 0;
	for await (const one of forecasts) {
		yield one;
		progress.update({ label: "patient", done: ++done, total });
	}
	progress.finish();
}

const pieceSize = 256;

async function writeForecasts(
	file: string,
	forecasts: AsyncIterable<Forecast>,
	onForecast: (forecast: Forecast) => void,
): Promise<void> {
	await replaceFile(file, async (partial) => {
		const table = await openColumns(partial, columnFormat(file));
		let piece: PatientForecast[] = [];
		for await (const one of forecasts) {
			onForecast(one);
			if (piece.push(one.forecast) < pieceSize) continue;
			await table.add(forecastColumns(piece));
			piece = [];
		}
		if (piece.length > 0) await table.add(forecastColumns(piece));
		await table.close();
	});
}

/** One row per patient, time and code. */
function forecastColumns(forecasts: readonly PatientForecast[]): Column[] {
	const rows = forecasts.flatMap(({ id, answers }) =>
		answers.flatMap(({ top, ...query }) =>
			top.map((code, rank) => ({ id, ...query, ...code, rank: rank + 1 })),
		),
	);
	return columnsOf(rows, {
		patient: ["text", ({ id }) => id],
		at: ["text", ({ at }) => at],
		date: ["text", ({ date = null }) => date],
		day: ["number", ({ day }) => day],
		age_years: ["decimal", ({ ageYears }) => ageYears],
		place: ["text", ({ place }) => place],
		rank: ["count", ({ rank }) => rank],
		code: ["text", ({ code }) => code],
		system: ["text", ({ system }) => system],
		name: ["text", ({ name }) => name],
		probability: ["number", ({ probability }) => probability],
	});
}
