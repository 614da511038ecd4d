import { z } from "zod";
import { columnFormat, writeColumns } from "../../base/files/column-file.js";
import { checkOutputFile } from "../../model/train/output-file.js";
import { momentForms } from "../../predict/user-input/index.js";
import {
	checkMeds,
	checkMedsTarget,
	futureColumns,
	futuresJson,
	writeMeds,
} from "../workflows/future-documents.js";
import { futures } from "../workflows/futures.js";
import { defineCommand } from "./define-command.js";
import { decimal, flag, moment, option, seed, type Values, whole } from "./fields.js";
import { futuresText } from "./futures-text.js";
import { type Io, printJson } from "./io.js";
import { openRunAndPatients, patientFields, patientFlags } from "./patient-options.js";

const description = `Sample whole futures of a patient after an index day: when there are visits, which codes are
recorded there, and whether the patient dies. Prints visits per year, codes per visit, and the most
frequent new codes: the share of futures that record each, and the risk in closed form beside it
(see \`trajgpt risk\`). The same seed gives the same futures.

TIME is ${momentForms}.`;

const text = z.string().optional();

const options = {
	patient: option("id", "the patient; required if there are several", text),
	at: option("time", "index day (default: the last record)", moment),
	years: option("n", "how far futures go, in years", decimal(0.01, 100).default(5)),
	samples: option("n", "number of futures", whole(1, 1_000_000).default(100)),
	seed: option("n", "seed of the futures", seed.default(0)),
	top: option("n", "new codes to list", whole(1, 100_000).default(10)),
	output: option("file", "also write all records to this .parquet or .csv file", text),
	meds: option("folder", "also write a MEDS dataset, one subject per future", text),
	force: flag("replace existing files"),
	json: flag("print one JSON document, with all futures"),
	...patientFields,
};

type Options = Values<typeof options>;

export const command = defineCommand({
	name: "futures",
	description,
	arguments: { run: z.string().describe("run folder written by `trajgpt pretrain`") },
	options,
	examples: {
		"trajgpt futures runs/demo/run --patient p001146": "100 futures of five years",
		"trajgpt futures run --input bundle.json --years 10 --samples 1000 --output futures.parquet":
			"a new patient; every record of every future as a table",
		"trajgpt futures run --patient p7 --at age:60 --meds futures":
			"after the age of 60, as a MEDS dataset: one subject per future",
	},
	flags: patientFlags,
	run: (io, { run: folder, ...options }) => act(io, folder, options),
});

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
			unknown: queried.unknown,
			notes: queried.notes,
			warnings: result.warnings,
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
