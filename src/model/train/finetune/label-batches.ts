import {
	fillBatch,
	type PlannedBatch,
	planBatches,
	type SplitBatches,
} from "../../../data/cohort/batches.js";
import type { BatchOptions, Dataset, History, Label, Split } from "../../../data/cohort/index.js";
import type { LabelledHistory } from "../../objectives/label.js";

/** A label, with the log-odds of the model's own risk if the head reads them. */
export interface LabelQuery extends Label {
	readonly risk?: number | undefined;
}

/**
 * The events known at a label, and the query as one more event: its time is that of the label, its
 * token the value, 1 or 0. A slot holds the token before it, so the model
 * sees that time and never the value; and no special token is ever a target.
 */
export function withLabelQuery(
	history: History,
	{ events, time, value, weight = 1, risk = 0 }: LabelQuery,
): LabelledHistory {
	const seen = history.birthEvents + events;
	const tokens = new Int32Array(seen + 1);
	const times = new Float64Array(seen + 1);
	tokens.set(history.tokens.subarray(0, seen));
	times.set(history.times.subarray(0, seen));
	tokens[seen] = Number(value);
	times[seen] = time;
	return { ...history, tokens, times, weight, risk };
}

/** The labels of a split's patients, in order. */
export function labelsOf(dataset: Dataset, labels: readonly Label[], split: Split): Label[] {
	const patients = new Set(dataset.patients(split));
	return labels.filter(({ patient }) => patients.has(patient));
}

/** Batches with one label per row; `sequences` of a batch are indices of labels. */
export function labelBatches(
	dataset: Dataset,
	labels: readonly LabelQuery[],
	options: BatchOptions,
): SplitBatches {
	const plan = planBatches(
		labels.map(({ patient, events }) => dataset.birthEventsOf(patient) + events + 1),
		labels.map(({ patient }) => dataset.birthEventsOf(patient)),
		options,
	);
	let current = { epoch: Number.NaN, batches: [] as readonly PlannedBatch[] };
	return {
		plan,
		read(epoch, i) {
			if (current.epoch !== epoch) current = { epoch, batches: plan.epoch(epoch) };
			return fillBatch(plan, current.batches[i] as PlannedBatch, async (at) => {
				const label = labels[at] as LabelQuery;
				return withLabelQuery(await dataset.read(label.patient), label);
			});
		},
	};
}
