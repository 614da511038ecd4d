import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { checkConfig } from "../../base/config.js";
import { InputError } from "../../base/errors.js";
import { progress } from "../../base/progress.js";
import { type Dataset, openDataset, prepare, prepareDefaults } from "../../cohort/index.js";
import { evaluateDefaults, evaluationFile } from "../../evaluate/index.js";
import { trajgpt } from "../../models/trajgpt/index.js";
import { openCsv } from "../../records/index.js";
import { writeSimulation } from "../../simulate/index.js";
import {
	checkDataset,
	checkSplits,
	createRun,
	holdingRun,
	isTrained,
	labelsOf,
	type Run,
	readRun,
	readTask,
	readTrained,
	runFiles,
	taskFiles,
	trainOptions,
} from "../../train/index.js";
import { measure, notWritten } from "../evaluate/measure.js";
import { finetune } from "../finetuning.js";
import { Exit, type Io } from "../io.js";
import { writeReport } from "../report/write.js";
import { settingsOf, train, versions } from "../training.js";
import { type DemoSettings, demoFiles } from "./folder.js";
import type { Stage } from "./stages.js";

export const preset = "tiny";
/** The tasks of the paper that need labels. */
const labelled = ["insulin", "chf"] as const;
export const demoTasks = ["next", "forecast", ...labelled] as const;

/** Fewer than evaluate takes: the oracle is then a little below what it could be, intervals a little rougher. */
const futures = 32;
const draws = 500;

/** A model is small, so half the people are enough to learn from; the rest make the measures sharp. */
const splitParts = [50, 10, 40] as const;

/** All of the demo, in order. */
export function demoStages(
	io: Io,
	folder: string,
	settings: DemoSettings,
	threads: number | undefined,
): Stage[] {
	const { patients, epochs, seed } = settings;
	const files = demoFiles(folder);
	const thousands = patients / 1000;
	const opened = () => openDataset(files.dataset);
	const more = threads === undefined ? {} : { threads };
	return [
		{
			name: `simulating ${patients.toLocaleString("en-US")} people`,
			seconds: 1.25 * thousands,
			isDone: () => existsSync(files.population) || existsSync(files.dataset),
			work: () => simulatePeople(io, files.population, settings),
		},
		{
			name: "preparing their records",
			seconds: thousands,
			isDone: () => existsSync(files.dataset),
			work: () => preparePeople(files, settings),
		},
		{
			name: `training TrajGPT, preset ${preset}`,
			seconds: 7.8 * thousands * epochs,
			isDone: () => isTrained(files.run),
			work: async () => pretrainDemo(io, files.run, await opened(), settings, threads),
		},
		...labelled.map((task) => ({
			name: `fine-tuning to ${task}`,
			seconds: (task === "chf" ? 8.5 : 2.5) * thousands,
			isDone: () => existsSync(files.report) || isTrained(taskFiles(files.run, task).folder),
			work: async () => finetuneDemo(io, files.run, await opened(), task, more),
		})),
		{
			name: "measuring it on people it has not seen",
			seconds: 24 * thousands,
			isDone: () =>
				existsSync(files.report) ||
				demoTasks.every((task) => existsSync(evaluationFile(files.run, task))),
			work: async () => {
				const run = { folder: files.run, trained: readTrained(files.run) };
				const { split, lookup } = evaluateDefaults;
				const result = await measure(io, [run], await opened(), {
					...{ split, lookup, draws, futures, seed, task: "all", method: "all", json: true },
					...more,
				});
				const [reason] = notWritten(result);
				if (reason !== undefined) throw new InputError(reason);
			},
		},
		{
			name: "drawing figures and writing the report",
			seconds: 5 + 3 * thousands,
			isDone: () => existsSync(files.report),
			work: async () => {
				await writeReport(io, files.run, { seed, ...more });
			},
		},
	];
}

async function simulatePeople(
	io: Io,
	folder: string,
	{ patients, seed }: DemoSettings,
): Promise<void> {
	const bar = progress(io.stderr, { clock: () => performance.now() });
	await writeSimulation(folder, {
		patients,
		seed,
		onProgress: (done) => bar.update({ label: "simulating: person", done, total: patients }),
	});
	bar.finish();
}

async function preparePeople(
	files: ReturnType<typeof demoFiles>,
	{ patients, seed }: DemoSettings,
): Promise<void> {
	const source = await openCsv([files.population]);
	await prepare(source, files.dataset, { ...prepareDefaults, splitSeed: seed, splitParts });
	const dataset = await openDataset(files.dataset);
	checkSplits(dataset);
	if (dataset.patients("test").length === 0)
		throw new InputError(
			`none of ${patients} people fell to the test split; pass --fresh with more --patients or another --seed`,
		);
}

/** Trains, or goes on with what an earlier call began. */
async function pretrainDemo(
	io: Io,
	place: string,
	dataset: Dataset,
	{ epochs, seed }: DemoSettings,
	threads: number | undefined,
): Promise<void> {
	const begin = async (): Promise<Run> =>
		createRun(place, dataset, {
			model: trajgpt.id,
			config: checkConfig(
				trajgpt.config,
				{ ...trajgpt.presets[preset], ...settingsOf(dataset) },
				`model ${trajgpt.id}`,
			),
			// Short rows and small batches: many steps in little time, as validation liked best.
			options: checkConfig(
				trainOptions,
				{ epochs, seed, batchSlots: 512, maxLength: 128, learningRate: 5e-3 },
				"training options",
			),
			versions: await versions(),
			threads: threads ?? availableParallelism(),
			provider: "cpu",
		});
	const { exitCode } = await holdingRun(place, async () => {
		const resume = existsSync(runFiles(place).run);
		const run = resume ? readRun(place) : await begin();
		if (resume) checkDataset(run, dataset);
		return train(io, { folder: place, run, dataset, resume, ...(threads && { threads }) });
	});
	stopIfInterrupted(io, exitCode);
}

async function finetuneDemo(
	io: Io,
	place: string,
	dataset: Dataset,
	task: string,
	threads: { readonly threads?: number },
): Promise<void> {
	if (!(await canBeTaught(dataset, task))) {
		io.stderr.write(`left out: so few people hold too few labels of ${task}\n`);
		return;
	}
	const { exitCode } = await finetune(io, {
		trained: readTrained(place),
		dataset,
		task,
		options: { maxLength: 128 },
		resume: readTask(place, task) !== undefined,
		...threads,
	});
	stopIfInterrupted(io, exitCode);
}

/** Whether there are both answers to learn from, and some to choose the best epoch by. */
async function canBeTaught(dataset: Dataset, task: string): Promise<boolean> {
	if (!dataset.manifest.labels.some((known) => known.task === task)) return false;
	const labels = await dataset.labels(task);
	const answers = labelsOf(dataset, labels, "train").map(({ value }) => value);
	const checked = labelsOf(dataset, labels, "valid").length > 0;
	return checked && answers.includes(true) && answers.includes(false);
}

function stopIfInterrupted(io: Io, exitCode: number): void {
	if (exitCode === 0) return;
	io.stderr.write("interrupted and saved; run the same command to go on\n");
	throw new Exit(exitCode);
}
