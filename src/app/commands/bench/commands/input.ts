import { availableParallelism } from "node:os";
import { Command, Option } from "commander";
import type { Io } from "../../io.js";
import { byteSize, threadCount, wholeNumber } from "../../option-values.js";
import type { InputReport } from "../input.js";
import { measuring } from "./measuring.js";

export interface InputOptions {
	readonly dataset: string;
	readonly preset: string;
	readonly objective: "next" | "horizon";
	readonly batchSlots: number;
	readonly batches: number;
	readonly threads: number;
	readonly memory: number;
	readonly json?: true;
}

export function inputCommand(io: Io): Command {
	const input = new Command("input")
		.description(
			"Time how fast threads prepare batches of a dataset for an accelerator. The\n" +
				"first round decodes the events, the second is timed. A --memory below the size of the decoded\n" +
				"events shows what a dataset larger than memory costs.",
		)
		.requiredOption("--dataset <folder>", "dataset folder written by `trajgpt prepare`")
		.option("--preset <name>", "model sizes", "paper")
		.addOption(
			new Option("--objective <name>", "what is learned")
				.choices(["next", "horizon"])
				.default("next"),
		)
		.option("--batch-slots <n>", "events per batch", wholeNumber(1, 10_000_000), 32_768)
		.option("--batches <n>", "batches to prepare", wholeNumber(1, 10_000_000), 500)
		.option("--threads <n>", "number of threads", threadCount, availableParallelism())
		.addOption(
			new Option("--memory <size>", "memory for decoded events")
				.argParser(byteSize)
				.default(512 * 1024 ** 2, "512MB"),
		);
	measuring<InputOptions, InputReport>(
		io,
		input,
		{
			"trajgpt bench input --dataset data": "all cores, the next-event objective",
			"trajgpt bench input --dataset data --memory 64MB --objective horizon":
				"events on disk, the default objective",
		},
		async () => {
			const { benchInput, renderInput } = await import("../input.js");
			return { measure: benchInput, render: renderInput };
		},
	);
	return input;
}
