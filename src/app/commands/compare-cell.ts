import { Command } from "commander";
import { type CellResources, evaluateCell, trainCell } from "./compare/cells.js";
import { interruptible } from "./interruptible.js";
import { type Io, progressOf } from "./io.js";
import { addComputeOptions, seedNumber, threadCount } from "./option-values.js";

/** Internal: `compare` and `ablate` start one process of this command per cell. */
export function command(io: Io): Command {
	const command = new Command("compare-cell")
		.description("Train and evaluate one cell of a comparison. Started by compare and ablate.")
		.argument("<folder>", "folder of the comparison")
		.argument("<line>", "line of the table")
		.argument("<seed>", "random seed", seedNumber)
		.requiredOption("--threads <n>", "number of threads", threadCount);
	return addComputeOptions(command).action(
		async (folder: string, id: string, seed: number, options: CellResources) => {
			// The parent is gone: save and end.
			process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
			try {
				const request = { folder, id, seed, ...options, progress: progressOf(io) };
				const trained = await interruptible(io, (signal) => trainCell({ ...request, signal }));
				// Evaluation saves nothing in between, so Ctrl-C ends it at once.
				await evaluateCell(request, trained);
			} finally {
				process.removeAllListeners("disconnect");
				if (process.connected) process.disconnect();
			}
		},
	);
}
