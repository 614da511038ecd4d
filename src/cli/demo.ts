import { Command } from "commander";
import { formatDuration } from "../base/progress.js";
import { openDataset } from "../cohort/index.js";
import { readEvaluation } from "../evaluate/index.js";
import { weightCount } from "../models/index.js";
import { readTrained } from "../train/index.js";
import { type DemoSettings, demoDefaults, demoFiles, openFolder } from "./demo/folder.js";
import { type DemoReport, render } from "./demo/render.js";
import { workThrough } from "./demo/stages.js";
import { demoStages, demoTasks } from "./demo/steps.js";
import { examples } from "./examples.js";
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

const description = `Simulates a population, prepares it, trains a small TrajGPT, measures it and writes a report.

Everything goes to one folder. What is there already is not done again: an
interrupted demo goes on where it was, a finished one only prints its results.
In a terminal it ends by serving the explorer, until Ctrl-C.
With the same seed, on the same machine and threads, every number is the same.`;

export function command(io: Io): Command {
	const d = demoDefaults;
	return new Command("demo")
		.description(description)
		.option("--out <folder>", "where everything goes", "runs/demo")
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
			`of population, split, weights and draws (default: ${d.seed})`,
			seedNumber,
		)
		.option("--threads <n>", "threads; all cores if left out", threadCount)
		.option("--fresh", "start over, replacing the demo in the folder")
		.option("--no-serve", "end with the results, in a terminal too")
		.option("--json", "print one JSON document")
		.addHelpText(
			"after",
			examples({
				"trajgpt demo": "a few minutes on two cores, then tables and a report",
				"trajgpt demo --patients 20000 --epochs 10 --out runs/larger": "more to learn from",
			}),
		)
		.action(async ({ out, threads, fresh, serve, json, ...given }: Options) => {
			const clock = () => performance.now();
			const started = clock();
			const settings = await openFolder(out, given, fresh ?? false);
			await workThrough(io, demoStages(io, out, settings, threads), clock);
			io.stderr.write(`done in ${formatDuration((clock() - started) / 1000)}\n`);
			const report = await gathered(out, settings);
			if (json) return printJson(io, report);
			io.stdout.write(`\n${render(report)}`);
			if (serve && io.stdout.isTTY) await explore(io, out, threads);
		});
}

/** In a terminal there is somebody to look at it. */
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

/** Events of a history that is worth looking at. */
const longEnough = 80;

/** What the stages left in the folder. */
async function gathered(out: string, settings: DemoSettings): Promise<DemoReport> {
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
		// How long it took is the one thing that is not the same again.
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
