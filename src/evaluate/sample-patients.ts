import { InputError } from "../base/errors.js";
import { random } from "../base/random.js";
import { thousands } from "../base/thousands.js";
import { type Dataset, type Split, withPatients } from "../data/cohort/index.js";
import { labelsOfTask } from "../data/cohort/label-rules.js";
import { labelsOf } from "../model/train/index.js";
import type { Sample } from "./evaluation.js";
import { isOnsetTask, labelledTasks } from "./labelled/task-labels.js";

/** Patients of a larger split are drawn at random, unless a number is given. */
export const mostEvaluated = 20_000;

/** How many patients to evaluate: the first n, all, or by default at most `most`, drawn at random. */
interface SampleOptions {
	readonly split: Split;
	readonly patients?: number | "all" | undefined;
	readonly most?: number;
}

/** Rejects a number of patients below 1, or not whole. */
export function checkPatientCount(patients: SampleOptions["patients"]): void {
	if (patients === undefined || patients === "all") return;
	if (Number.isInteger(patients) && patients >= 1) return;
	throw new InputError(
		`\`patients\` ${JSON.stringify(patients)}: expected a whole number of at least 1, or "all"`,
		{ field: "patients", value: patients },
	);
}

/** The dataset with the patients on whom a task is evaluated, and which part of all they are. */
export async function evaluatedPatients(
	task: string,
	dataset: Dataset,
	{ split, patients, most = mostEvaluated }: SampleOptions,
): Promise<{ readonly people: Dataset; readonly sample?: Sample }> {
	const all = dataset.patients(split);
	if (patients === "all" || all.length <= (patients ?? most)) return { people: dataset };
	if (patients !== undefined)
		return {
			people: withPatients(dataset, split, all.subarray(0, patients)),
			sample: { patients, of: all.length, how: "first" },
		};
	const counted = await patientsWithLabels(task, dataset, split);
	if (counted.length <= most) return { people: dataset };
	// The same patients in every evaluation of the dataset, so that runs can be compared.
	const drawn = random(0)
		.fork("evaluated patients")
		.shuffle([...counted]);
	return {
		people: withPatients(dataset, split, Int32Array.from(drawn.slice(0, most)).sort()),
		sample: { patients: most, of: counted.length, how: "random" },
	};
}

/** Few patients may have one of the labels of a dataset; other tasks ask about everybody. */
async function patientsWithLabels(task: string, dataset: Dataset, split: Split) {
	if (!labelledTasks(dataset).includes(task) || isOnsetTask(dataset, task))
		return dataset.patients(split);
	const labels = labelsOf(dataset, await dataset.labels(labelsOfTask(task)), split);
	return Int32Array.from(new Set(labels.map(({ patient }) => patient)));
}

/** States which patients were evaluated, and how to evaluate all. */
export const sampleText = ({ patients, of, how }: Sample): string =>
	how === "random"
		? `sample: ${thousands(patients)} of ${thousands(of)} patients, drawn at random, the same in every evaluation of this dataset; \`patients: "all"\` evaluates all`
		: `sample: the first ${thousands(patients)} of ${thousands(of)} patients in the order of their ids as text; \`patients: "all"\` evaluates all`;

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
