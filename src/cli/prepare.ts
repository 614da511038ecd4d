import { Command, Option } from "commander";
import type { Manifest } from "../cohort/index.js";
import {
	checkFolderTarget,
	manifestName,
	prepare,
	prepareDefaults,
	writeDataset,
} from "../cohort/index.js";
import { openEvents } from "../records/index.js";
import { examples } from "./examples.js";
import type { Io } from "./io.js";
import { printJson } from "./io.js";
import { positiveNumber, wholeNumber } from "./option-values.js";
import { table } from "./table.js";

interface Options {
	readonly from: "events";
	readonly out: string;
	readonly names?: string;
	readonly minRecords: number;
	readonly minCount: number;
	readonly seed: number;
	readonly unitDays: number;
	readonly force?: true;
	readonly json?: true;
}

const description = `Turns records into a dataset: vocabulary, splits by patient, events by time.

SOURCE holds one history a line, as JSON, .gz too:
  {"types":[4,"E11"],"times":[0.5,31]}
with times in days and, where known, "id", "birth" (days, on the same axis) and
"sex". Patients go to train, valid and test by a seeded hash of their id, 80/10/10.
The vocabulary comes from the training patients alone.`;

export function command(io: Io): Command {
	const d = prepareDefaults;
	return new Command("prepare")
		.description(description)
		.argument("<source>", "file with the records")
		.addOption(
			new Option("--from <format>", "format of the records")
				.choices(["events"])
				.makeOptionMandatory(),
		)
		.requiredOption("--out <dataset>", "folder to write")
		.option("--names <file>", "names of the codes: CSV with code,name[,category[,kind]]")
		.option("--min-records <n>", "fewest records a patient", wholeNumber(1), d.minRecords)
		.option("--min-count <n>", "fewest training records a code", wholeNumber(1), d.minCount)
		.option("--unit-days <days>", "days in one unit of time", positiveNumber, d.unitDays)
		.option("--seed <n>", "seed of the split", wholeNumber(0), d.splitSeed)
		.option("--force", "replace a dataset that is there")
		.option("--json", "print the manifest as one JSON document")
		.addHelpText(
			"after",
			examples({
				"trajgpt prepare badges.jsonl --from events --out badges": "with the usual filters",
				"trajgpt prepare sim.jsonl --from events --names sim.codes.csv --out sim":
					"with names of codes",
			}),
		)
		.action(async (file: string, options: Options) => {
			await checkFolderTarget(options.out, options.force ?? false, manifestName);
			const source = await openEvents(file, { names: options.names });
			io.stderr.write(`reading ${file}\n`);
			const content = await prepare(source, { ...options, splitSeed: options.seed });
			const manifest = await writeDataset(options.out, content);
			for (const note of manifest.source.notes) io.stderr.write(`note: ${note}\n`);
			if (options.json) printJson(io, manifest);
			else io.stdout.write(render(options.out, manifest));
		});
}

function render(folder: string, { counts, dropped }: Manifest): string {
	const splits = Object.entries(counts.splits).map(([name, { patients, events }]) => [
		name,
		patients,
		events,
	]);
	const lost = [
		["patients with too few records", dropped.patients.patients, dropped.patients.events],
		["rare codes", dropped.rareCodes.codes, dropped.rareCodes.events],
		["codes unknown in training", dropped.unknownCodes.codes, dropped.unknownCodes.events],
	];
	return [
		`${folder}: ${counts.tokens} tokens\n\n`,
		table(["split", "patients", "events"], splits),
		"\n",
		table(["dropped", "number", "events"], lost),
	].join("");
}
