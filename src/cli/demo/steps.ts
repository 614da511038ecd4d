import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { checkConfig } from "../../base/config.js";
import { InputError } from "../../base/errors.js";
import { type Dataset, openDataset, prepare, prepareDefaults } from "../../cohort/index.js";
import { trajgpt } from "../../models/trajgpt/index.js";
import { openCsv } from "../../records/index.js";
import { writeSimulation } from "../../simulate/index.js";
import {
	checkDataset,
	checkSplits,
	createRun,
	holdingRun,
	type Run,
	readRun,
	runFiles,
	trainOptions,
} from "../../train/index.js";
import type { Io } from "../io.js";
import { settingsOf, train, versions } from "../training.js";
import { type DemoSettings, demoFiles } from "./folder.js";

export const preset = "tiny";

/** The simulated population as a dataset; what an earlier call finished is not done again. */
export async function populationDataset(
	io: Io,
	folder: string,
	{ patients, seed }: DemoSettings,
): Promise<Dataset> {
	const files = demoFiles(folder);
	if (!existsSync(files.dataset)) {
		if (!existsSync(files.population)) {
			io.stderr.write(`simulating ${patients} people\n`);
			await writeSimulation(files.population, { patients, seed });
		}
		io.stderr.write(`preparing ${files.dataset}\n`);
		const source = await openCsv([files.population]);
		await prepare(source, files.dataset, { ...prepareDefaults, splitSeed: seed });
	}
	const dataset = await openDataset(files.dataset);
	checkSplits(dataset);
	if (dataset.patients("test").length === 0)
		throw new InputError(
			`none of ${patients} people fell to the test split; pass --fresh with more --patients or another --seed`,
		);
	return dataset;
}

/** Trains, or goes on with what an earlier call began. */
export async function trainDemo(
	io: Io,
	folder: string,
	dataset: Dataset,
	{ epochs, seed }: DemoSettings,
	threads: number | undefined,
): ReturnType<typeof train> {
	const place = demoFiles(folder).run;
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
				{ epochs, seed, batchSlots: 256, maxLength: 128, learningRate: 3e-3 },
				"training options",
			),
			versions: await versions(),
			threads: threads ?? availableParallelism(),
			provider: "cpu",
		});
	return holdingRun(place, async () => {
		const resume = existsSync(runFiles(place).run);
		const run = resume ? readRun(place) : await begin();
		if (resume) checkDataset(run, dataset);
		return train(io, { folder: place, run, dataset, resume, ...(threads && { threads }) });
	});
}
