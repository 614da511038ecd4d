import { Command, Option } from "commander";
import { InputError } from "../base/errors.js";
import { splitNames } from "../cohort/index.js";
import { evaluateDefaults, type Method } from "../evaluate/index.js";
import { forecastMethods } from "../models/index.js";
import {
	commonDataset,
	type EvaluateOptions,
	evaluate,
	notWritten,
} from "../workflows/evaluate.js";
import { acrossRunsText, evaluationText } from "./evaluation-text.js";
import { examples } from "./examples.js";
import { type Io, printJson, progressOf } from "./io.js";
import { openRun } from "./open-run.js";
import { seedNumber, threadCount, wholeNumber } from "./option-values.js";

interface Options extends EvaluateOptions {
	readonly task: string;
	readonly method: Method | "all";
	readonly dataset?: string;
	readonly json?: true;
}

const description = `Measures what a run has learned, with 95 % intervals from a bootstrap over patients.

  next      every event after the first, given its time and all events before it:
            accuracy, recall@5 and @10, mean -log p (nats), calibration
  forecast  every event after the first 50, each at its own time, from those 50 alone:
            recall@1, @5, @10 and @15, averaged over patients, and by how far ahead
  a label   the tasks the dataset has labels for, as insulin and chf

Beside the model always: counts of the patient's own history, code frequencies in
training and, on a simulated population, the oracle. Writes RUN/eval/<task>.json.
Several runs (of other seeds, on the same dataset) are measured one by one and then
together: means with 95 % t-intervals over the runs.`;

export function command(io: Io): Command {
	const { split, lookup, draws, seed, futures } = evaluateDefaults;
	return new Command("evaluate")
		.description(description)
		.argument("<run...>", "folders that pretrain wrote")
		.option("--task <name>", "next, forecast, a task with labels, or all the dataset has", "all")
		.addOption(
			new Option("--method <name>", "forecast: how the model gets to later times")
				.choices([...forecastMethods, "all"])
				.default("all"),
		)
		.addOption(new Option("--split <name>", "whose patients").choices(splitNames).default(split))
		.option("--lookup <n>", "forecast: events that are known", wholeNumber(1, 1_000_000), lookup)
		.option("--draws <n>", "of the bootstrap", wholeNumber(1, 1_000_000), draws)
		.option("--seed <n>", "of the bootstrap and of sampled futures", seedNumber, seed)
		.option("--patients <n>", "only the first so many of the split", wholeNumber(1, 1_000_000_000))
		.option("--dataset <folder>", "the dataset, if it is not where the run remembers it")
		.option(
			"--oracle <folder>",
			"the simulated population, if it is not where it was prepared from",
		)
		.option(
			"--futures <n>",
			"forecast: futures the oracle samples for each patient",
			wholeNumber(1, 100_000),
			futures,
		)
		.option(
			"--shots <n>",
			"labelled tasks: labels the few-shot row sees (default: 5)",
			wholeNumber(2, 1_000_000),
		)
		.option("--code <code>", "labelled tasks of your own: the code they are about")
		.option("--threads <n>", "threads; all cores if left out", threadCount)
		.option("--json", "print one JSON document")
		.addHelpText(
			"after",
			examples({
				"trajgpt evaluate runs/sim": "every task, on the test patients",
				"trajgpt evaluate runs/sim --task forecast --method time-specific": "one way to ask",
				"trajgpt evaluate runs/s1 runs/s2 runs/s3 --task forecast": "intervals over three seeds",
			}),
		)
		.action(async (folders: string[], { task, method, dataset, json, ...options }: Options) => {
			const runs = folders.map((folder) => openRun(io, folder));
			let printed = 0;
			const print = (text: string) => {
				if (!json) io.stdout.write(printed++ === 0 ? text : `\n${text}`);
			};
			const results = await evaluate(runs, await commonDataset(runs, dataset), {
				...options,
				...(method !== "all" && { methods: [method] }),
				task: task === "all" ? undefined : task,
				progress: progressOf(io),
				onEvaluation: ({ run, file, notWritten, evaluation }) =>
					print(
						evaluationText(
							run,
							file ? `written: ${file}` : `not written: ${notWritten}`,
							evaluation,
						),
					),
				onAcrossRuns: (name, over) => print(acrossRunsText(name, over)),
			});
			if (json) printJson(io, results);
			const [reason] = notWritten(results);
			if (reason !== undefined) throw new InputError(`${reason}; the results are printed above`);
		});
}
