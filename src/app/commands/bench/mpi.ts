import { fileURLToPath } from "node:url";
import type { Communicator } from "../../../base/communicator.js";
import { InputError } from "../../../base/errors.js";
import { formatCount } from "../../../base/progress.js";
import { random } from "../../../base/random.js";
import { table } from "../../../base/table.js";
import { launchOf } from "../../../engine/mpi/index.js";
import { weightCount } from "../../../model/index.js";
import { openRuntime } from "../../workflows/open-runtime.js";
import { communicatorOf, type Io } from "../io.js";
import { output } from "./child-process.js";
import { efficiencyAt, type Network } from "./mpi-network.js";
import { median } from "./step.js";
import { learnerOf, randomBatch, subjectOf } from "./step-subject.js";

export interface MpiBenchOptions {
	readonly launcher: string;
	readonly processes: number;
	readonly preset: string;
	readonly batch: number;
	readonly length: number;
	readonly threads: number;
	readonly steps: number;
	readonly rounds: number;
	readonly exchange: Network["exchange"];
	/** Microseconds. */
	readonly latency: number;
	/** Gigabytes per second. */
	readonly bandwidth: number;
	readonly json?: true;
}

/** The steps of one job, as rank 0 sees them: medians. */
interface JobSteps {
	readonly processes: number;
	readonly threads: number;
	readonly secondsPerStep: number;
	/** Of these, in sums over processes, waiting for the slowest included. */
	readonly sumSeconds: number;
	readonly parameters: number;
	/** Of the first step. */
	readonly loss: number;
}

export interface MpiReport {
	readonly preset: string;
	readonly batch: number;
	readonly length: number;
	readonly parameters: number;
	/** Bytes that are summed per step. */
	readonly gradientBytes: number;
	/** One process with one process's threads, one with all threads, and the job. */
	readonly measured: readonly (JobSteps & { readonly efficiency: number })[];
	readonly network: Network;
	readonly simulated: readonly { readonly processes: number; readonly efficiency: number }[];
}

const simulatedSizes = [8, 64, 512];
const warmUp = 2;

/** Times the steps of the job that this process belongs to. */
async function jobSteps(io: Io, options: MpiBenchOptions): Promise<JobSteps> {
	const { batch, length, threads, steps } = options;
	const communicator = communicatorOf(io);
	let inSums = 0;
	const timed: Communicator = {
		...communicator,
		sum(values) {
			const began = performance.now();
			communicator.sum(values);
			inSums += (performance.now() - began) / 1000;
		},
	};
	const subject = subjectOf({ ...options, model: "trajgpt", objective: "next" }, length);
	const runtime = await openRuntime({ threads }, "training");
	const learner = learnerOf(runtime, subject, timed);
	const rows = randomBatch(batch, length);
	const seconds: number[] = [];
	const sums: number[] = [];
	let loss = 0;
	for (let step = 1; step <= warmUp + steps; step++) {
		inSums = 0;
		const began = performance.now();
		const { totals, targets } = await learner.step([rows], {
			...{ step, learningRate: 1e-3, random: random(step) },
		});
		if (step > warmUp) {
			seconds.push((performance.now() - began) / 1000);
			sums.push(inSums);
		}
		// Later steps amplify differences in rounding.
		if (step === 1) loss = (totals.next as number) / (targets.next as number);
	}
	await learner.dispose();
	await runtime.dispose?.();
	return {
		...{ processes: communicator.size, threads, loss },
		...{ secondsPerStep: median(seconds), sumSeconds: median(sums) },
		parameters: weightCount(subject.weights),
	};
}

