import { z } from "zod";
import { decimal, option, whole } from "../dist/app/commands/fields.js";
import { communicatorOf } from "../dist/app/commands/io.js";
import { InputError } from "../dist/base/errors.js";
import { formatCount } from "../dist/base/progress.js";
import { random } from "../dist/base/random.js";
import { percent, table } from "../dist/base/table.js";
import { launchOf } from "../dist/engine/mpi/index.js";
import { openRuntime } from "../dist/engine/runtime/open-runtime.js";
import { weightCount } from "../dist/model/index.js";
import * as bench from "./shared.mjs";
import { learnerOf, randomBatch, subjectOf } from "./subject.mjs";

const simulatedSizes = [8, 64, 512];
const warmUp = 2;

/** Times the steps of the job that this process belongs to. */
async function jobSteps(io, options) {
	const { batch, length, threads, steps } = options;
	const communicator = communicatorOf(io);
	let inSums = 0;
	const timed = {
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
	const seconds = [];
	const sums = [];
	let loss = 0;
	for (let step = 1; step <= warmUp + steps; step++) {
		inSums = 0;
		const began = performance.now();
		const { totals, targets } = await learner.step([rows], {
			step,
			learningRate: 1e-3,
			random: random(step),
		});
		if (step > warmUp) {
			seconds.push((performance.now() - began) / 1000);
			sums.push(inSums);
		}
		// Later steps amplify differences in rounding.
		if (step === 1) loss = totals.next / targets.next;
	}
	await learner.dispose();
	await runtime.dispose?.();
	return {
		processes: communicator.size,
		threads,
		loss,
		secondsPerStep: bench.median(seconds),
		sumSeconds: bench.median(sums),
		parameters: weightCount(subject.weights),
	};
}

/** Times jobs in turns, each in processes of its own. */
async function measure(io, options) {
	const { processes, threads, rounds, batch, length, preset } = options;
	// Started by this benchmark as one process of a job.
	if (launchOf(io.env) || io.env.TRAJGPT_BENCH_JOB) return jobSteps(io, options);
	const jobs = [
		{ processes: 1, threads },
		{ processes: 1, threads: processes * threads },
		{ processes, threads },
	];
	const results = jobs.map(() => []);
	for (let round = 1; round <= rounds; round++)
		// The job comes first: a launcher that does not work is found at once.
		for (const [i, job] of [...jobs.entries()].reverse()) {
			io.stderr.write(`round ${round}/${rounds}: ${job.processes} × ${job.threads} threads\n`);
			results[i]?.push(await started(options, job));
		}
	const medians = results.map((rounds) => ({
		...rounds[0],
		secondsPerStep: bench.median(rounds.map(({ secondsPerStep }) => secondsPerStep)),
		sumSeconds: bench.median(rounds.map(({ sumSeconds }) => sumSeconds)),
	}));
	const [one, , job] = medians;
	if (Math.abs(job.loss / one.loss - 1) > 1e-4)
		throw new Error(`the loss of the job is ${job.loss}, that of one process ${one.loss}`);
	const gradientBytes = 4 * one.parameters;
	const network = {
		exchange: options.exchange,
		latencySeconds: options.latency * 1e-6,
		bytesPerSecond: options.bandwidth * 1e9,
	};
	const computed = { computeSeconds: job.secondsPerStep - job.sumSeconds, bytes: gradientBytes };
	return {
		preset,
		batch,
		length,
		parameters: one.parameters,
		gradientBytes,
		network,
		measured: medians.map((steps) => ({
			...steps,
			efficiency:
				(one.secondsPerStep * threads) / (steps.secondsPerStep * steps.processes * steps.threads),
		})),
		simulated: simulatedSizes.map((size) => ({
			processes: size,
			efficiency: efficiencyAt(computed, size, network),
		})),
	};
}

/** Runs the steps in other processes: with the launcher, if there are several. */
async function started(options, { processes, threads }) {
	const { preset, batch, length, steps } = options;
	const job = [
		bench.main,
		"mpi",
		"--json",
		...bench.flags({ preset, batch, length, threads, steps }),
	];
	const [launcher, ...launcherOptions] = options.launcher.split(/\s+/);
	const jobArguments = [...launcherOptions, "-n", String(processes), process.execPath, ...job];
	const [program, argv] = processes === 1 ? [process.execPath, job] : [launcher, jobArguments];
	try {
		return JSON.parse(await bench.output(program, argv, undefined, { TRAJGPT_BENCH_JOB: "1" }));
	} catch (error) {
		if (error.code !== "ENOENT") throw error;
		throw new InputError(
			`${program} is not installed (Debian: apt-get install openmpi-bin); name another with --launcher`,
		);
	}
}

export function renderMpi(report) {
	if (!("measured" in report)) return `${JSON.stringify(report)}\n`;
	const { preset, parameters, batch, length, gradientBytes, measured, simulated, network } = report;
	const rows = measured.map((steps) => [
		String(steps.processes),
		String(steps.threads),
		bench.milliseconds(steps.secondsPerStep, 1),
		bench.milliseconds(steps.sumSeconds, 1),
		percent(steps.efficiency),
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

/**
 * Seconds to sum so many bytes over processes. Each sends its part of every slice to the process that adds it (N−1 of
 * N slices), and gets the sums of the others (N−1 of N again):
 *
 *   ring     2 (N−1) (latency + bytes/N / bandwidth)
 *   halving  2 (log₂N · latency + (N−1)/N · bytes / bandwidth)
 */
export function sumSeconds(bytes, processes, network) {
	const { latencySeconds, bytesPerSecond, exchange } = network;
	const messages = exchange === "ring" ? processes - 1 : Math.ceil(Math.log2(processes));
	const sent = (bytes * (processes - 1)) / processes;
	return 2 * (messages * latencySeconds + sent / bytesPerSecond);
}

/** The part of a step in which processes compute, if each has as many rows as were measured. */
export const efficiencyAt = ({ computeSeconds, bytes }, processes, network) =>
	computeSeconds / (computeSeconds + sumSeconds(bytes, processes, network));

export const command = bench.benchmark({
	name: "mpi",
	description:
		"Time training steps that several processes share (next-event objective, AdamW, random events),\n" +
		"in turns with one process on as many threads, and compute the efficiency of larger jobs from\n" +
		"the time of a step, the bytes of its gradients and a network. Efficiency is the speed per\n" +
		"thread, compared with one process on the threads of one.",
	options: {
		launcher: option(
			"command",
			"program that starts the processes, with its options",
			z.string().default("mpirun"),
		),
		processes: whole(2, 1024).default(2).describe("processes of the job"),
		threads: bench.threadsField("threads per process", 1),
		preset: bench.presetField("paper"),
		batch: bench.countField("rows per batch, of all processes", 16, 65_536),
		length: bench.countField("events per row", 128),
		steps: bench.countField("steps to time per round", 10),
		rounds: bench.countField("rounds", 3, 1000),
		exchange: option(
			"kind",
			"simulated jobs: around a ring, or halving the distance",
			z.enum(["ring", "halving"]).default("ring"),
		),
		latency: option("us", "simulated jobs: microseconds per message", decimal(0, 1e6).default(2)),
		bandwidth: option("GB/s", "simulated jobs: of each process", decimal(1e-6, 1e6).default(12.5)),
	},
	examples: {
		"node bench/main.mjs mpi": "two processes with one thread each, beside one with two",
		"node bench/main.mjs mpi --launcher mpirun.mpich --processes 4":
			"another library, more processes",
		"node bench/main.mjs mpi --exchange halving --latency 20 --bandwidth 1.25": "10 Gb/s Ethernet",
	},
	measure,
	render: renderMpi,
});
