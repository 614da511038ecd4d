import { Command } from "commander";
import { examples } from "./examples.js";
import type { Io } from "./io.js";
import { Exit, printJson } from "./io.js";

export function command(io: Io): Command {
	return new Command("doctor")
		.description(
			"Tells whether this machine can run trajgpt: versions, execution providers, threads,\n" +
				"memory, disk, and what optional programs are missing and how to get them.\n" +
				"Exits 1 when something required is not in order.",
		)
		.option("--json", "print one JSON document")
		.addHelpText(
			"after",
			examples({
				"trajgpt doctor": "a table for people",
				"trajgpt doctor --json": "the same for programs; sizes in bytes",
			}),
		)
		.action(async ({ json }: { json?: true }) => {
			const { examine, render } = await import("./doctor/index.js");
			const report = await examine(process.cwd());
			if (json) printJson(io, report);
			else io.stdout.write(render(report));
			if (!report.ok) throw new Exit(1);
		});
}
