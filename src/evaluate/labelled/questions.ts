import type { Dataset, History, Label, Split } from "../../cohort/index.js";
import type { ViewedHistory } from "../../infer/index.js";
import { labelsOf } from "../../train/index.js";
import type { Answered } from "./statistics.js";

/** The questions of a split: labels with the histories they are about. */
export interface Questions extends Answered {
	readonly labels: readonly Label[];
}

export function questionsOf(dataset: Dataset, all: readonly Label[], split: Split): Questions {
	const labels = labelsOf(dataset, all, split);
	const numbers = new Map<number, number>();
	for (const { patient } of labels) if (!numbers.has(patient)) numbers.set(patient, numbers.size);
	return {
		labels,
		answers: Uint8Array.from(labels, ({ value }) => Number(value)),
		patients: Int32Array.from(labels, ({ patient }) => numbers.get(patient)!),
		count: numbers.size,
	};
}

/** A history as far as its label lets it be seen, looked at when the question is asked. */
export async function viewOf(
	dataset: Dataset,
	label: Label,
): Promise<ViewedHistory & Pick<History, "tokens" | "times" | "birthEvents">> {
	const { tokens, times, birthEvents } = await dataset.read(label.patient);
	const seen = birthEvents + label.events;
	return {
		tokens: tokens.subarray(0, seen),
		times: times.subarray(0, seen),
		birthEvents,
		at: label.time,
	};
}

export const viewsOf = (dataset: Dataset, labels: readonly Label[]) =>
	Promise.all(labels.map((label) => viewOf(dataset, label)));
