import { InputError } from "../../base/errors.js";
import { dayMicroseconds } from "../../base/time.js";
import type { Dataset } from "../cohort/index.js";
import { labelsOfTask } from "../cohort/label-rules.js";
import type { Extracted, Labels } from "./extract.js";

const momentOf = (day: number) => Math.round(day * dayMicroseconds);

/**
 * The labels that a dataset has for a task. A label says how many events a model may see; its prediction time is the
 * label's own, or, where further events lie before that, just before the first of them.
 */
export async function storedLabels(dataset: Dataset, task: string): Promise<Extracted> {
	const stored = [...(await dataset.labels(task))].sort((a, b) => a.patient - b.patient);
	if (dataset.manifest.source.axis !== "dates")
		throw new InputError(
			`labels in MEDS need dates, and ${dataset.folder} has days alone; its labels are in labels.parquet`,
		);
	const labels: Labels = { subjects: [], times: [], values: [] };
	let shared = 0;
	for (const { patient, time, events, value } of stored) {
		const { times, birthEvents } = await dataset.read(patient);
		const last = momentOf(times[birthEvents + events - 1] as number);
		const next = times[birthEvents + events];
		const unseen = next === undefined ? Number.POSITIVE_INFINITY : momentOf(next);
		if (unseen <= last) shared++;
		labels.subjects.push(dataset.idOf(patient));
		labels.times.push(Math.max(last, Math.min(momentOf(time), unseen - 1)));
		labels.values.push(value);
	}
	const { excluded = {} } =
		dataset.manifest.labels.find((known) => known.task === labelsOfTask(task)) ?? {};
	return {
		labels,
		subjects: new Set(labels.subjects).size,
		triggers: stored.length,
		excluded: Object.entries(excluded).map(([reason, count]) => ({ at: "prepare", reason, count })),
		notes:
			shared > 0
				? [
						`${shared} labels let a model see some events of a time and not others; in MEDS it sees all events of that time`,
					]
				: [],
	};
}
