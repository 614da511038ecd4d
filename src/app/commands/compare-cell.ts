import { z } from "zod";
import { evaluateCell, trainCell } from "./compare/cells.js";
import { defineCommand } from "./define-command.js";
import { computeFields, option, seed, threads } from "./fields.js";
import { interruptible } from "./interruptible.js";
import { progressOf } from "./io.js";

/** Internal: `compare` and `ablate` start one process of this command per cell. */
export const command = defineCommand({
	name: "compare-cell",
	description: "Train and evaluate one cell of a comparison. Started by compare and ablate.",
	arguments: {
		folder: z.string().describe("folder of the comparison"),
		line: z.string().describe("line of the table"),
		seed: seed.describe("random seed"),
	},
	options: { threads: option("n", "number of threads", threads), ...computeFields() },
	async run(io, { line: id, ...options }) {
		// The parent is gone: save and end.
		process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
		try {
			const request = { id, ...options, progress: progressOf(io) };
			const trained = await interruptible(io, (signal) => trainCell({ ...request, signal }));
			// Evaluation saves nothing in between, so Ctrl-C ends it at once.
			await evaluateCell(request, trained);
		} finally {
			process.removeAllListeners("disconnect");
			if (process.connected) process.disconnect();
		}
	},
});
