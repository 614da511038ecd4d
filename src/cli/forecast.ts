import { open } from "node:fs/promises";
import { Command, Option } from "commander";
import { checkFileTarget, replaceFile } from "../files/index.js";
import { type Moment, momentForms, momentOf, momentsOf } from "../infer/user-input/index.js";
import { type Forecast, type ForecastOptions, forecast, methods } from "../workflows/forecast.js";
import {
	csvHeader,
	type ForecastContext,
	forecastCsv,
	forecastJson,
	forecastText,
} from "./forecast-text.js";
import { type Io, printJson, progressOf } from "./io.js";
import { seedNumber, wholeNumber } from "./option-values.js";
import {
	addPatientOptions,
	asArgument,
	openRunAndPatients,
	type PatientFlags,
} from "./patient-options.js";

interface Options extends PatientFlags, ForecastOptions {
	readonly at?: readonly Moment[];
	readonly csv?: string;
	readonly force?: true;
	readonly json?: true;
}

const defaultTimes: readonly Moment[] = ["+1m", "+1y", "+5y"].map(momentOf);

const description = `Predict which codes will be recorded at given times, for patients that the model has not seen.

The records may be in any format that prepare reads. Codes are mapped as in training; codes that the
model does not know are counted and skipped. Each prediction is the distribution of the code, given
that something is recorded at that time. At times inside a history, only earlier events are used.

TIME is ${momentForms.replace(", an age", ",\nan age")}.`;

export const examples = {
	"trajgpt forecast runs/demo/run --patient p000060":
		"a patient of the run's dataset, in a month, a year, five years",
	"trajgpt forecast run --input bundle.json --at 2026-06-01 +2y age:70": "new patients from FHIR",
	"trajgpt forecast run --input claims --format csv --at +1y --csv answers.csv":
		"all patients of a folder, as a table",
};

export function command(io: Io): Command {
	const made = new Command("forecast")
		.description(description)
		.argument("<run>", "run folder written by `trajgpt pretrain`")
		.addOption(
			new Option(
				"--at <time...>",
				"query times, separated by spaces or commas; write negative times with commas, or as --at=-2y (default: +1m,+1y,+5y)",
			).argParser(asArgument(momentsOf)),
		)
		.option("--patient <id>", "forecast for one patient instead of all")
		.option("--top <n>", "codes per prediction", wholeNumber(1, 100_000), 10)
		.addOption(
			new Option(
				"--method <name>",
				"predict at each time directly, by number of events ahead, in equal steps that feed predictions back, or from sampled futures (default: the model's own)",
			).choices(methods),
		)
		.option(
			"--samples <n>",
			"futures per patient, with --method sampled",
			wholeNumber(1, 100_000),
			200,
		)
		.option("--seed <n>", "seed of the futures", seedNumber, 0)
		.option("--csv <file>", "write all predictions to a CSV file instead of printing them")
		.option("--force", "replace an existing file")
		.option("--json", "print one JSON document");
	addPatientOptions(made);
	return made.action((folder: string, options: Options) => act(io, folder, options));
}

async function act(io: Io, folder: string, options: Options): Promise<void> {
	const { csv, at: moments = defaultTimes, samples, seed, json } = options;
	if (csv !== undefined) await checkFileTarget(csv, options.force ?? false);
	const { trained, queried } = await openRunAndPatients(io, folder, options);
	const { method, warnings, forecasts } = forecast(trained, queried, moments, options);
	for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
	const context = { moments, axis: queried.axis, vocabulary: trained.vocabulary };
	const shown = progressing(io, queried.patients.length, forecasts);
	const patients: unknown[] = [];
	let before = "If something is recorded then, what is it?\n\n";
	const print = (one: Forecast) => {
		if (json) patients.push(forecastJson(one, context));
		else if (csv === undefined) {
			io.stdout.write(before + forecastText(one, context, io.stdout.columns ?? 100));
			before = "\n\n";
		}
	};
	if (csv === undefined) for await (const one of shown) print(one);
	else await writeCsv(csv, context, shown, print);
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
	if (csv !== undefined) io.stderr.write(`written: ${csv}\n`);
}

/** Reports progress when there are many patients. */
async function* progressing(
	io: Io,
	total: number,
	forecasts: AsyncIterable<Forecast>,
): AsyncGenerator<Forecast> {
	const progress = progressOf(io);
	let done = 0;
	for await (const one of forecasts) {
		yield one;
		done++;
		if (total > 100) progress.update({ label: "patient", done, total });
	}
	if (total > 100) progress.finish();
}

async function writeCsv(
	file: string,
	context: ForecastContext,
	forecasts: AsyncIterable<Forecast>,
	onForecast: (forecast: Forecast) => void,
): Promise<void> {
	await replaceFile(file, async (partial) => {
		const handle = await open(partial, "w");
		try {
			await handle.write(csvHeader);
			for await (const one of forecasts) {
				onForecast(one);
				await handle.write(forecastCsv(one, context));
			}
		} finally {
			await handle.close();
		}
	});
}
