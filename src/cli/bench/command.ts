import { availableParallelism } from "node:os";
import { Command, InvalidArgumentError, Option } from "commander";
import { InputError } from "../../base/errors.js";
import type { Precision } from "../../graph/index.js";
import { modelById, models } from "../../models/index.js";
import { type Provider, precisions, providers } from "../../runtime/index.js";
import { type Format, formats } from "../../simulate/index.js";
import { examples } from "../examples.js";
import { communicatorOf, Exit, type Io, printJson } from "../io.js";
import {
	addComputeOptions,
	byteSize,
	mostPeople,
	numberBetween,
	providerOption,
	threadCount,
	wholeNumber,
} from "../option-values.js";
import { mayRepeat } from "../repeated-options.js";
import type { InputReport } from "./input.js";
import type { ModelsReport } from "./models.js";
import type { MpiBenchOptions } from "./mpi.js";
import type { OperationsReport } from "./operations.js";
import { type QueuedPeerName, queuedPeers } from "./peer-scripts.js";
import type { PrepareBench } from "./prepare.js";
import type { PrepareSizes } from "./prepare-sizes.js";
import type { QueuedReport } from "./queued-steps.js";
import type { StepReport } from "./step.js";

interface BenchOptions {
	readonly preset: string;
	readonly threads: number;
	readonly provider: Provider;
	readonly precision?: Precision;
	readonly json?: true;
}

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

export interface InferOptions extends BenchOptions {
	readonly events: number;
	readonly patients: number;
	readonly repeats: number;
	readonly vocab: number;
	readonly trajectories: number;
	readonly attributed: number;
}

export interface HazardBenchOptions extends BenchOptions {
	readonly batch: number;
	readonly length: number;
	readonly steps: number;
	readonly patients: number;
	readonly vocab: number;
}

export interface PrepareBenchOptions {
	readonly patients: number;
	readonly format: Format;
	/** Populations on disk. */
	readonly source?: readonly string[];
	readonly memory: number;
	readonly threads?: number;
	readonly peer: boolean;
	readonly json?: true;
}

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

export interface OperationsOptions {
	readonly provider: Provider | "wasm";
	readonly precision?: Precision;
	readonly threads: readonly number[];
	readonly repetitions: number;
	readonly only: readonly string[];
	readonly json?: true;
}

export interface ModelsOptions {
	readonly provider: Provider;
	readonly precision?: Precision;
	readonly threads: number;
	readonly steps: number;
	readonly only: readonly string[];
	readonly json?: true;
}

