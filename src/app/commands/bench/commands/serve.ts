import { availableParallelism } from "node:os";
import { Command } from "commander";
import type { Io } from "../../io.js";
import { threadCount, wholeNumber } from "../../option-values.js";
import { measuring } from "./measuring.js";

export interface ServeBenchOptions {
	readonly preset: string;
	readonly threads: number;
	readonly clients: number;
	readonly requests: number;
	readonly events: number;
	readonly sessionEvents: number;
	/** Timed forecasts of one client under each kind of load. */
	readonly underLoad: number;
	readonly vocab: number;
	readonly json?: true;
}

export function serveCommand(io: Io): Command {
	const serve = new Command("serve")
		.description(
			"Start the service with random weights and load it over loopback: clients that send whole\n" +
				"histories, each request as soon as the last is answered, and a session that receives one\n" +
				"event at a time. The same histories are also given to the model directly. Then measure the\n" +
				"latency of one more client that sends forecasts, while the others send forecasts of the\n" +
				"same size, forecasts of other sizes, embeddings, sessions or attributions.",
		)
		.option("--preset <name>", "model sizes", "paper")
		.option(
			"--threads <n>",
			"predictions computed at the same time",
			threadCount,
			availableParallelism(),
		)
		.option("--clients <n>", "number of concurrent clients", wholeNumber(1, 10_000), 8)
		.option("--requests <n>", "requests to time", wholeNumber(1, 10_000_000), 800)
		.option("--events <n>", "events per history", wholeNumber(1, 100_000), 112)
		.option("--session-events <n>", "events of the longer session", wholeNumber(1, 100_000), 1000)
		.option("--under-load <n>", "forecasts to time under each load", wholeNumber(1, 1_000_000), 100)
		.option("--vocab <n>", "vocabulary size of the model", wholeNumber(20, 1_000_000), 241);
	measuring(
		io,
		serve,
		{
			"trajgpt bench serve": "the paper's model, 8 clients",
			"trajgpt bench serve --clients 64 --json": "more clients",
		},
		async () => {
			const { benchServe, renderServe } = await import("../serve.js");
			return { measure: benchServe, render: renderServe };
		},
	);
	return serve;
}
