import { writeFile } from "node:fs/promises";
import { Command, InvalidArgumentError, Option } from "commander";
import { checkFileTarget, replaceFile } from "../files/index.js";
import {
	type GridOptions,
	type Moment,
	momentForms,
	momentOf,
	momentsOf,
	spanDays,
} from "../infer/user-input/index.js";
import { checkFigureTarget, writeFigure } from "../workflows/figure-file.js";
import { risk } from "../workflows/risk.js";
import { riskPicture, risksCsv, risksJson } from "../workflows/risk-documents.js";
import type { EditOptions } from "../workflows/risk-edits.js";
import { examples } from "./examples.js";
import { type Io, printJson } from "./io.js";
import { wholeNumber } from "./option-values.js";
import {
	addPatientOptions,
	asArgument,
	openRunAndPatients,
	type PatientFlags,
} from "./patient-options.js";
import { eventsText, risksText } from "./risk-text.js";
import { textBarsFor } from "./text-bars.js";

interface Options extends PatientFlags, GridOptions, EditOptions {
	readonly code: readonly string[];
	readonly attribute?: readonly Moment[];
	readonly top: number;
	readonly events?: true;
	readonly figure?: string;
	readonly csv?: string;
	readonly force?: true;
	readonly json?: true;
}

const description = `Follows the risk of a code along a patient's history and beyond: how it grew, when it rose, and with
what was recorded then. The risk at a time is the chance that it is this code, if something is
recorded at that time, given what came before.

TIME is ${momentForms.replace(", an age", ",\nan age")}.
CODE is a PheCode, a code of the model's own, or an ICD code that is mapped to one; 428 stands for
all codes below it too, and icd9:428.0 says which classification is meant.`;

export function command(io: Io): Command {
	const made = new Command("risk")
		.description(description)
		.argument("<run>", "folder that pretrain wrote")
		.addOption(new Option("--code <code...>", "whose risk; several").makeOptionMandatory())
		.option("--patient <id>", "whom; needed where there are several")
		.option("--from <time>", "where to begin (default: the first event)", asArgument(momentOf))
		.option("--to <time>", "where to end (default: +5y)", asArgument(momentOf))
		.option(
			"--step <span>",
			"between two times: 10d, 2w, 6m, 1y (default: fits the time)",
			asArgument(spanDays),
		)
		.addOption(
			new Option(
				"--attribute <time...>",
				"tell which events drove the risk at this time; several, with spaces or commas; those like -2y with commas",
			).argParser(asArgument(momentsOf)),
		)
		.option("--top <n>", "events to list for each", wholeNumber(1, 100_000), 10)
		.option("--events", "list the patient's events with their numbers")
		.option("--figure <file>", "draw it too: a name that ends in .svg or .png")
		.option("--csv <file>", "write all times to a table too")
		.option("--force", "replace files that are there")
		.option("--json", "print one JSON document");
	const whatIf = (flags: string, text: string, parse: (text: string, before: never) => unknown) =>
		made.addOption(
			new Option(flags, text).argParser(parse as (text: string) => unknown).helpGroup("What if:"),
		);
	whatIf("--add <code@time...>", "had this been recorded too: 250@2010-05-01", addedOf);
	whatIf("--remove <n...>", "had event number n not been recorded", removedOf);
	whatIf("--move <n@time...>", "had event number n been at another time: 12@-6m", movedOf);
	addPatientOptions(made);
	return made
		.addHelpText(
			"after",
			examples({
				"trajgpt risk runs/demo/run --patient p000060 --code 428 --figure risk.svg":
					"a patient of the run's own dataset",
				"trajgpt risk run --input bundle.json --code I50.9 --attribute +1y":
					"a new patient, and what drives the risk of heart failure",
				"trajgpt risk run --input bundle.json --code 428 --add 250@-2y --remove 3":
					"had it been otherwise",
			}),
		)
		.action((folder: string, options: Options) => act(io, folder, options));
}

async function act(io: Io, folder: string, options: Options): Promise<void> {
	const { figure, csv, force = false } = options;
	if (figure !== undefined) await checkFigureTarget(figure, force);
	if (csv !== undefined) await checkFileTarget(csv, force);
	const { trained, queried } = await openRunAndPatients(io, folder, options);
	const result = await risk(trained, queried, { ...options, codes: options.code });
	for (const note of result.notes) io.stderr.write(`note: ${note}\n`);
	for (const warning of result.warnings) io.stderr.write(`warning: ${warning}\n`);
	if (options.json)
		printJson(io, {
			run: folder,
			...risksJson(result),
			unknown: queried.unknown,
			notes: queried.notes,
			warnings: result.warnings,
		});
	else {
		io.stdout.write(risksText(result, options.top, textBarsFor(io)));
		if (options.events) io.stdout.write(eventsText(result));
	}
	if (csv !== undefined) {
		await replaceFile(csv, (partial) => writeFile(partial, risksCsv(result)));
		io.stderr.write(`written: ${csv}\n`);
	}
	if (figure !== undefined) {
		const { riskFigure } = await import("../figures/index.js");
		await writeFigure(figure, riskFigure(riskPicture(result)));
		io.stderr.write(`drawn: ${figure}\n`);
	}
}

const momentArgument = asArgument(momentOf);

/** CODE@TIME. */
function addedOf(text: string, before: EditOptions["add"] = []): EditOptions["add"] {
	const [, code, time] = /^([^@]+)@(.+)$/.exec(text) ?? [];
	if (!code || !time)
		throw new InvalidArgumentError("Expected a code and a time, as in 250@2010-05-01.");
	return [...before, { code, at: momentArgument(time) }];
}

/** N, the number of an event. */
function removedOf(text: string, before: readonly number[] = []): readonly number[] {
	return [...before, eventNumber(text)];
}

/** N@TIME. */
function movedOf(text: string, before: EditOptions["move"] = []): EditOptions["move"] {
	const [, event, time] = /^([^@]+)@(.+)$/.exec(text) ?? [];
	if (!event || !time)
		throw new InvalidArgumentError("Expected the number of an event and a time, as in 12@-6m.");
	return [...before, { event: eventNumber(event), at: momentArgument(time) }];
}

function eventNumber(text: string): number {
	if (/^[1-9]\d*$/.test(text)) return Number(text);
	throw new InvalidArgumentError("Expected the number of an event, from 1; --events lists them.");
}