function presetOption(command: Command, preset: string): Command {
	const names = Object.keys(modelById("trajgpt").presets);
	command
		.option("--preset <name>", `model sizes: ${names.join(", ")}`, preset)
		.option("--threads <n>", "number of threads", threadCount, availableParallelism());
	return addComputeOptions(command);
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

/** A benchmark and how its result is printed; loaded on demand. */
interface Measurement<Options, Result> {
	measure(io: Io, options: Options): Promise<Result>;
	render(result: Result): string;
	/** Whether the result is a failure: the command then exits with 1. */
	failed?(result: Result): boolean;
}

function measuring<Options extends { readonly json?: true }, Result>(
	io: Io,
	command: Command,
	lines: Readonly<Record<string, string>>,
	load: () => Promise<Measurement<Options, Result>>,
): void {
	command
		.option("--json", "print one JSON document")
		.addHelpText("after", examples(lines))
		.action(async (options: Options) => {
			if (communicatorOf(io).size > 1 && command.name() !== "mpi")
				throw new InputError(
					`bench ${command.name()} runs in one process; start it without a launcher`,
				);
			const { measure, render, failed } = await load();
			const result = await measure(io, options);
			if (options.json) printJson(io, result);
			else io.stdout.write(render(result));
			if (failed?.(result)) throw new Exit(1);
		});
}

export function command(io: Io): Command {
	const step = presetOption(new Command("step"), "paper")
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
			const { benchStep, renderStep } = await import("./step.js");
			const queued = await import("./queued-steps.js");
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
	const infer = presetOption(new Command("infer"), "paper-7m")
		.description(
			"Time inference with random weights: one event and one query of one patient, after 50 events\n" +
				"and after many; the scoring of many patients of 112 events each; the probabilities of ten\n" +
				"codes at 200 times along histories of about 110 events; and the attribution of a code's\n" +
				"probability to each event of a history. The last two are compared with the plain computation of the same numbers.",
		)
		.option("--events <n>", "events of the long history", wholeNumber(1, 1_000_000), 5000)
		.option("--patients <n>", "patients to score", wholeNumber(1, 1_000_000), 1000)
		.option("--repeats <n>", "predictions to time", wholeNumber(1, 1_000_000), 200)
		.option("--trajectories <n>", "patients with trajectories", wholeNumber(1, 1_000_000), 100)
		.option(
			"--attributed <n>",
			"events to attribute a probability to",
			wholeNumber(1, 100_000),
			200,
		)
		.option("--vocab <n>", "vocabulary size of the model", wholeNumber(20, 1_000_000), 200);
	measuring(
		io,
		infer,
		{
			"trajgpt bench infer --preset paper-7m --json": "print JSON",
			"trajgpt bench infer --preset paper --vocab 241": "the paper's model on the demo's codes",
		},
		async () => {
			const { benchInfer, renderInfer } = await import("./infer.js");
			return { measure: benchInfer, render: renderInfer };
		},
	);
	const hazards = presetOption(new Command("hazards"), "paper")
		.description(
			"Time what hazards cost, with random weights: a training step with them, in turns with one\n" +
				"without (objective horizon); and the risk of every code within 1, 3, 5 and 10 years for\n" +
				"patients of 112 events each.",
		)
		.option("--batch <n>", "rows per batch", wholeNumber(1, 65_536), 16)
		.option("--length <n>", "events per row", wholeNumber(1, 1_000_000), 128)
		.option("--steps <n>", "steps to time", wholeNumber(1, 1_000_000), 20)
		.option("--patients <n>", "patients whose risks are computed", wholeNumber(1, 1_000_000), 512)
		.option("--vocab <n>", "vocabulary size of the model", wholeNumber(20, 1_000_000), 241);
	measuring(
		io,
		hazards,
		{
			"trajgpt bench hazards": "the paper's model",
			"trajgpt bench hazards --preset default --vocab 2000": "another size, and more codes",
		},
		async () => {
			const { benchHazards, renderHazards } = await import("./hazards.js");
			return { measure: benchHazards, render: renderHazards };
		},
	);
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
			new Option("--exchange <kind>", "simulated jobs: how gradients travel")
				.choices(["ring", "tree"])
				.default("ring"),
		)
		.option("--latency <us>", "simulated jobs: microseconds per message", numberBetween(0, 1e6), 2)
		.option(
			"--bandwidth <GB/s>",
			"simulated jobs: of each process",
			numberBetween(1e-6, 1e6),
			12.5,
		);
	measuring<MpiBenchOptions, Awaited<ReturnType<typeof import("./mpi.js").benchMpi>>>(
		io,
		mpi,
		{
			"trajgpt bench mpi": "two processes with one thread each, beside one with two",
			"trajgpt bench mpi --launcher mpirun.mpich --processes 4": "another library, more processes",
			"trajgpt bench mpi --exchange tree --latency 20 --bandwidth 1.25": "10 Gb/s Ethernet",
		},
		async () => {
			const { benchMpi, renderMpi } = await import("./mpi.js");
			return { measure: benchMpi, render: renderMpi };
		},
	);
	const prepare = new Command("prepare")
		.description(
			"Time prepare on a simulated population, with rows per second and peak memory. Where Python\n" +
				"with pandas is installed, pandas then does the same steps on the same files, the results are\n" +
				"compared, and the ratio is printed: above 1 means that trajgpt is faster.\n\n" +
				"More than 100,000 people, and several populations given with --source, are measured one after\n" +
				"the other, without pandas, so that the table shows how time and memory grow.",
		)
		.option("--patients <n>", "people to simulate", wholeNumber(1, mostPeople), 100_000)
		.addOption(
			new Option("--format <format>", "file format of the population")
				.choices(formats)
				.default("csv"),
		)
		.addOption(
			mayRepeat(
				new Option(
					"--source <folder>",
					"use a population written by trajgpt simulate; may be repeated",
				),
			),
		)
		.addOption(
			new Option("--memory <size>", "memory limit, as in prepare")
				.argParser(byteSize)
				.default(2 ** 31, "2GB"),
		)
		.option("--threads <n>", "number of threads (default: all cores)", threadCount)
		.option("--no-peer", "do not run pandas");
	measuring<PrepareBenchOptions, PrepareBench | PrepareSizes>(
		io,
		prepare,
		{
			"trajgpt bench prepare --json": "100,000 people, 16.5 million records",
			"trajgpt bench prepare --patients 5000": "a quick look",
			"trajgpt bench prepare --patients 1000000 --format parquet":
				"a hundred thousand people and a million",
			"trajgpt bench prepare --source small --source large": "populations that are there",
		},
		async () => {
			const { benchPrepare, renderPrepare } = await import("./prepare.js");
			const { benchPrepareSizes, hasSizes, renderPrepareSizes } = await import(
				"./prepare-sizes.js"
			);
			return {
				measure: (io, options) =>
					hasSizes(options) ? benchPrepareSizes(io, options) : benchPrepare(io, options),
				render: (report) =>
					"sizes" in report ? renderPrepareSizes(report) : renderPrepare(report),
			};
		},
	);
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
		.option("--memory <size>", "memory for decoded events", byteSize, 512 * 1024 ** 2);
	measuring<InputOptions, InputReport>(
		io,
		input,
		{
			"trajgpt bench input --dataset data": "all cores, the next-event objective",
			"trajgpt bench input --dataset data --memory 64MB --objective horizon":
				"events on disk, the default objective",
		},
		async () => {
			const { benchInput, renderInput } = await import("./input.js");
			return { measure: benchInput, render: renderInput };
		},
	);
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
			const { benchServe, renderServe } = await import("./serve.js");
			return { measure: benchServe, render: renderServe };
		},
	);
	const operations = new Command("operations")
		.description(
			"Run every operation of the graph and its gradients repeatedly, on tensors as large as in\n" +
				"training, with several numbers of threads. Every run must repeat bit for bit, and agree with\n" +
				"one thread up to rounding. Exits with 1 if an operation does not.",
		)
		.addOption(providerOption([...providers, "wasm"], "engine to check; wasm is that of browsers"))
		.addOption(
			new Option(
				"--precision <name>",
				"operands of matrix products with --provider xla (default: float32)",
			).choices(precisions),
		)
		.addOption(
			new Option("--threads <list>", "numbers of threads")
				.argParser((text) => text.split(",").map(threadCount))
				.default([1, 2, 4], "1,2,4"),
		)
		.option("--repetitions <n>", "runs per operation", wholeNumber(1, 100_000), 100)
		.addOption(
			new Option("--only <list>", "operations to check")
				.argParser((text) => text.split(","))
				.default([], "all"),
		);
	measuring<OperationsOptions, OperationsReport>(
		io,
		operations,
		{
			"trajgpt bench operations": "100 runs per operation, with 1, 2 and 4 threads",
			"trajgpt bench operations --only gather,scatterAdd --repetitions 300": "two operations",
			"trajgpt bench operations --provider xla": "an accelerator, against the CPU",
			"trajgpt bench operations --provider wasm": "the engine of the browser",
		},
		async () => {
			const { benchOperations, renderOperations } = await import("./operations.js");
			return {
				measure: benchOperations,
				render: renderOperations,
				failed: ({ failed }) => failed.length > 0,
			};
		},
	);
	const modelIds = models.map(({ id }) => id);
	const everyModel = new Command("models")
		.description(
			"Train every model in its tiny preset, with the default objective, on one thread of the CPU and\n" +
				"twice on another engine, from the same weights, batches and draws. Compare the first loss and\n" +
				"its gradients, the validation loss after the last step, and the weights of the two trainings.\n" +
				'"last digits" is the difference that the CPU itself makes if the last digits of the weights\n' +
				"change. Exits with 1 if a difference is too large, also beside that one, or if the second\n" +
				"training ends with other weights.",
		)
		.addOption(providerOption(providers, "engine to check"))
		.addOption(
			new Option(
				"--precision <name>",
				"operands of matrix products with --provider xla (default: float32)",
			).choices(precisions),
		)
		.option("--threads <n>", "number of threads with --provider cpu", threadCount, 2)
		.option("--steps <n>", "training steps", wholeNumber(1, 1_000_000), 200)
		.addOption(
			new Option("--only <list>", "models to check")
				.argParser((text) => text.split(",").map((id) => modelById(id).id))
				.default(modelIds, "all"),
		);
	measuring<ModelsOptions, ModelsReport>(
		io,
		everyModel,
		{
			"trajgpt bench models --provider xla": "an accelerator, in float32",
			"trajgpt bench models --provider xla --precision bf16 --only trajgpt,gru-d": "two models",
		},
		async () => {
			const { benchModels, renderModels } = await import("./models.js");
			return {
				measure: benchModels,
				render: renderModels,
				failed: ({ failed }) => failed.length > 0,
			};
		},
	);
	return new Command("bench")
		.description("Measure speed, as a ratio to a peer in the same run where there is one.")
		.addCommand(step.summary("time one training step, against PyTorch"))
		.addCommand(infer.summary("time predictions for one patient and for many"))
		.addCommand(hazards.summary("time what hazards cost a training step, and risks"))
		.addCommand(mpi.summary("time training steps that several processes share"))
		.addCommand(prepare.summary("time prepare, against pandas"))
		.addCommand(input.summary("time how fast batches are prepared for an accelerator"))
		.addCommand(serve.summary("measure the service under load, over loopback"))
		.addCommand(operations.summary("check that every operation is repeatable on several threads"))
		.addCommand(everyModel.summary("check that every model learns the same on another engine"))
		.addHelpText(
			"after",
			examples({
				"trajgpt bench step": "a training step of the paper's model, against PyTorch",
				"trajgpt bench infer": "latency and throughput of predictions",
				"trajgpt bench hazards": "a training step with hazards, and risks",
				"trajgpt bench prepare": "prepare, against pandas",
				"trajgpt bench input --dataset data": "batches for an accelerator",
				"trajgpt bench serve": "the service under load",
				"trajgpt bench operations": "repeatability of every operation",
				"trajgpt bench models --provider xla": "every model on an accelerator, against the CPU",
			}),
		);
}
