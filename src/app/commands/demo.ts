import { z } from "zod";
import { formatCount, formatDuration } from "../../base/progress.js";
import { table } from "../../base/table.js";
import { thousands } from "../../base/thousands.js";
import { openDataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { type Evaluation, type EvaluationRow, readEvaluation } from "../../evaluate/index.js";
import { weightCount } from "../../model/index.js";
import { readTrained } from "../../model/train/index.js";
import { defineCommand } from "./define-command.js";
import * as steps from "./demo/steps.js";
import { measureText, onsetTable } from "./evaluate/text.js";
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
		"trajgpt demo": "tables and a report, in a few minutes on two cores",
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
	[population, onsets, forecasts, labelled, onward].map((part) => part(report)).join("");

function population({ settings, counts, training }: DemoReport): string {
	const { train, test } = counts.splits;
	return [
		`${thousands(settings.patients)} simulated people: ${thousands(counts.events)} events, `,
		`${thousands(counts.tokens - specialCount)} codes. All rates are invented.\n`,
		`TrajGPT, preset ${steps.preset}, ${formatCount(training.parameters)} parameters, learned from `,
		`${thousands(train.patients)} of them; what follows is measured on ${thousands(test.patients)} others.\n\n`,
	].join("");
}

/** First records: one table per horizon, the model beside the others. */
function onsets({ evaluations: { onset } }: DemoReport): string {
	if (!onset?.onset) return "";
	return [
		`Who gets what for the first time, by when? ${thousands(onset.patients)} people, one index day each, death competing.\n\n`,
		...onset.onset.horizons.map((horizon) => `${onsetTable(horizon, onset.rows)}\n`),
		`The reference model has the rules that the people were simulated by: nobody can do better. In brackets: 95 % intervals over people.\n\n`,
	].join("");
}

const cell = (row: EvaluationRow | undefined, metric: string): string =>
	measureText(metric, row?.metrics[metric]);

/** The rows of next and forecast side by side. */
function forecasts({ evaluations: { next, forecast } }: DemoReport): string {
	if (!next) return "";
	const forecastRow = (row: EvaluationRow) =>
		forecast?.rows.find(
			({ who, label, method }) =>
				who === row.who && (who === "model" ? method === "time-specific" : label === row.label),
		);
	return [
		`Which code comes next, given the time, ${thousands(next.patients)} people? And which come after the first 50 events, ${thousands(forecast?.patients ?? 0)} people?\n\n`,
		table(
			[
				"",
				"next: nats",
				"next: accuracy, %",
				"after 50 events: recall@10, %",
				"of known codes, %",
				"of new codes, %",
			],
			next.rows.map((row) => [
				row.label,
				cell(row, "nats"),
				cell(row, "accuracy"),
				...["recall@10", "recall@10 known", "recall@10 new"].map((metric) =>
					cell(forecastRow(row), metric),
				),
			]),
		),
		"\nnats: mean -log p of the recorded code, lower is better. Known codes: those among the first 50 events. In brackets: 95 % intervals over people.\n\n",
	].join("");
}

function labelled({ evaluations, labels }: DemoReport): string {
	const tasks = labels.flatMap(({ task }) => {
		const evaluation = evaluations[task];
		return evaluation ? [{ task, evaluation }] : [];
	});
	if (tasks.length === 0) return "";
	const names = [
		...new Set(tasks.flatMap(({ evaluation }) => evaluation.rows.map(({ label }) => label))),
	];
	return [
		`Yes or no: ${tasks.map(({ task, evaluation }) => `${task}, ${thousands(evaluation.patients)} people`).join("; ")}\n\n`,
		table(
			["AUPRC", ...tasks.map(({ task }) => task)],
			names.map((name) => {
				const rows = tasks.map(({ evaluation }) =>
					evaluation.rows.find(({ label }) => label === name),
				);
				return [name, ...rows.map((row) => cell(row, "auprc"))];
			}),
		),
		"\n",
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
	return [`The report, with figures: ${report}\n\n`, "To try next:\n", ...entries].join("");
}
