import { existsSync, readdirSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { InputError } from "../../../base/errors.js";
import { replaceFile } from "../../../base/files/index.js";
import { formatDuration, type Progress, silentProgress } from "../../../base/progress.js";
import { thousands } from "../../../base/thousands.js";
import { type Dataset, openDataset, prepare, prepareDefaults } from "../../../data/cohort/index.js";
import { openCsv } from "../../../data/records/index.js";
import { evaluationFile, labelledTasks, taskLabels } from "../../../evaluate/index.js";
import * as runs from "../../../model/train/index.js";
import { checkWritten, type EvaluateOptions, evaluate } from "../evaluate/runs.js";
import { finetune } from "../finetune.js";
import { interruptible } from "../interruptible.js";
import { type Io, progressOf } from "../io.js";
import { pretrain } from "../pretrain.js";
import { report } from "../report.js";
import { simulate } from "../simulate.js";

const preset = "tiny";
/** The one task with labels; `finetune` and `evaluate` do the others. */
const labelled = "insulin";

/** Fewer than evaluate's defaults: the reference model is slightly worse, the intervals are slightly rougher. */
const futures = 32;

/** How each task is evaluated, in the order of the report: what takes long is done on fewer patients. */
const demoEvaluations = {
	onset: { horizons: [1, 5], draws: 100 },
	next: { patients: 500, draws: 500 },
	forecast: { patients: 500, draws: 500, methods: ["time-specific"] },
	[labelled]: {},
} as const satisfies Readonly<Record<string, EvaluateOptions>>;

export const demoTasks = Object.keys(demoEvaluations);

/** Half of the people suffice to train a small model; the others make the evaluation precise. */
export const splitParts = [50, 10, 40] as const;

export function demoStages(
	io: Io,
	folder: string,
	settings: DemoSettings,
	threads: number | undefined,
): Stage[] {
	const { patients, epochs, seed } = settings;
	const files = demoFiles(folder);
	const inThousands = patients / 1000;
	const opened = () => openDataset(files.dataset);
	const progress = progressOf(io);
	return [
		{
			name: `simulating ${thousands(patients)} people`,
			seconds: 1.25 * inThousands,
			isDone: () => existsSync(files.population) || existsSync(files.dataset),
			work: async () => {
				await simulate(files.population, { patients, seed, threads: 1, progress });
			},
		},
		{
			name: "preparing their records",
			seconds: inThousands,
			isDone: () => existsSync(files.dataset),
			work: async () => {
				const source = await openCsv([files.population]);
				await prepare(source, files.dataset, { ...prepareDefaults, splitSeed: seed, splitParts });
				const dataset = await opened();
				runs.checkSplits(dataset);
				if (dataset.patients("test").length === 0)
					throw new InputError(
						`none of ${patients} people fell to the test split; pass --fresh with more --patients or another --seed`,
					);
			},
		},
		{
			name: `training TrajGPT, preset ${preset}`,
			seconds: 7.8 * inThousands * epochs,
			isDone: () => runs.isTrained(files.run),
			work: async () => {
				const dataset = await opened();
				await trainInterruptibly(io, (signal) =>
					pretrain(dataset, files.run, {
						preset,
						threads,
						signal,
						progress,
						resume: "if-begun",
						// Short rows and small batches: many steps in little time, chosen by validation loss.
						training: { epochs, seed, batchSlots: 512, maxLength: 128, learningRate: 5e-3 },
					}),
				);
			},
		},
		{
			name: `fine-tuning to ${labelled}`,
			seconds: 2.5 * inThousands,
			isDone: () =>
				existsSync(files.report) || runs.isTrained(runs.taskFiles(files.run, labelled).folder),
			work: async () => {
				const dataset = await opened();
				if (!(await hasEnoughLabels(dataset, labelled)))
					return progress.note(`skipped: too few labels of ${labelled} among so few people`);
				await trainInterruptibly(io, (signal) =>
					finetune(runs.readTrained(files.run), dataset, {
						task: labelled,
						threads,
						signal,
						progress,
						resume: "if-begun",
						training: { maxLength: 128 },
					}),
				);
			},
		},
		{
			name: "evaluating it on people it has not seen",
			seconds: 30 * inThousands,
			isDone: () =>
				existsSync(files.report) ||
				demoTasks.every((task) => existsSync(evaluationFile(files.run, task))),
			work: async () => {
				const dataset = await opened();
				const trained = runs.readTrained(files.run);
				// While threads fit the regressions of onset, this one has time for the other tasks.
				const notes = { ...silentProgress, note: progress.note };
				await Promise.all(
					Object.entries(demoEvaluations).map(([task, options]) =>
						evaluateTask(task, trained, dataset, {
							...options,
							futures,
							seed,
							threads,
							progress: task === "onset" ? progress : notes,
						}),
					),
				);
			},
		},
		{
			name: "drawing figures and writing the report",
			seconds: 5 + 3 * inThousands,
			isDone: () => existsSync(files.report),
			work: async () => {
				await report(runs.readTrained(files.run), await opened(), { seed, threads, progress });
			},
		},
	];
}

/** Evaluates one task; too few people for it do not stop the demo. */
async function evaluateTask(
	task: string,
	trained: runs.Trained,
	dataset: Dataset,
	options: EvaluateOptions & { readonly progress: Progress },
): Promise<void> {
	const results = await evaluate([trained], dataset, { ...options, task }).catch(
		(error: unknown) => {
			if (!(error instanceof InputError)) throw error;
			options.progress.finish();
			options.progress.note(`${task} is not evaluated: ${error.message}`);
			return {};
		},
	);
	checkWritten(results);
}

/** Whether training has positive and negative labels, and validation has some. */
async function hasEnoughLabels(dataset: Dataset, task: string): Promise<boolean> {
	if (!labelledTasks(dataset).includes(task)) return false;
	const { labels } = await taskLabels(dataset, task);
	const values = runs.labelsOf(dataset, labels, "train").map(({ value }) => value);
	const canValidate = runs.labelsOf(dataset, labels, "valid").length > 0;
	return canValidate && values.includes(true) && values.includes(false);
}

/** Trains to the end; after Ctrl-C, prints how to continue and ends. */
const trainInterruptibly = (
	io: Io,
	training: (signal: AbortSignal) => Promise<{ readonly interrupted: boolean }>,
): Promise<void> =>
	interruptible(io, async (signal) => {
		const { interrupted } = await training(signal);
		if (!interrupted) return;
		io.stderr.write("interrupted and saved; run the same command to continue\n");
		signal.throwIfAborted();
	});

const settingsSchema = z.strictObject({
	kind: z.literal("trajgpt-demo"),
	version: z.literal(3),
	patients: z.int().min(1),
	epochs: z.int().min(1),
	seed: z.int().min(0),
});
/** The settings that, with the machine, determine every number of a demo. */
export type DemoSettings = Omit<z.infer<typeof settingsSchema>, "kind" | "version">;

/** A few minutes of training on two cores. */
export const demoDefaults: DemoSettings = { patients: 4000, epochs: 2, seed: 1 };

export function demoFiles(folder: string) {
	const run = join(folder, "run");
	return {
		settings: join(folder, "demo.json"),
		population: join(folder, "population"),
		dataset: join(folder, "dataset"),
		run,
		report: runs.runFiles(run).report,
	};
}

/**
 * The settings of the demo in a folder: those it was begun with, or `requested` over the defaults for a new
 * demo. A folder with other content is refused.
 */
export async function openFolder(
	folder: string,
	requested: Partial<DemoSettings>,
	fresh: boolean,
): Promise<DemoSettings> {
	const files = demoFiles(folder);
	const begun = existsSync(files.settings);
	if (!begun && existsSync(folder) && readdirSync(folder).length > 0)
		throw new InputError(
			`${folder} holds files but no demo.json, so it is not a demo's; choose another --out`,
		);
	if (begun && !fresh) return continueDemo(folder, requested);
	// The settings are removed last: they mark the folder as a demo's.
	if (begun)
		await runs.holdingRun(files.run, async () => {
			for (const file of [files.run, files.dataset, files.population, files.settings])
				await rm(file, { recursive: true, force: true });
		});
	const settings = { ...demoDefaults, ...requested };
	const text = `${JSON.stringify({ kind: "trajgpt-demo", version: 3, ...settings }, null, 2)}\n`;
	await replaceFile(files.settings, (path) => writeFile(path, text));
	return settings;
}

async function continueDemo(
	folder: string,
	requested: Partial<DemoSettings>,
): Promise<DemoSettings> {
	const file = demoFiles(folder).settings;
	const json = await readFile(file, "utf8")
		.then((text): unknown => JSON.parse(text))
		// Refused below.
		.catch(() => undefined);
	const parsed = settingsSchema.safeParse(json);
	if (!parsed.success)
		throw new InputError(
			`${file} is damaged or of another version; pass --fresh to start over, or another --out`,
		);
	const { patients, epochs, seed } = parsed.data;
	const begunWith: DemoSettings = { patients, epochs, seed };
	for (const name of ["patients", "epochs", "seed"] as const)
		if (requested[name] !== undefined && requested[name] !== begunWith[name])
			throw new InputError(
				`${folder} was begun with --${name} ${begunWith[name]}, not ${requested[name]}; ` +
					"leave the option out to continue, pass --fresh to start over, or choose another --out",
			);
	return begunWith;
}

/** A part of the demo; a finished one is skipped when the demo is resumed. */
export interface Stage {
	readonly name: string;
	/** Approximate duration on two cores of 2023. */
	readonly seconds: number;
	readonly isDone: () => boolean;
	readonly work: () => Promise<void>;
}

/**
 * Runs the unfinished stages in order and prints each one's name and an estimate of the time left. The estimate
 * is scaled to this machine: the time that past stages took, divided by their planned time.
 */
export async function runStages(
	io: Io,
	stages: readonly Stage[],
	clock: () => number,
): Promise<void> {
	let [taken, planned] = [0, 0];
	for (const [at, stage] of stages.entries()) {
		if (stage.isDone()) continue;
		const left = stages
			.slice(at)
			.filter((other) => !other.isDone())
			.reduce((sum, { seconds }) => sum + seconds, 0);
		// A short first stage says little about the speed, so some planned time is counted with it.
		const pace = (taken + plannedShare) / (planned + plannedShare);
		const guess = formatDuration(Math.max(1, Math.round(left * pace)));
		io.stderr.write(`[${at + 1}/${stages.length}] ${stage.name} (about ${guess} left in all)\n`);
		const began = clock();
		await stage.work();
		taken += (clock() - began) / 1000;
		planned += stage.seconds;
	}
}

const plannedShare = 10;
