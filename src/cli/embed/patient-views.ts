import { InputError } from "../../base/errors.js";
import type { Dataset, Split } from "../../cohort/index.js";
import { representations, type ViewedHistory } from "../../infer/index.js";
import type { Runtime } from "../../runtime/index.js";
import type { Trained } from "../../train/index.js";

/** A history as it was when someone asked about it. */
export interface PatientView extends ViewedHistory {
	readonly id: string;
	/** When it is looked at, in time units. */
	readonly at: number;
	/** Events that are seen, the birth event not counted. */
	readonly events: number;
	/** The answer of the task; null where no task was named. */
	readonly value: boolean | null;
}

/** The patients of a split: whole histories or, with a task, those with a label, cut where it is asked. */
export async function patientViews(
	dataset: Dataset,
	split: Split,
	task?: string,
): Promise<PatientView[]> {
	const patients = [...dataset.patients(split)];
	if (patients.length === 0)
		throw new InputError(`${dataset.folder} has no patients in its ${split} split`);
	const views: PatientView[] = [];
	const add = async (patient: number, label?: { events: number; time: number; value: boolean }) => {
		const { id, tokens, times, birthEvents } = await dataset.read(patient);
		const end = label ? birthEvents + label.events : tokens.length;
		views.push({
			id,
			tokens: tokens.subarray(0, end),
			times: times.subarray(0, end),
			at: label?.time ?? (times.at(-1) as number),
			events: end - birthEvents,
			value: label?.value ?? null,
		});
	};
	if (task === undefined) for (const patient of patients) await add(patient);
	else {
		const own = new Set(patients);
		for (const label of await dataset.labels(task))
			if (own.has(label.patient)) await add(label.patient, label);
		if (views.length === 0)
			throw new InputError(
				`no patient of the ${split} split of ${dataset.folder} has a label for "${task}"; choose another --split or --task`,
			);
	}
	return views;
}

/** The vectors of views, [views, dim]. */
export async function viewVectors(
	runtime: Runtime,
	trained: Trained,
	views: readonly PatientView[],
): Promise<{ readonly vectors: Float32Array; readonly dim: number }> {
	const vectors = await representations(runtime, trained, views);
	return { vectors, dim: vectors.length / views.length };
}
