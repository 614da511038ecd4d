import { writeFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { InputError } from "../base/errors.js";
import type { NewPatient } from "../cohort/index.js";
import { checkFileTarget, replaceFile } from "../files/index.js";
import {
	editWarnings,
	findCode,
	type GridOptions,
	gridOf,
	type Moment,
	momentForms,
	momentOf,
	momentsOf,
	spanDays,
	timesOf,
	warningsFor,
} from "../infer/asking/index.js";
import { edited } from "../infer/index.js";
import { checkFigureTarget, writeFigure } from "../workflows/figure-file.js";
import { asArgument } from "./asking/argument.js";
import { type AskingOptions, addAskingOptions } from "./asking/options.js";
import { openSession, type Session, withPredictor } from "./asking/session.js";
import { blocksFor } from "./describe/blocks.js";
import { examples } from "./examples.js";
import type { Io } from "./io.js";
import { printJson } from "./io.js";
import { wholeNumber } from "./option-values.js";
import { addedOf, type EditOptions, editsOf, movedOf, removedOf } from "./risk/edits.js";
import { type RiskWords, risksCsv, risksJson } from "./risk/json.js";
import { pictureOf } from "./risk/picture.js";
import { type RiskQuestion, risksOf } from "./risk/risks.js";
import { eventsText, risksText } from "./risk/text.js";

interface Options extends AskingOptions, GridOptions, EditOptions {
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
	addAskingOptions(made);
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
	const session = await openSession(io, folder, options);
	const { asked, trained } = session;
	const question = questionOf(io, session, options);
	const { patient, times, attributed } = question;
	const { history } = patient;
	const changed = question.whatIf && Array.from(edited(history, question.whatIf.edits).times);
	const warnings = [
		...warningsFor(
			{ ...asked, patients: [patient] },
			[...times, ...attributed].map((time) => ({ patient, time })),
			trained.manifest,
		),
		...(changed ? editWarnings(changed.slice(history.birthEvents), trained.manifest) : []),
	];
	for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`);
	const risks = await withPredictor(session, options.threads, (predictor) =>
		risksOf(predictor, question),
	);
	const words: RiskWords = { question, axis: asked.axis, vocabulary: trained.vocabulary };
	if (options.json)
		printJson(io, {
			run: folder,
			...risksJson(risks, words),
			unknown: asked.unknown,
			notes: asked.notes,
			warnings,
		});
	else {
		io.stdout.write(risksText(risks, words, options.top, blocksFor(io)));
		if (options.events) io.stdout.write(eventsText(words));
	}
	if (csv !== undefined) {
		await replaceFile(csv, (partial) => writeFile(partial, risksCsv(risks, words)));
		io.stderr.write(`written: ${csv}\n`);
	}
	if (figure !== undefined) {
		const { riskFigure } = await import("../figures/index.js");
		await writeFigure(figure, riskFigure(pictureOf(risks, words)));
		io.stderr.write(`drawn: ${figure}\n`);
	}
}

function questionOf(io: Io, { asked, trained }: Session, options: Options): RiskQuestion {
	const patient = onlyOne(asked.patients);
	const book = { ...trained, map: asked.map };
	const codes = options.code.map((code) => findCode(code, book));
	for (const { note } of codes) if (note) io.stderr.write(`note: ${note}\n`);
	return {
		patient,
		codes,
		times: gridOf(patient, asked.axis, options),
		attributed: timesOf(options.attribute ?? [], [patient], asked.axis, "--attribute")[0] ?? [],
		whatIf: editsOf(options, patient, asked.axis, book),
	};
}

function onlyOne(patients: readonly NewPatient[]): NewPatient {
	const [patient, second] = patients;
	if (patient && !second) return patient;
	throw new InputError(
		`the input has ${patients.length.toLocaleString("en-US")} patients; say which one with --patient, such as ${patients
			.slice(0, 5)
			.map(({ id }) => id)
			.join(", ")}`,
	);
}
