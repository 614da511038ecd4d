import { InputError } from "../../base/errors.js";
import { type ComputeOptions, threadsOf, withRuntime } from "../../engine/runtime/open-runtime.js";
import type { FineTunedTask, Trained } from "../../model/train/index.js";
import { taskScorer } from "../represent.js";
import { labelScores, outsideWarnings } from "../score.js";
import { type Moment, nothingRecorded, warningsFor } from "../user-input/index.js";
import { type QueriedPatients, queriesAt } from "./open.js";

/** The task that a model was fine-tuned to; refuses a run. */
export function fineTunedTask({ task, folder }: Trained): FineTunedTask {
	if (task) return task;
	throw new InputError(
		`${folder} was not fine-tuned to a task; give the folder that \`trajgpt finetune\` wrote, such as ${folder}/tasks/insulin`,
	);
}

/** The probability of the label that a model was fine-tuned to, on given days: their records are known. */
export async function score(
	trained: Trained,
	queried: QueriedPatients,
	at: readonly Moment[],
	{ communicator, provider, precision, ...options }: ComputeOptions = {},
) {
	const task = fineTunedTask(trained);
	const { scoring } = task;
	const { patients } = queried;
	const { times, queries } = queriesAt(queried, at);
	const { threads = threadsOf(trained, communicator) } = options;
	const compute = { threads, provider, precision, communicator };
	const scores = await withRuntime(compute, "inference", async (runtime) => {
		const scorer = taskScorer(runtime, trained, task);
		const histories = patients.map(({ history }) => history);
		return await labelScores(scorer.probabilities, scoring, histories, times).finally(() =>
			scorer.dispose(),
		);
	});
	const scored = patients.map((patient, i) => ({ patient, scores: scores[i] ?? [] }));
	const outside = scored.flatMap(({ patient: { id }, scores }) =>
		scores.flatMap(({ outside: reason }) => (reason === undefined ? [] : [{ id, reason }])),
	);
	return {
		scoring,
		patients: scored,
		warnings: [
			...warningsFor(queried, queries, trained.manifest, nothingRecorded),
			...outsideWarnings(outside, queries.length),
		],
	};
}
