import { z } from "zod";
import { formatCount, formatDuration } from "../../base/progress.js";
import { table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import { openDataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { type Evaluation, readEvaluation } from "../../evaluate/index.js";
import { measureKind, written } from "../../evaluate/report/measures.js";
import { weightCount } from "../../model/index.js";
import { readTrained } from "../../model/train/index.js";
import { defineCommand } from "./define-command.js";
import * as steps from "./demo/steps.js";
import { intervalText } from "./evaluate/text.js";
import { flag, mostPeople, offFlag, option, seed, threadsField, whole } from "./fields.js";
import { interrupted } from "./interruptible.js";
import { type Io, printJson, progressOf } from "./io.js";

const description = `Simulate a population, prepare it, train a small TrajGPT, evaluate it and write a report.

All output goes to one folder. Finished stages are not repeated: an interrupted demo
resumes where it stopped, and a finished demo only prints its results. In a terminal
the demo ends by serving the explorer until Ctrl-C. The same seed gives the same
numbers on the same machine with the same number of threads.`;

export const command = defineCommand({
	name: "demo",
	description,
	options: {
		out: option("folder", "folder for all output", z.string().default("runs/demo")),
		patients: whole(1, mostPeople)
			.optional()
			.describe(`people to simulate (default: ${steps.demoDefaults.patients})`),
		epochs: whole(1, 100_000)
			.optional()
			.describe(`passes over the training patients (default: ${steps.demoDefaults.epochs})`),
		seed: seed
			.optional()
			.describe(
				`seed of population, split, weights and draws (default: ${steps.demoDefaults.seed})`,
			),
		threads: threadsField,
		fresh: flag("replace the demo in the folder and start over"),
		serve: offFlag("do not serve the explorer at the end"),
		json: flag("print one JSON document"),
	},
	examples: {
		"trajgpt demo": "a table and a report, in a few minutes on two cores",
		"trajgpt demo --patients 20000 --epochs 10 --out runs/larger":
			"a larger population, more epochs",
	},
	async run(io, { out, threads, fresh = false, serve, json, ...requested }) {
		const clock = () => performance.now();
		const started = clock();
		const settings = await steps.openFolder(out, requested, fresh);
		await steps.runStages(io, steps.demoStages(io, out, settings, threads), clock);
		io.stderr.write(`done in ${formatDuration((clock() - started) / 1000)}\n`);
		const report = await gatherReport(out, settings);
		if (json) return printJson(io, report);
		io.stdout.write(`\n${render(report)}`);
		if (serve && io.stdout.isTTY) await explore(io, out, threads);
	},
});

async function explore(io: Io, out: string, threads: number | undefined): Promise<void> {
	const { finishingRequests, serve } = await import("./serve.js");
	const { noLog } = await import("../server/index.js");
	const service = await serve(readTrained(steps.demoFiles(out).run), {
		host: "127.0.0.1",
		explorer: true,
		log: noLog,
		threads,
		progress: progressOf(io),
	});
	io.stdout.write(`\nThe explorer: ${service.url}  (Ctrl-C ends it)\n`);
	await interrupted(io, finishingRequests);
	await service.close();
}

/** Minimum events in the history of the example patient. */
const longEnough = 80;

async function gatherReport(out: string, settings: steps.DemoSettings) {
	const files = steps.demoFiles(out);
	const { run, step, weights } = readTrained(files.run);
	const dataset = await openDataset(files.dataset);
	const { counts, labels } = dataset.manifest;
	const test = [...dataset.patients("test")];
	const example = test.find((patient) => dataset.lengthOf(patient) >= longEnough) ?? test[0];
	const evaluations: Record<string, Omit<Evaluation, "made">> = {};
	for (const task of steps.demoTasks) {
		const evaluation = await readEvaluation(files.run, task);
		if (!evaluation) continue;
		// `made` holds timings, the only part that differs between two equal demos.
		const { made: _, ...measured } = evaluation;
		evaluations[task] = measured;
	}
	return {
		out,
		settings,
		counts,
		labels,
		// The step of the kept epoch, the best by validation loss.
		training: { epochs: run.options.epochs, step, parameters: weightCount(weights) },
		evaluations,
		report: files.report,
		/** A test patient with a long history. */
		example: dataset.idOf(example as number),
	};
}

export type DemoReport = Awaited<ReturnType<typeof gatherReport>>;

export const render = (report: DemoReport): string =>
	[population, onsets, onward].map((part) => part(report)).join("\n");

function population({ settings, counts, training, evaluations: { onset } }: DemoReport): string {
	const { train } = counts.splits;
	return [
		`${thousands(settings.patients)} simulated people, ${thousands(counts.tokens - specialCount)} codes. All rates are invented.\n`,
		`TrajGPT (${formatCount(training.parameters)} parameters, one seed) and the regressions learned from ${thousands(train.patients)} of them.\n`,
		`Who of ${thousands(onset?.patients ?? 0)} others gets what for the first time, by when? Frequent codes:\n`,
	].join("");
}

const shown = { logLoss: "log loss", auroc: "AUROC", averagePrecision: "AP, %" } as const;

/** First records: the model beside the others, and what it is ahead of those that learned from the same people. */
function onsets({ evaluations: { onset } }: DemoReport): string {
	if (!onset?.onset) return "";
	const { horizons } = onset.onset;
	const titles = horizons.flatMap(({ years }) =>
		Object.values(shown).map((title, i) => (i === 0 ? `${years} y: ${title}` : title)),
	);
	const names = horizons.flatMap(({ years }) =>
		Object.keys(shown).map((metric) => `${metric} ${years}y`),
	);
	const rows = onset.rows.map(({ label, metrics }) => [
		label,
		...names.map((name) => {
			const measure = metrics[name];
			return measure ? written(measure.value, measureKind(name)) : "";
		}),
	]);
	const model = onset.rows[0]?.label;
	const ahead = (onset.differences ?? []).flatMap(({ row, than, metrics }) => {
		const other = onset.rows.find(({ label }) => label === than);
		if (row !== model || !other || other.who === "oracle") return [];
		const differences = horizons.flatMap(({ years }) => {
			const difference = metrics[`logLoss ${years}y`];
			return difference
				? [`${intervalText(difference, measureKind("logLoss"), true)} (${years} y)`]
				: [];
		});
		return [`${row} − ${than}: ${differences.join(", ")}\n`];
	});
	return [
		table(["", ...titles], rows),
		"Log loss is per first record, lower is better. AP: average precision. Nobody can do better than the\n",
		"reference model, which has the rules by which the people were simulated.\n",
		"Differences in log loss, with 95 % intervals over people:\n",
		...ahead.map((line) => `  ${line}`),
	].join("");
}

function onward({ out, report, example }: DemoReport): string {
	const { dataset, run } = steps.demoFiles(out);
	const lines = {
		[`trajgpt risk ${run} --patient ${example} --code 428 --figure risk.svg`]:
			"heart failure, over one life",
		[`trajgpt evaluate ${run}`]: "all people, horizons, tasks and methods",
		[`trajgpt forecast ${run} --patient ${example} --at +1y`]: "what comes in a year",
		[`trajgpt describe ${dataset}`]: "what the population is like",
	};
	const entries = Object.entries(lines).map(([line, does]) => `  npx ${line}  # ${does}\n`);
	return [
		`The report, with figures and other tasks: ${report}\n`,
		"To try next:\n",
		...entries,
	].join("");
}
