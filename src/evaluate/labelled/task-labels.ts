import { InputError } from "../../base/errors.js";
import { builtInMap, type IcdSystem } from "../../data/codes/index.js";
import type { Dataset, Label, Split } from "../../data/cohort/index.js";
import { labelsOfTask, type Mark, marksOf, taskOfLabels } from "../../data/cohort/label-rules.js";
import { specialCount, type Token, type Vocabulary } from "../../data/cohort/vocabulary.js";
import { spanText } from "../../predict/user-input/index.js";
import { onsetHorizonDays, onsetLabels } from "../onset/onset-labels.js";

/** Tasks of a first record within a time after an index day, which need no labels in the dataset. */
const onsetTasks: Readonly<Record<string, { readonly mark: Mark; readonly what: string }>> = {
	chf: { mark: "heart-failure", what: "heart failure (PheCode 428)" },
	diabetes: { mark: "diabetes", what: "diabetes (PheCode 250)" },
};

/** What an onset task is about. */
export const onsetTask = (task: string) => onsetTasks[task];

/** Whether a task is about onset after an index day in this dataset; its own labels come first. */
export const isOnsetTask = ({ manifest, vocabulary }: Dataset, task: string): boolean =>
	Object.hasOwn(onsetTasks, task) &&
	!manifest.labels.some((label) => taskOfLabels(label.task) === task) &&
	markedTokens(vocabulary, onsetTasks[task].mark).length > 0;

/** The yes-or-no tasks of a dataset. */
export const labelledTasks = (dataset: Dataset): string[] => [
	...Object.keys(onsetTasks).filter((task) => isOnsetTask(dataset, task)),
	...dataset.manifest.labels.map(({ task }) => taskOfLabels(task)),
];

interface TaskLabels {
	/** Of all splits. */
	readonly labels: readonly Label[];
	/** How to read them, for a split. */
	notes(split: Split): string[];
}

/** The labels of a yes-or-no task. */
export async function taskLabels(dataset: Dataset, task: string): Promise<TaskLabels> {
	if (isOnsetTask(dataset, task)) {
		const { mark, what } = onsetTasks[task];
		const { labels, censored } = await onsetLabels(dataset, markedTokens(dataset.vocabulary, mark));
		return {
			labels,
			notes: (split) => [
				`${task}: first record of ${what} within ${spanText(onsetHorizonDays)} of an index day, one random day in the middle 30 to 70 % of each patient's observed time, after 365 days of observation; patients who have it by then are left out`,
				`${censored[split]} patients whose observation ends before count through the weights of the others (inverse probability of censoring); death without it is a no`,
			],
		};
	}
	if (taskOfLabels(task) !== task)
		throw new InputError(
			`${dataset.folder} has no task "${task}": no token of its vocabulary is ${onsetTasks[task]?.what}; it has ${labelledTasks(dataset).join(", ") || "none"}`,
			{ field: "task", value: task },
		);
	return {
		labels: await dataset.labels(labelsOfTask(task)),
		notes: () => notesOf[task] ?? [],
	};
}

const notesOf: Readonly<Record<string, string[]>> = {
	"chf-paper": [
		"chf-paper is the paper's construction: cases are asked before the day of their first record of 428, all others before their last day. The day depends on the outcome, so this is not a prediction that can be made: see --task chf",
	],
	insulin: [
		"insulin: prescribed within 183 days of the first diabetes record, the same day included; patients with a shorter record and no insulin are left out",
	],
};

/** The tokens that describe a task without labels. */
export interface TaskCodes {
	/** The tokens whose risk is the zero-shot score: the probability of a record within `horizonDays`. May be none. */
	readonly risk: readonly number[];
	readonly horizonDays: number;
	/** Whether a further record on the day of the label counts too. */
	readonly sameDay?: true;
	/** Groups of tokens; the prototype is the mean of their directions. */
	readonly prototype: readonly (readonly number[])[];
	/** Whether the codes are expected in the future of a positive patient, or were had in the past. */
	readonly codesAre: "expected" | "had";
	/** In words, for the notes. */
	readonly words: string;
}

