import { readdir } from "node:fs/promises";
import { type Evaluation, readEvaluation } from "../evaluate/index.js";
import { runFiles } from "../train/index.js";

/** The evaluations of a run; one that cannot be read is an error. */
export async function evaluationsOf(run: string): Promise<Evaluation[]> {
	const names = await readdir(runFiles(run).evaluations).catch(() => []);
	const tasks = names.filter((name) => name.endsWith(".json")).sort();
	const found: Evaluation[] = [];
	for (const name of tasks) {
		const evaluation = await readEvaluation(run, name.slice(0, -".json".length));
		if (evaluation) found.push(evaluation);
	}
	return found;
}
