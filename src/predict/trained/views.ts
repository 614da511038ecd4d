import { InputError } from "../../base/errors.js";
import type { Dataset, History, Split } from "../../data/cohort/index.js";
import type { ViewedHistory } from "../histories.js";

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
