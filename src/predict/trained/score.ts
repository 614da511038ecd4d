import { InputError } from "../../base/errors.js";
import type { NewPatient } from "../../data/cohort/index.js";
import { type ComputeOptions, openRuntime, threadsOf } from "../../engine/runtime/open-runtime.js";
import type { FineTunedTask, Scoring, Trained } from "../../model/train/index.js";
import { knownOn, outsideReason, taskScorer } from "../index.js";
import { labelScores, outsideWarnings, type ScoredPatient } from "../score.js";
import { type Moment, nothingRecorded, timesOf, warningsFor } from "../user-input/index.js";
import type { QueriedPatients } from "./open.js";

/** Scores, computed while they are read. */
export interface Scores {
	readonly scoring: Scoring;
	/** Caveats on the queries. */
	readonly warnings: readonly string[];
	/** In the order of the patients. */
	readonly patients: AsyncIterable<ScoredPatient>;
}

/** Patients per batch. */
const batchSize = 128;

/** The task that a model was fine-tuned to; refuses a run. */
export function fineTunedTask({ task, folder }: Trained): FineTunedTask {
	if (task) return task;
	throw new InputError(
		`${folder} was not fine-tuned to a task; give the folder that \`trajgpt finetune\` wrote, such as ${folder}/tasks/insulin`,
	);
}

/** The probability of the label that a model was fine-tuned to, on given days: their records are known. */
export function score(
	trained: Trained,
	queried: QueriedPatients,
	at: readonly Moment[],
	options: ComputeOptions = {},
): Scores {
	const task = fineTunedTask(trained);
	const { patients, axis } = queried;
	const times = timesOf(at, patients, axis, "`at`");
	const queries = patients.flatMap((patient, index) =>
		(times[index] ?? []).map((time) => ({ patient, time })),
	);
	const outside = queries.flatMap(({ patient, time }) => {
		const reason = outsideReason(task.scoring, knownOn(patient.history, time));
		return reason === undefined ? [] : [{ id: patient.id, reason }];
	});
	return {
		scoring: task.scoring,
		warnings: [
			...warningsFor(queried, queries, trained.manifest, nothingRecorded),
			...outsideWarnings(outside, queries.length),
		],
		patients: scored(trained, task, patients, times, options),
	};
}

async function* scored(
	trained: Trained,
	task: FineTunedTask,
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[], // [patients][queries]
	{ communicator, provider, precision, ...options }: ComputeOptions,
): AsyncGenerator<ScoredPatient> {
	const { threads = threadsOf(trained, communicator) } = options;
	const compute = { threads, provider, precision, communicator };
	const runtime = await openRuntime(compute, "inference");
	const scorer = taskScorer(runtime, trained, task);
	try {
		for (let first = 0; first < patients.length; first += batchSize) {
			const batch = patients.slice(first, first + batchSize);
			const scores = await labelScores(
				scorer.probabilities,
				task.scoring,
				batch.map(({ history }) => history),
				times.slice(first, first + batchSize),
			);
			for (const [i, patient] of batch.entries()) yield { patient, scores: scores[i] ?? [] };
		}
	} finally {
		await scorer.dispose();
		await runtime.dispose?.();
	}
}
