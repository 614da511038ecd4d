import { Command } from "commander";
import { type CellResources, evaluateCell, trainCell } from "../workflows/compare/cell.js";
import { interruptible } from "./interruptible.js";
import { type Io, progressOf } from "./io.js";
import { providerOption, seedNumber, threadCount } from "./option-values.js";

/** Not for people: `compare` and `ablate` run each cell of their table with it. */
export function command(io: Io): Command {
	return new Command("compare-cell")
		.description("Trains and measures one cell of a comparison; compare runs it.")
		.argument("<folder>", "of the comparison")
		.argument("<line>", "which line")
		.argument("<seed>", "which seed", seedNumber)
		.requiredOption("--threads <n>", "threads", threadCount)
		.addOption(providerOption())
		.action(async (folder: string, id: string, seed: number, options: CellResources) => {
			// Without its parent nobody waits for it: it saves and ends.
			process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
			try {
				const request = { folder, id, seed, ...options, progress: progressOf(io) };
				const trained = await interruptible(io, (signal) => trainCell({ ...request, signal }));
				// What is measured is not saved in between: Ctrl-C ends it at once.
				await evaluateCell(request, trained);
			} finally {
				process.removeAllListeners("disconnect");
				if (process.connected) process.disconnect();
			}
		});
}
