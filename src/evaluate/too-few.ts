import type { Split } from "../data/cohort/index.js";

/** With fewer patients, intervals from a bootstrap are too narrow and the sign of a difference means little. */
const fewestPatients = 30;
/** As many must have the label, and as many must not. */
const fewestPerClass = 10;

const splitTitles: Readonly<Record<Split, string>> = {
	train: "training",
	valid: "validation",
	test: "test",
};

const counted = (count: number, split: Split) =>
	`${count} ${splitTitles[split]} ${count === 1 ? "patient" : "patients"}`;

/** Why an evaluation allows no conclusion; undefined if it rests on enough patients. */
export function tooFewText(evaluated: {
	readonly split: Split;
	readonly patients: number;
	/** Labels that are true, and all labels, of a task that has them. */
	readonly labels?: { readonly positive: number; readonly all: number } | undefined;
}): string | undefined {
	const { split, patients, labels } = evaluated;
	if (patients < fewestPatients) return `${counted(patients, split)}: no conclusion`;
	if (!labels) return undefined;
	const rarer = Math.min(labels.positive, labels.all - labels.positive);
	if (rarer >= fewestPerClass) return undefined;
	const which = rarer === labels.positive ? "positive" : "negative";
	return `${rarer} ${which} ${rarer === 1 ? "label" : "labels"} of ${counted(patients, split)}: no conclusion`;
}
