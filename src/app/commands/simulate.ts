import { existsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { checkFolderTarget } from "../../base/files/index.js";
import { type Progress, silentProgress } from "../../base/progress.js";
import {
	type Block,
	formats,
	simulationFileNames,
	truthFile,
	writeSimulation,
} from "../../data/simulate/index.js";
import { startThreads } from "../../engine/runtime/threads.js";
import { defineCommand } from "./define-command.js";
import * as fields from "./fields.js";
import { type Io, printJson, progressOf } from "./io.js";

const description = `Write the insurance records of a synthetic population, for trials and demonstrations.

People are born, age, fall ill, are followed up and die; conditions make others more likely; visits
bundle codes; policies lapse. The folder holds claims (ICD-9), prescriptions, people, coverage, codes
(names), and truth.json, from which "trajgpt oracle" computes the true probabilities.
All rates are invented. A person depends on the seed and their number, not on the population size
or the number of threads.`;

const options = {
	patients: fields.whole(1, fields.mostPeople).describe("number of people to simulate"),
	out: fields.option("folder", "folder to write the records to", z.string()),
	format: fields.option("format", "file format of the tables", z.enum(formats).default("csv")),
	seed: fields.seed.default(0).describe("seed of the population"),
	threads: fields.threadsField,
	force: fields.flag("replace an existing simulation"),
	json: fields.flag("print one JSON document"),
};

type Options = fields.Values<typeof options>;

export const command = defineCommand({
	name: "simulate",
	description,
	options,
	examples: {
		"trajgpt simulate --patients 2000 --out sim": "two thousand people",
		"trajgpt simulate --patients 1000000 --format parquet --out large":
			"a million people, as Parquet",
		"trajgpt prepare sim --from csv --out data": "turn them into a dataset",
		"trajgpt oracle next sim --patient p000060 --at 2012-06-01":
			"the true next-code distribution of one person",
	},
	run: act,
});

/** Average bytes on disk per simulated person. Parquet is made from CSV, table by table. */
const bytesPerPerson = { csv: 5000, parquet: 5500 };

/** Refuses a population that cannot fit on the disk, with half the estimate as a margin of error. */
async function checkDisk(out: string, bytes: number): Promise<void> {
	let folder = resolve(out);
	while (!existsSync(folder)) folder = dirname(folder);
	const { bavail, bsize } = await statfs(folder);
	if (bytes / 2 <= bavail * bsize) return;
	const gigabytes = (size: number) => `${(size / 1e9).toFixed(1)} GB`;
	throw new InputError(
		`--patients needs about ${gigabytes(bytes)} on the disk, and ${gigabytes(bavail * bsize)} are free at ${folder}; lower --patients, or choose a folder on another disk`,
	);
}

async function act(io: Io, options: Options): Promise<void> {
	const { patients, out, format, force: replace = false, json } = options;
	await checkFolderTarget(out, replace, truthFile, simulationFileNames);
	await checkDisk(out, patients * bytesPerPerson[format]);
	const written = await simulate(out, { ...options, replace, progress: progressOf(io) });
	if (json) printJson(io, written);
	else
		io.stdout.write(
			`${out}: ${patients} people, ${written.records} diagnoses, ${written.prescriptions} prescriptions\n`,
		);
}

interface SimulateOptions
	extends Pick<Options, "patients" | "seed">,
		fields.Optional<Options, "format" | "threads"> {
	/** Whether an existing simulation may be replaced; true by default. */
	readonly replace?: boolean;
	readonly progress?: Progress;
}

/** People for which another thread is worth its start. */
const leastPerThread = 1000;

/** Blocks per thread that are asked for or wait to be written. */
const blocksPerThread = 3;

/** Simulates a population with several threads, and writes it to a folder. The files do not depend on their number. */
export async function simulate(folder: string, options: SimulateOptions) {
	const { patients, seed, format = "csv", replace = true } = options;
	const { threads = availableParallelism(), progress = silentProgress } = options;
	const onProgress = (done: number) =>
		progress.update({ label: "simulating: person", done, total: patients });
	const settings = { patients, seed, format, replace, onProgress };
	const count = Math.min(threads, Math.ceil(patients / leastPerThread));
	const write = async () => {
		if (count === 1) return writeSimulation(folder, settings);
		const { call, end } = startThreads(new URL("./simulate-thread.js", import.meta.url), {
			count,
			workerData: null,
			work: "simulates people",
		});
		const blocks = {
			simulate: async (range: unknown) => (await call("simulate", [range])) as Block,
			ahead: blocksPerThread * count,
		};
		return writeSimulation(folder, { ...settings, blocks }).finally(end);
	};
	const written = await write();
	progress.finish();
	return written;
}