/**
 * Complications of diabetes: kidneys, retina, nerves, vessels and skin of the feet. All patients of the task have
 * diabetes, so diabetes itself does not distinguish them.
 */
const complications = ["585", "580", "362", "356", "357", "443", "707"];

/** Days: the horizon of the insulin label, and that of tasks that ask about a year. */
const insulinDays = 183;
const oneYear = 365;

/**
 * The codes of a task: future heart failure or diabetes and its category for chf and diabetes; for insulin, future insulin or else past
 * complications of diabetes; for other tasks the given code and its category.
 */
export function taskCodes(
	task: string,
	vocabulary: Vocabulary,
	code: string | undefined,
): TaskCodes | undefined {
	const tokens = vocabulary.tokens.flatMap((token, index) =>
		index < specialCount ? [] : [{ token, at: index }],
	);
	const where = (holds: (token: Token) => boolean) =>
		tokens.filter(({ token }) => holds(token)).map(({ at: token }) => token);
	const marked = (mark: Mark) => markedTokens(vocabulary, mark);
	const codesText = (tokens: readonly number[]) =>
		tokens.map((token) => vocabulary.tokens[token]?.code).join(", ");
	const withCategory = (risk: readonly number[], name: string): TaskCodes => {
		const category = vocabulary.tokens[risk[0]]?.category;
		const like = where((token) => category != null && token.category === category);
		return {
			risk: risk,
			horizonDays: oneYear,
			prototype: like.length > 0 ? [risk, like] : [risk],
			codesAre: "expected",
			words: `${name} and its category`,
		};
	};
	if (code !== undefined) {
		const matches = where((token) => token.code === code);
		if (matches.length === 0)
			throw new InputError(
				`code "${code}" is not in the vocabulary of the run; \`trajgpt describe\` lists its codes`,
			);
		return withCategory(matches, code);
	}
	const marks: Readonly<Record<string, Mark>> = {
		chf: "heart-failure",
		"chf-paper": "heart-failure",
		diabetes: "diabetes",
	};
	if (marks[task]) {
		const markedCodes = marked(marks[task]);
		const horizonDays = task === "chf-paper" ? oneYear : onsetHorizonDays;
		return markedCodes.length > 0
			? { ...withCategory(markedCodes, codesText(markedCodes)), horizonDays }
			: undefined;
	}
	if (task === "insulin") {
		const insulin = marked("insulin");
		if (insulin.length > 0)
			return {
				risk: insulin,
				horizonDays: insulinDays,
				sameDay: true,
				prototype: [insulin],
				codesAre: "expected",
				words: `insulin: ${codesText(insulin)}`,
			};
		const diabetes = marked("diabetes");
		const further = where((token) =>
			phecodesOf(token).some((phecode) => complications.includes(phecode)),
		);
		if (diabetes.length === 0) return undefined;
		return {
			risk: [],
			horizonDays: insulinDays,
			prototype: [further.length > 0 ? further : diabetes],
			codesAre: "had",
			words: `who has had what diabetes leads to: ${codesText(further)}`,
		};
	}
	return undefined;
}

/** The tokens of a kind of record. */
export const markedTokens = (vocabulary: Vocabulary, mark: Mark): number[] =>
	vocabulary.tokens.flatMap((token, index) =>
		index >= specialCount &&
		marksOf({ ...token, system: token.system ?? "" }, phecodesOf(token)).includes(mark)
			? [index]
			: [],
	);

/** The integer-level PheCodes of a token. */
function phecodesOf({ system, code }: Token): readonly string[] {
	const phecodes =
		system === "PheCode"
			? [code]
			: system === "ICD9CM" || system === "ICD10CM"
				? builtInMap().phecodesOf(system satisfies IcdSystem, code)
				: [];
	return phecodes.map((phecode) => phecode.replace(/\..*/, ""));
}
