import { Command, Option } from "commander";
import type { Io } from "../../io.js";
import { numberBetween, threadCount, wholeNumber } from "../../option-values.js";
import type { MpiBenchOptions } from "../mpi.js";
import { measuring } from "./measuring.js";

export function mpiCommand(io: Io): Command {
	const mpi = new Command("mpi")
		.description(
			"Time training steps that several processes share (next-event objective, AdamW, random events),\n" +
				"in turns with one process on as many threads, and compute the efficiency of larger jobs from\n" +
				"the time of a step, the bytes of its gradients and a network. Efficiency is the speed per\n" +
				"thread, compared with one process on the threads of one.",
		)
		.option("--launcher <command>", "program that starts the processes, with its options", "mpirun")
		.option("--processes <n>", "processes of the job", wholeNumber(2, 1024), 2)
		.option("--threads <n>", "threads per process", threadCount, 1)
		.option("--preset <name>", "model sizes", "paper")
		.option("--batch <n>", "rows per batch, of all processes", wholeNumber(1, 65_536), 16)
		.option("--length <n>", "events per row", wholeNumber(1, 1_000_000), 128)
		.option("--steps <n>", "steps to time per round", wholeNumber(1, 1_000_000), 10)
		.option("--rounds <n>", "rounds", wholeNumber(1, 1000), 3)
		.addOption(
			new Option("--exchange <kind>", "simulated jobs: around a ring, or halving the distance")
				.choices(["ring", "halving"])
				.default("ring"),
		)
		.option("--latency <us>", "simulated jobs: microseconds per message", numberBetween(0, 1e6), 2)
		.option(
			"--bandwidth <GB/s>",
			"simulated jobs: of each process",
			numberBetween(1e-6, 1e6),
			12.5,
		);
	measuring<MpiBenchOptions, Awaited<ReturnType<typeof import("../mpi.js").benchMpi>>>(
		io,
		mpi,
		{
			"trajgpt bench mpi": "two processes with one thread each, beside one with two",
			"trajgpt bench mpi --launcher mpirun.mpich --processes 4": "another library, more processes",
			"trajgpt bench mpi --exchange halving --latency 20 --bandwidth 1.25": "10 Gb/s Ethernet",
		},
		async () => {
			const { benchMpi, renderMpi } = await import("../mpi.js");
			return { measure: benchMpi, render: renderMpi };
		},
	);
	return mpi;
}
