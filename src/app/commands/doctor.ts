import { Command } from "commander";
import type { Io } from "./io.js";
import { communicatorOf, Exit, printJson } from "./io.js";

export const examples = {
	"trajgpt doctor": "a table",
	"trajgpt doctor --json": "the same as JSON; sizes in bytes",
	"mpirun -n 2 trajgpt doctor": "whether the processes of a job reach each other",
};

export function command(io: Io): Command {
	return new Command("doctor")
		.description(
			"Check whether this machine can run trajgpt: versions, accelerators, MPI, threads,\n" +
				"memory, disk, and which optional programs are missing and how to install them.\n" +
				"Exits with 1 if a requirement is not met.",
		)
		.option("--json", "print one JSON document")
		.action(async ({ json }: { json?: true }) => {
			const { examine, render } = await import("./doctor/index.js");
			const report = await examine(process.cwd(), communicatorOf(io));
			if (json) printJson(io, report);
			else io.stdout.write(render(report));
			if (!report.ok) throw new Exit(1);
		});
}
