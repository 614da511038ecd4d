import { resolve } from "node:path";
import { InputError } from "../../base/errors.js";
import { progress } from "../../base/progress.js";
import type { Dataset, Split } from "../../cohort/index.js";
import {
	type EvaluateOptions,
	type Evaluation,
	evaluateDefaults,
	evaluationFile,
	firstPatients,
	type Method,
	type OverRuns,
	openTask,
	overRuns,
	tasksOf,
	writeEvaluation,
} from "../../evaluate/index.js";
import { checkWritable } from "../../files/index.js";
import { openRunDataset, type Trained } from "../../train/index.js";
import type { Io } from "../io.js";
import { versions } from "../training.js";
import { evaluationText, overRunsText } from "./text.js";

/** The command's options. */
export interface AskedOptions {
	readonly task: string;
	readonly method: Method | "all";
	readonly split: Split;
	readonly lookup: number;
	readonly draws: number;
	readonly seed: number;
	readonly patients?: number;
	readonly dataset?: string;
	readonly oracle?: string;
	readonly futures: number;
	readonly shots?: number;
	readonly code?: string;
	readonly threads?: number;
	readonly json?: true;
}

interface NamedRun {
	readonly folder: string;
	readonly trained: Trained;
}

/** The dataset of all runs; another is refused by the first run it does not belong to. */
export async function commonDataset(runs: readonly NamedRun[], given?: string): Promise<Dataset> {
	const [first] = runs as [NamedRun];
	const twice = runs.find(({ folder }, at) =>
		runs.slice(0, at).some((other) => resolve(other.folder) === resolve(folder)),
	);
	if (twice) throw new InputError(`${twice.folder} is named twice; name runs that differ`);
	for (const { folder, trained } of runs)
		if (trained.run.dataset.contentHash !== first.trained.run.dataset.contentHash)
			throw new InputError(
				`${folder} was not trained on the dataset of ${first.folder}: ${trained.run.dataset.contentHash} → ${first.trained.run.dataset.contentHash}; evaluate them one by one`,
			);
	return openRunDataset(first.folder, first.trained.run, given);
}

interface TaskResult {
	readonly runs: readonly {
		readonly run: string;
		/** None where it could not be written. */
		readonly file?: string;
		readonly notWritten?: string;
		readonly evaluation: Evaluation;
	}[];
	readonly overRuns?: OverRuns;
}

/** Reasons why results could not be written, though they were measured. */
export const notWritten = (results: Readonly<Record<string, TaskResult>>): string[] =>
	Object.values(results).flatMap(({ runs }) => runs.flatMap((run) => run.notWritten ?? []));

/** Measures the runs on the tasks asked for, writes and prints what it finds. */
export async function measure(
	io: Io,
	runs: readonly NamedRun[],
	dataset: Dataset,
	options: AskedOptions,
): Promise<Record<string, TaskResult>> {
	const { nodeRuntime } = await import("../../runtime/node.js");
	const { task, split, seed, draws, lookup, futures, threads } = options;
	const { method, oracle, shots, code } = options;
	const runtime = nodeRuntime({ purpose: "inference", ...(threads && { threads }) });
	const clock = () => performance.now();
	const shown = progress(io.stderr, { clock });
	const asked: EvaluateOptions = {
		...evaluateDefaults,
		...{ split, seed, draws, lookup, futures, progress: shown },
		methods: method === "all" ? evaluateDefaults.methods : [method],
		...(oracle !== undefined && { oracle }),
		...(shots !== undefined && { shots }),
		...(code !== undefined && { code }),
	};
	const people =
		options.patients === undefined ? dataset : firstPatients(dataset, split, options.patients);
	const maker = { versions: await versions(), clock };
	let printed = 0;
	const print = (text: string) => {
		if (!options.json) io.stdout.write(printed++ === 0 ? text : `\n${text}`);
	};
	const measureTask = async (name: string): Promise<TaskResult> => {
		const evaluate = await openTask(name, people, asked, maker);
		for (const { folder } of runs) await checkWritable(evaluationFile(folder, name));
		const measured: TaskResult["runs"][number][] = [];
		for (const { folder, trained } of runs) {
			const evaluation = await evaluate(runtime, trained);
			const written = await writeEvaluation(folder, evaluation).then(
				(file) => ({ file }),
				(error: unknown) => {
					// What was measured is shown, whatever becomes of the file.
					if (!(error instanceof InputError)) throw error;
					return { notWritten: error.message };
				},
			);
			shown.finish();
			const end =
				"file" in written ? `written: ${written.file}` : `not written: ${written.notWritten}`;
			print(evaluationText(folder, end, evaluation));
			measured.push({ run: folder, ...written, evaluation });
		}
		if (runs.length === 1) return { runs: measured };
		const together = overRuns(measured.map(({ evaluation }) => evaluation));
		print(overRunsText(name, together));
		return { runs: measured, overRuns: together };
	};
	if (task !== "all") return { [task]: await measureTask(task) };
	const results: Record<string, TaskResult> = {};
	for (const name of tasksOf(dataset))
		try {
			results[name] = await measureTask(name);
		} catch (error) {
			// Too few patients for one task are no reason to go without the others.
			if (!(error instanceof InputError)) throw error;
			shown.finish();
			io.stderr.write(`${name} is not measured: ${error.message}\n`);
		}
	if (Object.keys(results).length === 0)
		throw new InputError("no task could be measured; see above");
	return results;
}
