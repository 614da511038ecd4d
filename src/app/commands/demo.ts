import { Command } from "commander";
import { formatDuration } from "../../base/progress.js";
import { openDataset } from "../../data/cohort/index.js";
import { readEvaluation } from "../../evaluate/index.js";
import { weightCount } from "../../model/index.js";
import { readTrained } from "../../model/train/index.js";
import { type DemoSettings, demoDefaults, demoFiles, openFolder } from "./demo/folder.js";
import { type DemoReport, render } from "./demo/render.js";
import { runStages } from "./demo/stages.js";
import { demoStages, demoTasks } from "./demo/steps.js";
import { interrupted } from "./interruptible.js";
import { type Io, printJson, progressOf } from "./io.js";
import { mostPeople, seedNumber, threadCount, wholeNumber } from "./option-values.js";

interface Options extends Partial<DemoSettings> {
	readonly out: string;
	readonly threads?: number;
	readonly fresh?: true;
	readonly serve: boolean;
	readonly json?: true;
}

const description = `Simulate a population, prepare it, train a small TrajGPT, evaluate it and write a report.

All output goes to one folder. Finished stages are not repeated: an interrupted demo
resumes where it stopped, and a finished demo only prints its results. In a terminal
the demo ends by serving the explorer until Ctrl-C. The same seed gives the same
numbers on the same machine with the same number of threads.`;

export const examples = {
	"trajgpt demo": "tables and a report, in a few minutes on two cores",
	"trajgpt demo --patients 20000 --epochs 10 --out runs/larger": "a larger population, more epochs",
};

export function command(io: Io): Command {
	const d = demoDefaults;
	return new Command("demo")
		.description(description)
		.option("--out <folder>", "folder for all output", "runs/demo")
		.option(
			"--patients <n>",
			`people to simulate (default: ${d.patients})`,
			wholeNumber(1, mostPeople),
		)
		.option(
			"--epochs <n>",
			`passes over the training patients (default: ${d.epochs})`,
			wholeNumber(1, 100_000),
		)
		.option(
			"--seed <n>",
			`seed of population, split, weights and draws (default: ${d.seed})`,
			seedNumber,
		)
		.option("--threads <n>", "number of threads (default: all cores)", threadCount)
		.option("--fresh", "replace the demo in the folder and start over")
		.option("--no-serve", "do not serve the explorer at the end")
		.option("--json", "print one JSON document")
		.action(async ({ out, threads, fresh, serve, json, ...requested }: Options) => {
			const clock = () => performance.now();
			const started = clock();
			const settings = await openFolder(out, requested, fresh ?? false);
			await runStages(io, demoStages(io, out, settings, threads), clock);
			io.stderr.write(`done in ${formatDuration((clock() - started) / 1000)}\n`);
			const report = await gatherReport(out, settings);
			if (json) return printJson(io, report);
			io.stdout.write(`\n${render(report)}`);
			if (serve && io.stdout.isTTY) await explore(io, out, threads);
		});
}

async function explore(io: Io, out: string, threads: number | undefined): Promise<void> {
	const { serve } = await import("../workflows/serve.js");
	const { finishingRequests } = await import("./serve.js");
	const { noLog } = await import("../server/index.js");
	const service = await serve(readTrained(demoFiles(out).run), {
		...{ host: "127.0.0.1", explorer: true, log: noLog, threads, progress: progressOf(io) },
	});
	io.stdout.write(`\nThe explorer: ${service.url}  (Ctrl-C ends it)\n`);
	await interrupted(io, finishingRequests);
	await service.close();
}

/** Minimum events in the history of the example patient. */
const longEnough = 80;

/** Collects the results that the stages wrote to the folder. */
async function gatherReport(out: string, settings: DemoSettings): Promise<DemoReport> {
	const files = demoFiles(out);
	const { run, step, weights } = readTrained(files.run);
	const dataset = await openDataset(files.dataset);
	const { manifest } = dataset;
	const test = [...dataset.patients("test")];
	const example = test.find((patient) => dataset.lengthOf(patient) >= longEnough) ?? test[0];
	const evaluations: Record<string, DemoReport["evaluations"][string]> = {};
	for (const task of demoTasks) {
		const evaluation = await readEvaluation(files.run, task);
		if (!evaluation) continue;
		// `made` holds timings, the only part that differs between two equal demos.
		const { made: _, ...measured } = evaluation;
		evaluations[task] = measured;
	}
	return {
		out,
		settings,
		counts: manifest.counts,
		labels: manifest.labels,
		training: {
			epochs: run.options.epochs,
			step,
			parameters: weightCount(weights),
		},
		evaluations,
		report: files.report,
		example: dataset.idOf(example as number),
	};
}
