import { Command } from "commander";
import { formatDuration } from "../base/progress.js";
import { readTrained } from "../train/index.js";
import { type DemoSettings, demoDefaults, demoFiles, openFolder } from "./demo/folder.js";
import { type DemoReport, render } from "./demo/render.js";
import { answersForOne, nextEventTable } from "./demo/results.js";
import { populationDataset, trainDemo } from "./demo/steps.js";
import { examples } from "./examples.js";
import { Exit, type Io, printJson } from "./io.js";
import { wholeNumber } from "./option-values.js";

interface Options extends Partial<DemoSettings> {
	readonly out: string;
	readonly threads?: number;
	readonly fresh?: true;
	readonly json?: true;
}

const description = `Simulates a population, prepares it, trains a small TrajGPT and shows what it learned.

Everything goes to one folder. What is there already is not done again: an
interrupted demo goes on where it was, a finished one only prints its results.
With the same seed, on the same machine and threads, every number is the same.`;

export function command(io: Io): Command {
	const d = demoDefaults;
	return new Command("demo")
		.description(description)
		.option("--out <folder>", "where everything goes", "runs/demo")
		.option("--patients <n>", `people to simulate (default: ${d.patients})`, wholeNumber(1))
		.option(
			"--epochs <n>",
			`passes over the training patients (default: ${d.epochs})`,
			wholeNumber(1),
		)
		.option(
			"--seed <n>",
			`of population, split, weights and draws (default: ${d.seed})`,
			wholeNumber(0),
		)
		.option("--threads <n>", "threads; all cores if left out", wholeNumber(1))
		.option("--fresh", "start over, replacing the demo in the folder")
		.option("--json", "print one JSON document")
		.addHelpText(
			"after",
			examples({
				"trajgpt demo": "a few minutes on two cores, then a table and some answers",
				"trajgpt demo --patients 5000 --epochs 10 --out runs/larger": "more to learn from",
			}),
		)
		.action(async ({ out, threads, fresh, json, ...given }: Options) => {
			const started = performance.now();
			const report = await demo(io, out, given, threads, fresh ?? false);
			io.stderr.write(`done in ${formatDuration((performance.now() - started) / 1000)}\n`);
			if (json) printJson(io, report);
			else io.stdout.write(`\n${render(report)}`);
		});
}

async function demo(
	io: Io,
	out: string,
	given: Partial<DemoSettings>,
	threads: number | undefined,
	fresh: boolean,
): Promise<DemoReport> {
	const settings = await openFolder(out, given, fresh);
	const dataset = await populationDataset(io, out, settings);
	const { summary: training, exitCode } = await trainDemo(io, out, dataset, settings, threads);
	if (exitCode !== 0) {
		io.stderr.write("interrupted and saved; run the same command to go on\n");
		throw new Exit(exitCode);
	}
	io.stderr.write("scoring the test patients\n");
	const trained = readTrained(demoFiles(out).run);
	const { nodeRuntime } = await import("../runtime/node.js");
	const runtime = nodeRuntime({ threads: threads ?? trained.run.threads, purpose: "inference" });
	return {
		out,
		settings,
		counts: dataset.manifest.counts,
		training,
		next: await nextEventTable(runtime, trained, dataset),
		patient: await answersForOne(runtime, trained, dataset, settings.seed),
	};
}
