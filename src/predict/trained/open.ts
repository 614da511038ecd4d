import { realpathSync } from "node:fs";
import { InputError } from "../../base/errors.js";
import { thousands } from "../../base/thousands.js";
import type { TimeAxis } from "../../base/time.js";
import type { CodeMap } from "../../data/codes/index.js";
import type { Dataset, History, NewPatient, Split, UnknownCodes } from "../../data/cohort/index.js";
import { type ComputeOptions, threadsOf, withRuntime } from "../../engine/runtime/open-runtime.js";
import type { FineTunedTask, Trained } from "../../model/train/index.js";
import { type Calls, callsOf } from "../calls.js";
import type { ViewedHistory } from "../histories.js";
import { labelScores, outsideWarnings } from "../score.js";
import { type Moment, nothingRecorded, timesOf, warningsFor } from "../user-input/moments.js";

/** The patients to predict for, with notes on reading them. */
export interface QueriedPatients {
	readonly axis: TimeAxis;
	readonly patients: readonly NewPatient[];
	readonly unknown: UnknownCodes;
	readonly notes: readonly string[];
	/** The code map of the run's dataset, if available. */
	readonly map: CodeMap | undefined;
}

export function onlyOne(patients: readonly NewPatient[]): NewPatient {
	const [patient, second] = patients;
	if (patient && !second) return patient;
	throw new InputError(
		`the input has ${thousands(patients.length)} patients; name one with \`patient\`, such as ${patients
			.slice(0, 5)
			.map(({ id }) => id)
			.join(", ")}`,
		{ field: "patient" },
	);
}

/** The times of each patient, [patients][moments], and one query per patient and time. */
export function queriesAt({ patients, axis }: QueriedPatients, moments: readonly Moment[]) {
	const times = timesOf(moments, patients, axis, "`at`");
	const queries = patients.flatMap((patient, index) =>
		(times[index] ?? []).map((time) => ({ patient, time })),
	);
	return { times, queries };
}

/** Opens the calls of a model for some work, and closes them afterwards. */
export const withCalls = <T>(
	trained: Trained,
	{ communicator, threads = threadsOf(trained, communicator), provider, precision }: ComputeOptions,
	work: (calls: Calls) => Promise<T>,
): Promise<T> =>
	withRuntime({ threads, provider, precision, communicator }, "inference", async (runtime) => {
		const { calls, close } = callsOf(runtime, trained);
		return await work(calls).finally(close);
	});

/** Refuses a run that is named twice: it would count as two training seeds. */
export function checkDistinctRuns(runs: readonly Pick<Trained, "folder">[]): void {
	if (runs.length < 2) return;
	const seen = new Set<string>();
	for (const { folder } of runs) {
		const path = realpathSync(folder);
		if (seen.has(path)) throw new InputError(`${folder} is named twice; name runs that differ`);
		seen.add(path);
	}
}

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
	options: ComputeOptions = {},
) {
	const { scoring } = fineTunedTask(trained);
	const { patients } = queried;
	const { times, queries } = queriesAt(queried, at);
	const histories = patients.map(({ history }) => history);
	const scores = await withCalls(trained, options, ({ scoreTask }) =>
		labelScores(scoreTask, scoring, histories, times),
	);
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

export interface PatientView extends ViewedHistory {
	readonly id: string;
	/** The time of the representation, in days. */
	readonly at: number;
	readonly events: number;
	readonly sex: History["sex"];
	readonly value: boolean | null;
}

/** A whole history, up to its last event. */
export const wholeView = ({ id, sex, tokens, times, birthEvents }: History): PatientView => ({
	id,
	sex,
	tokens,
	times,
	value: null,
	at: times.at(-1) as number,
	events: tokens.length - birthEvents,
});

/** The histories of a split: whole, or with a task, those with a label up to its time. */
export async function patientViews(
	dataset: Dataset,
	split: Split,
	task?: string,
): Promise<PatientView[]> {
	const patients = [...dataset.patients(split)];
	if (patients.length === 0)
		throw new InputError(`${dataset.folder} has no patients in its ${split} split`);
	const views: PatientView[] = [];
	if (task === undefined)
		for (const patient of patients) views.push(wholeView(await dataset.read(patient)));
	else {
		const ofSplit = new Set(patients);
		for (const { patient, events, time: at, value } of await dataset.labels(task)) {
			if (!ofSplit.has(patient)) continue;
			const { id, sex, tokens, times, birthEvents } = await dataset.read(patient);
			const end = birthEvents + events;
			views.push({
				id,
				sex,
				at,
				events,
				value,
				tokens: tokens.subarray(0, end),
				times: times.subarray(0, end),
			});
		}
		if (views.length === 0)
			throw new InputError(
				`no patient of the ${split} split of ${dataset.folder} has a label for "${task}"; choose another \`split\` or \`task\``,
				{ field: "task", value: task },
			);
	}
	return views;
}
