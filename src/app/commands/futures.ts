import { Command } from "commander";
import { type Moment, momentForms, momentOf } from "../../predict/user-input/index.js";
import { checkOutputFile } from "../workflows/check-output-file.js";
import { columnFormat, writeColumns } from "../workflows/column-file.js";
import {
	checkMeds,
	checkMedsTarget,
	futureColumns,
	futuresJson,
	writeMeds,
} from "../workflows/future-documents.js";
import { futures } from "../workflows/futures.js";
import { futuresText } from "./futures-text.js";
import { type Io, printJson } from "./io.js";
import { numberBetween, seedNumber, wholeNumber } from "./option-values.js";
import {
	addPatientOptions,
	asArgument,
	openRunAndPatients,
	type PatientFlags,
} from "./patient-options.js";

interface Options extends PatientFlags {
	readonly at?: Moment;
	readonly years: number;
	readonly samples: number;
	readonly seed: number;
	readonly top: number;
	readonly output?: string;
	readonly meds?: string;
	readonly force?: true;
	readonly json?: true;
}

const description = `Sample whole futures of a patient after an index day: when there are visits, which codes are
recorded there, and whether the patient dies. Prints visits per year, codes per visit, and the most
frequent new codes: the share of futures that record each, and the risk in closed form beside it
(see \`trajgpt risk\`). The same seed gives the same futures.

TIME is ${momentForms}.`;

export const examples = {
	"trajgpt futures runs/demo/run --patient p001146": "100 futures of five years",
	"trajgpt futures run --input bundle.json --years 10 --samples 1000 --output futures.parquet":
		"a new patient; every record of every future as a table",
	"trajgpt futures run --patient p7 --at age:60 --meds futures":
		"after the age of 60, as a MEDS dataset: one subject per future",
};

export function command(io: Io): Command {
	const made = new Command("futures")
		.description(description)
		.argument("<run>", "run folder written by `trajgpt pretrain`")
		.option("--patient <id>", "the patient; required if there are several")
		.option("--at <time>", "index day (default: the last record)", asArgument(momentOf))
		.option("--years <n>", "how far futures go, in years", numberBetween(0.01, 100), 5)
		.option("--samples <n>", "number of futures", wholeNumber(1, 1_000_000), 100)
		.option("--seed <n>", "seed of the futures", seedNumber, 0)
		.option("--top <n>", "new codes to list", wholeNumber(1, 100_000), 10)
		.option("--output <file>", "also write all records to this .parquet or .csv file")
		.option("--meds <folder>", "also write a MEDS dataset, one subject per future")
		.option("--force", "replace existing files")
		.option("--json", "print one JSON document, with all futures");
	addPatientOptions(made);
	return made.action((folder: string, options: Options) => act(io, folder, options));
}

async function act(io: Io, folder: string, options: Options): Promise<void> {
	const { output, meds, force = false } = options;
	if (output !== undefined) {
		columnFormat(output);
		await checkOutputFile(output, force);
	}
	if (meds !== undefined) await checkMedsTarget(meds, force, output);
	const { trained, queried } = await openRunAndPatients(io, folder, options);
	if (meds !== undefined) checkMeds(queried.axis);
	const result = await futures(trained, queried, options);
	for (const warning of result.warnings) io.stderr.write(`warning: ${warning}\n`);
	if (options.json)
		printJson(io, {
			run: folder,
			...futuresJson(result),
			...{ unknown: queried.unknown, notes: queried.notes, warnings: result.warnings },
		});
	else io.stdout.write(futuresText(result, options.top));
	if (output !== undefined) {
		await writeColumns(output, futureColumns(result));
		io.stderr.write(`written: ${output}\n`);
	}
	if (meds !== undefined) {
		await writeMeds(meds, result);
		io.stderr.write(`written: ${meds}\n`);
	}
}
