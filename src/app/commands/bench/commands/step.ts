import { Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../../../base/errors.js";
import { models } from "../../../../model/index.js";
import type { Io } from "../../io.js";
import { wholeNumber } from "../../option-values.js";
import { type QueuedPeerName, queuedPeers } from "../peer-scripts.js";
import type { QueuedReport } from "../queued-steps.js";
import type { StepReport } from "../step.js";
import { addBenchOptions, type BenchOptions, measuring } from "./measuring.js";

/** What is trained in `bench step`. */
export interface SubjectOptions {
	readonly model: string;
	readonly preset: string;
	readonly norm?: "rms" | "layer";
	readonly objective: "next" | "horizon";
}

interface AnyStepOptions extends BenchOptions, SubjectOptions {
	readonly steps?: number;
	readonly peer: boolean;
}

export interface StepOptions extends AnyStepOptions {
	readonly batch: number;
	readonly length: number;
}

/** With `--provider xla`. */
export interface QueuedOptions extends AnyStepOptions {
	readonly batch: readonly number[];
	readonly length: readonly number[];
	/** Steps are then those of a round. */
	readonly rounds: number;
	readonly peers: readonly QueuedPeerName[];
}

const sizesOption = (flags: string, what: string, most: number, usual: number): Option =>
	new Option(flags, `${what}; a list with --provider xla`)
		.argParser((text) => text.split(",").map(wholeNumber(1, most)))
		.default([usual], String(usual));

function oneSize({ batch: batches, length: lengths }: QueuedOptions) {
	const [[batch, otherBatch], [length, otherLength]] = [batches, lengths];
	if (batch === undefined || length === undefined || otherBatch || otherLength)
		throw new InputError("lists of --batch and --length are for --provider xla; give one of each");
	return { batch, length };
}

const usualPeers: readonly QueuedPeerName[] = [
	"jax",
	"torch-eager",
	"torch-compile",
	"torch-compile-max-autotune",
];

function peerNames(text: string): QueuedPeerName[] {
	return text.split(",").map((name) => {
		if (!Object.hasOwn(queuedPeers, name))
			throw new InvalidArgumentError(`Known peers: ${Object.keys(queuedPeers).join(", ")}.`);
		return name as QueuedPeerName;
	});
}

export function stepCommand(io: Io): Command {
	const step = addBenchOptions(new Command("step"), "paper")
		.description(
			"Time one training step (next-event objective or the model's own objective without labels,\n" +
				"AdamW) on random events. Where Python with PyTorch is installed, the same model with the same\n" +
				"weights runs in turns with it, and the ratio of the medians is printed: above 1 means that\n" +
				"trajgpt is faster. Models with such a peer: trajgpt, patchtst, gru-d, gpt2.\n\n" +
				"With --provider xla, steps are queued in rounds, with one wait per round, and sizes can be\n" +
				"lists. The peers of trajgpt are then JAX and PyTorch on the same device, in turns with it.",
		)
		.addOption(
			new Option("--model <id>", "model to time")
				.choices(models.map(({ id }) => id))
				.default("trajgpt"),
		)
		.addOption(sizesOption("--batch <list>", "rows per batch", 65_536, 16))
		.addOption(sizesOption("--length <list>", "events per row", 1_000_000, 128))
		.option(
			"--steps <n>",
			"steps to time (default: 20; with --provider xla, 100 per round)",
			wholeNumber(1, 1_000_000),
		)
		.option("--rounds <n>", "rounds with --provider xla", wholeNumber(1, 1000), 5)
		.addOption(
			new Option("--objective <name>", "the next event alone, or also one further ahead")
				.choices(["next", "horizon"])
				.default("next"),
		)
		.addOption(
			new Option(
				"--norm <kind>",
				"norm of trajgpt: by root mean square (the default), or by mean and deviation",
			).choices(["rms", "layer"]),
		)
		.option("--no-peer", "do not run peers")
		.addOption(
			new Option(
				"--peers <list>",
				`peers with --provider xla, those that are installed: ${Object.keys(queuedPeers).join(", ")}`,
			)
				.argParser(peerNames)
				.default(usualPeers, usualPeers.join(",")),
		);
	measuring<QueuedOptions, StepReport | QueuedReport>(
		io,
		step,
		{
			"trajgpt bench step --preset paper --batch 16 --length 128": "the paper's model",
			"trajgpt bench step --batch 1 --length 16384 --steps 3": "one very long history",
			"trajgpt bench step --model gpt2": "a comparison model",
			"trajgpt bench step --provider xla --batch 16,64,256 --peers jax,torch-compile":
				"an accelerator, against two peers",
		},
		async () => {
			const { benchStep, renderStep } = await import("../step.js");
			const queued = await import("../queued-steps.js");
			return {
				measure: async (io, options) =>
					options.provider === "xla"
						? queued.benchQueuedSteps(io, options)
						: benchStep(io, { ...options, ...oneSize(options) }),
				render: (report) =>
					"sizes" in report ? queued.renderQueuedSteps(report) : renderStep(report),
				failed: (report) => "sizes" in report && queued.hasFailed(report),
			};
		},
	);
	return step;
}
