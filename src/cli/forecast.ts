import { open } from "node:fs/promises";
import { Command, Option } from "commander";
import { progress } from "../base/progress.js";
import { checkFileTarget, replaceFile } from "../files/index.js";
import {
	type Moment,
	momentForms,
	momentOf,
	momentsOf,
	timesOf,
	warningsFor,
} from "../infer/asking/index.js";
import { asArgument } from "./asking/argument.js";
import { type AskingOptions, addAskingOptions } from "./asking/options.js";
import { openSession, type Session, withPredictor } from "./asking/session.js";
import { examples } from "./examples.js";
import {
	type Forecast,
	type ForecastOptions,
	forecasts,
	methodFor,
	methods,
} from "./forecast/forecasts.js";
import {
	csvHeader,
	type ForecastWords,
	forecastCsv,
	forecastJson,
	forecastText,
} from "./forecast/render.js";
import type { Io } from "./io.js";
import { printJson } from "./io.js";
import { seedNumber, wholeNumber } from "./option-values.js";

interface Options extends AskingOptions, Omit<ForecastOptions, "method"> {
	readonly method?: ForecastOptions["method"];
	readonly at?: readonly Moment[];
	readonly csv?: string;
	readonly force?: true;
	readonly json?: true;
}

const usualTimes: readonly Moment[] = ["+1m", "+1y", "+5y"].map(momentOf);

const description = `Tells what is likely to be recorded at times of your choice, for patients the model has not seen.

The records may be of any format that prepare reads; codes are mapped as they were for training, and
those the model does not know are counted and skipped. Each answer says: if something is recorded at
this time, what is it? Times inside a history are answered from what came before them.

TIME is ${momentForms.replace(", an age", ",\nan age")}.`;

export function command(io: Io): Command {
	const made = new Command("forecast")
		.description(description)
		.argument("<run>", "folder that pretrain wrote")
		.addOption(
			new Option(
				"--at <time...>",
				"when; several, with spaces or commas; those like -2y with commas, or as --at=-2y (default: +1m,+1y,+5y)",
			).argParser(asArgument(momentsOf)),
		)
		.option("--patient <id>", "one patient instead of all")
		.option("--top <n>", "codes an answer", wholeNumber(1, 100_000), 10)
		.addOption(
			new Option(
				"--method <name>",
				"at each time directly, by how many events ahead it is, by equal steps that feed their answer back, or by sampled futures; the model's usual one if left out",
			).choices(methods),
		)
		.option(
			"--samples <n>",
			"futures a patient, with --method sampled",
			wholeNumber(1, 100_000),
			200,
		)
		.option("--seed <n>", "of the futures", seedNumber, 0)
		.option("--csv <file>", "write a table of all answers instead of printing them")
		.option("--force", "replace a file that is there")
		.option("--json", "print one JSON document");
	addAskingOptions(made);
	return made
		.addHelpText(
			"after",
			examples({
				"trajgpt forecast runs/demo/run --patient p000060":
					"a patient of the run's own dataset, in a month, a year, five years",
				"trajgpt forecast run --input bundle.json --at 2026-06-01 +2y age:70":
					"new patients, from FHIR",
				"trajgpt forecast run --input claims --format csv --at +1y --csv answers.csv":
					"all patients of a folder, as a table",
			}),
		)
		.action((folder: string, options: Options) => act(io, folder, options));
}

async function act(io: Io, folder: string, options: Options): Promise<void> {
	const { csv, at: moments = usualTimes } = options;
	if (csv !== undefined) await checkFileTarget(csv, options.force ?? false);
	const session = await openSession(io, folder, options);
	const { asked, trained } = session;
	const method = methodFor(trained.model, options.method);
	const times = timesOf(moments, asked.patients, asked.axis, "--at");
	const questions = asked.patients.flatMap((patient, at) =>
		(times[at] ?? []).map((time) => ({ patient, time })),
	);
	const warnings = warningsFor(asked, questions, trained.manifest);
	for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
	const words = { moments, axis: asked.axis, vocabulary: trained.vocabulary };
	const columns = io.stdout.columns ?? 100;
	const patients: unknown[] = [];
	let before = "If something is recorded then, what is it?\n\n";
	const see = (forecast: Forecast) => {
		if (options.json) patients.push(forecastJson(forecast, words));
		else if (csv === undefined) {
			io.stdout.write(before + forecastText(forecast, words, columns));
			before = "\n\n";
		}
	};
	const each = (more?: (forecast: Forecast) => unknown) =>
		forEachForecast(io, session, times, { ...options, method }, async (forecast) => {
			see(forecast);
			await more?.(forecast);
		});
	if (csv === undefined) await each();
	else await writeCsv(csv, words, each);
	const { samples, seed, json } = options;
	if (json)
		printJson(io, {
			run: folder,
			method,
			...(method === "sampled" && { samples, seed }),
			patients,
			unknown: asked.unknown,
			notes: asked.notes,
			warnings,
		});
	if (csv !== undefined) io.stderr.write(`written: ${csv}\n`);
}

/** Hands on each patient's forecast as it is made. */
async function forEachForecast(
	io: Io,
	session: Session,
	times: readonly (readonly number[])[],
	options: ForecastOptions & Pick<Options, "threads">,
	see: (forecast: Forecast) => unknown,
): Promise<void> {
	const { patients } = session.asked;
	const shown = progress(io.stderr, { clock: () => performance.now() });
	await withPredictor(session, options.threads, async (predictor) => {
		let done = 0;
		for await (const forecast of forecasts(predictor, patients, times, options)) {
			await see(forecast);
			done++;
			if (patients.length > 100) shown.update({ label: "patient", done, total: patients.length });
		}
	});
	if (patients.length > 100) shown.finish();
}

async function writeCsv(
	file: string,
	words: ForecastWords,
	each: (see: (forecast: Forecast) => unknown) => Promise<void>,
): Promise<void> {
	await replaceFile(file, async (partial) => {
		const handle = await open(partial, "w");
		try {
			await handle.write(csvHeader);
			await each((forecast) => handle.write(forecastCsv(forecast, words)));
		} finally {
			await handle.close();
		}
	});
}