/** Times jobs in turns, each in processes of its own. */
export async function benchMpi(io: Io, options: MpiBenchOptions): Promise<MpiReport | JobSteps> {
	const { processes, threads, rounds, batch, length, preset } = options;
	// Started by this benchmark as one process of a job.
	if (launchOf(io.env) || io.env.TRAJGPT_BENCH_JOB) return jobSteps(io, options);
	const jobs = [
		{ processes: 1, threads },
		{ processes: 1, threads: processes * threads },
		{ processes, threads },
	];
	const results: JobSteps[][] = jobs.map(() => []);
	for (let round = 1; round <= rounds; round++)
		// The job comes first: a launcher that does not work is found at once.
		for (const [i, job] of [...jobs.entries()].reverse()) {
			io.stderr.write(`round ${round}/${rounds}: ${job.processes} × ${job.threads} threads\n`);
			results[i]?.push(await started(options, job));
		}
	const medians = results.map((own) => ({
		...(own[0] as JobSteps),
		secondsPerStep: median(own.map(({ secondsPerStep }) => secondsPerStep)),
		sumSeconds: median(own.map(({ sumSeconds }) => sumSeconds)),
	})) as [JobSteps, JobSteps, JobSteps];
	const [one, , job] = medians;
	if (Math.abs(job.loss / one.loss - 1) > 1e-4)
		throw new Error(`the loss of the job is ${job.loss}, that of one process ${one.loss}`);
	const gradientBytes = 4 * one.parameters;
	const network: Network = {
		...{ exchange: options.exchange, latencySeconds: options.latency * 1e-6 },
		bytesPerSecond: options.bandwidth * 1e9,
	};
	const computed = { computeSeconds: job.secondsPerStep - job.sumSeconds, bytes: gradientBytes };
	return {
		...{ preset, batch, length, parameters: one.parameters, gradientBytes, network },
		measured: medians.map((own) => ({
			...own,
			efficiency:
				(one.secondsPerStep * threads) / (own.secondsPerStep * own.processes * own.threads),
		})),
		simulated: simulatedSizes.map((size) => ({
			processes: size,
			efficiency: efficiencyAt(computed, size, network),
		})),
	};
}

/** Runs the steps in other processes: with the launcher, if there are several. */
async function started(
	options: MpiBenchOptions,
	{ processes, threads }: Pick<JobSteps, "processes" | "threads">,
): Promise<JobSteps> {
	const main = fileURLToPath(new URL("../main.js", import.meta.url));
	const sizes = { ...options, threads, json: undefined };
	const flags = (["preset", "batch", "length", "threads", "steps"] as const).flatMap((name) => [
		...[`--${name}`, String(sizes[name])],
	]);
	const own = [process.execPath, main, "bench", "mpi", ...flags, "--json"];
	const [program = "", ...given] = options.launcher.split(/\s+/);
	const argv = processes === 1 ? own : [program, ...given, "-n", String(processes), ...own];
	try {
		const [command = "", ...rest] = argv;
		return JSON.parse(await output(command, rest, undefined, { TRAJGPT_BENCH_JOB: "1" }));
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
		throw new InputError(
			`${program} is not installed (Debian: apt-get install openmpi-bin); name another with --launcher`,
		);
	}
}

export function renderMpi(report: MpiReport | JobSteps): string {
	if (!("measured" in report)) return `${JSON.stringify(report)}\n`;
	const { preset, parameters, batch, length, gradientBytes, measured, simulated, network } = report;
	const ms = (seconds: number) => `${(seconds * 1000).toFixed(1)} ms`;
	const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
	const rows = measured.map((own) => [
		...[String(own.processes), String(own.threads), ms(own.secondsPerStep), ms(own.sumSeconds)],
		percent(own.efficiency),
	]);
	const { exchange, latencySeconds, bytesPerSecond } = network;
	return [
		`trajgpt ${preset}, ${formatCount(parameters)} parameters, batch ${batch} × ${length}, ${(gradientBytes / 1e6).toFixed(1)} MB of gradients per step\n\n`,
		table(["processes", "threads each", "per step", "in sums", "efficiency"], rows),
		`\nsimulated, with the rows per process of the last line: ${exchange}, ${latencySeconds * 1e6} µs, ${bytesPerSecond / 1e9} GB/s\n\n`,
		table(
			["processes", "efficiency"],
			simulated.map(({ processes, efficiency }) => [String(processes), percent(efficiency)]),
		),
	].join("");
}
