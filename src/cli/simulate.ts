import { Command } from "commander";
import { checkFileTarget } from "../cohort/index.js";
import { namesFileOf, writeSimulation } from "../simulate/index.js";
import { examples } from "./examples.js";
import type { Io } from "./io.js";
import { printJson } from "./io.js";
import { wholeNumber } from "./option-values.js";

interface Options {
	readonly patients: number;
	readonly out: string;
	readonly seed: number;
	readonly force?: true;
	readonly json?: true;
}

const description = `Writes the histories of a synthetic population, for trials and demonstrations.

People are born, age, fall ill and are followed up: chronic conditions recur at
nearly regular visits, acute ones come in bursts, and some make others more likely.
All rates are invented. Beside FILE goes FILE.codes.csv with the names of the codes.`;

export function command(io: Io): Command {
	return new Command("simulate")
		.description(description)
		.requiredOption("--patients <n>", "how many", wholeNumber(1))
		.requiredOption("--out <file>", "file to write, one JSON history a line")
		.option("--seed <n>", "seed of the population", wholeNumber(0), 0)
		.option("--force", "replace files that are there")
		.option("--json", "print one JSON document")
		.addHelpText(
			"after",
			examples({
				"trajgpt simulate --patients 2000 --out sim.jsonl": "two thousand people",
				"trajgpt prepare sim.jsonl --from events --names sim.codes.csv --out sim":
					"make them a dataset",
			}),
		)
		.action(async ({ patients, out, seed, force, json }: Options) => {
			await checkFileTarget(out, force ?? false);
			await checkFileTarget(namesFileOf(out), force ?? false);
			const written = await writeSimulation(out, { patients, seed });
			if (json) printJson(io, written);
			else
				io.stdout.write(
					`${written.events}: ${written.patients} patients, ${written.records} records\n${written.names}: names of the codes\n`,
				);
		});
}
