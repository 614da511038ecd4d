import { InputError } from "../../base/errors.js";
import { builtInMap } from "../../data/codes/index.js";
import { incidencesByAgeAndSex, onsetSums, smoothRates } from "../../data/cohort/age-sex-rates.js";
import { usualLookBack } from "../../data/cohort/at-risk.js";
import type { Dataset, Label, Split } from "../../data/cohort/index.js";
import * as labelRules from "../../data/cohort/label-rules.js";
import { specialCount, type Token, type Vocabulary } from "../../data/cohort/vocabulary.js";
import { tokensOf } from "../../data/tasks/definition.js";
import type { Runtime } from "../../engine/runtime/index.js";
import { hazardSettings, usualGroups } from "../../model/hazards/settings.js";
import type { CodeConfig } from "../../model/heads.js";
import type { Scoring, Trained } from "../../model/train/index.js";
import type { LabelColumns } from "../../model/train/regressions/label-features.js";
import { codeRisk, logOddsOf } from "../../predict/index.js";
import { spanText } from "../../predict/user-input/moments.js";
import { onsetHorizonDays, onsetLabels } from "../onset/index-days.js";
import { viewsOf } from "./label-set.js";

interface BuiltInTask {
	/** The records that the task is about; of insulin, those that its patients have. */
	readonly mark: labelRules.Mark;
	readonly what: string;
	/** Whether a positive label is a first record after an index day, so that the dataset needs no labels. */
	readonly isOnset?: true;
	readonly definition: string;
	readonly horizonDays?: number;
	/** The horizon of the zero-shot risk. */
	readonly riskDays: number;
	/** Patients that the task is not about: who have the records, or who lack them. */
	readonly outside: "recorded" | "missing";
	readonly notes: readonly string[];
}

const onsetTask = (task: string, mark: labelRules.Mark, what: string): BuiltInTask => ({
	mark,
	what,
	isOnset: true,
	definition: `a first record of ${what} within ${spanText(onsetHorizonDays)}, in patients without one`,
	horizonDays: onsetHorizonDays,
	riskDays: onsetHorizonDays,
	outside: "recorded",
	notes: [
		`${task}: first record of ${what} within ${spanText(onsetHorizonDays)} of an index day, one random day in the middle 30 to 70 % of each patient's observed time, after 365 days of observation; patients who have it by then are left out`,
	],
});

const heartFailure = "heart failure (PheCode 428)";
const diabetes = "diabetes (PheCode 250)";

/** Days: the horizon of tasks that ask about a year. */
const oneYear = 365;

const builtInTasks: Readonly<Record<string, BuiltInTask>> = {
	chf: onsetTask("chf", "heart-failure", heartFailure),
	diabetes: onsetTask("diabetes", "diabetes", diabetes),
	"chf-paper": {
		mark: "heart-failure",
		what: heartFailure,
		definition: labelRules.labelRules.chf,
		riskDays: oneYear,
		outside: "recorded",
		notes: [
			"chf-paper is the paper's construction: cases are asked before the day of their first record of 428, all others before their last day. The day depends on the outcome, so this is not a prediction that can be made: see --task chf",
		],
	},
	insulin: {
		mark: "diabetes",
		what: diabetes,
		definition: `insulin within ${labelRules.insulinDays} days of the first record of diabetes (PheCode 250), predicted on the day of that record`,
		horizonDays: labelRules.insulinDays,
		riskDays: labelRules.insulinDays,
		outside: "missing",
		notes: [
			"insulin: prescribed within 183 days of the first diabetes record, the same day included; patients with a shorter record and no insulin are left out",
		],
	},
};

const builtInTask = (task: string): BuiltInTask | undefined =>
	Object.hasOwn(builtInTasks, task) ? builtInTasks[task] : undefined;

/** Whether a task is about onset after an index day in this dataset; its own labels come first. */
export function isOnsetTask({ manifest, vocabulary }: Dataset, task: string): boolean {
	const builtIn = builtInTask(task);
	return (
		builtIn?.isOnset === true &&
		!manifest.labels.some((label) => labelRules.taskOfLabels(label.task) === task) &&
		markedTokens(vocabulary, builtIn.mark).length > 0
	);
}

export const labelledTasks = (dataset: Dataset): string[] => [
	...Object.keys(builtInTasks).filter((task) => isOnsetTask(dataset, task)),
	...dataset.manifest.labels.map(({ task }) => labelRules.taskOfLabels(task)),
];

/** The labels of a yes-or-no task, of all splits, and notes on how to read those of a split. */
export async function taskLabels(
	dataset: Dataset,
	task: string,
): Promise<{ readonly labels: readonly Label[]; notes(split: Split): string[] }> {
	const builtIn = builtInTask(task);
	if (builtIn && isOnsetTask(dataset, task)) {
		const tokens = markedTokens(dataset.vocabulary, builtIn.mark);
		const { labels, censored } = await onsetLabels(dataset, tokens);
		return {
			labels,
			notes: (split) => [
				...builtIn.notes,
				`${censored[split]} patients whose observation ends before count through the weights of the others (inverse probability of censoring); death without it is a no`,
			],
		};
	}
	if (labelRules.taskOfLabels(task) !== task)
		throw new InputError(
			`${dataset.folder} has no task "${task}": no token of its vocabulary is ${builtIn?.what}; it has ${labelledTasks(dataset).join(", ") || "none"}`,
			{ field: "task", value: task },
		);
	return {
		labels: await dataset.labels(labelRules.labelsOfTask(task)),
		notes: () => (builtIn && !builtIn.isOnset ? [...builtIn.notes] : []),
	};
}

/** What a positive label of a task means, where that is defined, and which patients it is not about. */
export function taskDefinition(
	dataset: Dataset,
	task: string,
): Pick<Scoring, "definition" | "source" | "horizonDays" | "outside"> {
	const { vocabulary, manifest } = dataset;
	const builtIn = builtInTask(task);
	const isOnset = isOnsetTask(dataset, task);
	const definition = manifest.labels.find((label) => label.task === task)?.definition;
	if (definition && !isOnset) {
		const { what, without, ...others } = definition;
		const tokens = without ? tokensOf(vocabulary, without.codes) : [];
		const { withinDays } = without ?? {};
		return {
			definition: what,
			...others,
			...(tokens.length > 0 && {
				outside: {
					tokens: [...tokens],
					if: "recorded",
					what: tokenText(vocabulary, tokens),
					...(withinDays !== undefined && { withinDays }),
				},
			}),
		};
	}
	if (builtIn && (isOnset || !builtIn.isOnset)) {
		const { definition, horizonDays, outside, mark, what } = builtIn;
		const tokens = markedTokens(vocabulary, mark);
		return {
			definition,
			source: `built-in task ${task}`,
			...(horizonDays !== undefined && { horizonDays }),
			...(tokens.length > 0 && { outside: { tokens, if: outside, what } }),
		};
	}
	return {
		definition: `a positive label of task ${task}, as its labels define it`,
		source: `labels of the dataset: ${task}`,
	};
}

function tokenText({ tokens: all }: Vocabulary, tokens: readonly number[]): string {
	const names = tokens.slice(0, 3).map((token) => {
		const { name, code, system } = all[token];
		return `${name} (${system === null ? "" : `${system} `}${code})`;
	});
	const more = tokens.length - names.length;
	return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

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

/**
 * The codes of a task: future heart failure or diabetes and its category for chf and diabetes; for insulin, future insulin or else past
 * complications of diabetes; for other tasks the given code and its category.
 */
export function taskCodes(
	task: string,
	vocabulary: Vocabulary,
	code: string | undefined,
): TaskCodes | undefined {
	const { tokens } = vocabulary;
	const where = (holds: (token: Token) => boolean) =>
		[...tokens.keys()].filter((index) => index >= specialCount && holds(tokens[index]));
	const codesText = (indices: readonly number[]) =>
		indices.map((token) => tokens[token].code).join(", ");
	const withCategory = (risk: readonly number[], name: string, horizonDays: number): TaskCodes => {
		const { category } = tokens[risk[0]];
		const like = where((token) => category != null && token.category === category);
		return {
			risk,
			horizonDays,
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
		return withCategory(matches, code, oneYear);
	}
	const builtIn = builtInTask(task);
	if (!builtIn) return undefined;
	const marked = markedTokens(vocabulary, builtIn.mark);
	const { riskDays: horizonDays } = builtIn;
	if (task !== "insulin")
		return marked.length > 0 ? withCategory(marked, codesText(marked), horizonDays) : undefined;
	const insulin = markedTokens(vocabulary, "insulin");
	if (insulin.length > 0)
		return {
			risk: insulin,
			horizonDays,
			sameDay: true,
			prototype: [insulin],
			codesAre: "expected",
			words: `insulin: ${codesText(insulin)}`,
		};
	if (marked.length === 0) return undefined;
	const further = where((token) =>
		phecodesOf(token).some((phecode) => complications.includes(phecode)),
	);
	return {
		risk: [],
		horizonDays,
		prototype: [further.length > 0 ? further : marked],
		codesAre: "had",
		words: `who has had what diabetes leads to: ${codesText(further)}`,
	};
}

/** What regressions of a task's labels see: all codes and categories, and the records that are related to the task. */
export const labelColumns = (
	vocabulary: Vocabulary,
	codes: TaskCodes | undefined,
): LabelColumns => ({
	settings: hazardSettings.parse({ groups: usualGroups(vocabulary) }),
	vocab: vocabulary.size,
	related: [...new Set(codes?.prototype.flat())],
});

const markedTokens = (vocabulary: Vocabulary, mark: labelRules.Mark): number[] =>
	vocabulary.tokens.flatMap((token, index) =>
		index >= specialCount &&
		labelRules.marksOf({ ...token, system: token.system ?? "" }, phecodesOf(token)).includes(mark)
			? [index]
			: [],
	);

/** The integer-level PheCodes of a token. */
function phecodesOf({ system, code }: Token): readonly string[] {
	const isIcd = system === "ICD9CM" || system === "ICD10CM";
	const phecodes = isIcd
		? builtInMap().phecodesOf(system, code)
		: system === "PheCode"
			? [code]
			: [];
	return phecodes.map((phecode) => phecode.replace(/\..*/, ""));
}

/**
 * The cumulative incidence of a task's codes after the time of each label, from the records that it may see. Where the
 * rest of that day counts, so does the probability that a further record of it is one of the codes.
 */
export async function taskRisks(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	labels: readonly Label[],
	{ risk: tokens, horizonDays, sameDay }: Pick<TaskCodes, "risk" | "horizonDays" | "sameDay">,
): Promise<Float64Array> {
	const model = codeRisk(runtime, trained, { tokens, horizonDays, sameDay });
	const patients = labels.map(({ patient }) => patient);
	return model.at(await viewsOf(dataset, labels), patients).finally(() => model.dispose());
}

/** The same by age and sex alone, from rates of the training patients at home. */
export async function ageSexRisk(
	trainingDataset: Dataset,
	dataset: Dataset,
	labels: readonly Label[],
	{ risk, horizonDays }: Pick<TaskCodes, "risk" | "horizonDays">,
): Promise<Float64Array> {
	const patients = [];
	for (const { patient, time } of labels)
		patients.push({ history: await dataset.read(patient), day: Math.floor(time) });
	const counted = { horizonDays, lookBackDays: usualLookBack };
	const rates = smoothRates(await onsetSums(trainingDataset, "train", counted));
	return Float64Array.from(patients, ({ history, day }) =>
		incidencesByAgeAndSex(rates, history, day, risk, horizonDays).reduce(
			(any, incidence) => 1 - (1 - any) * (1 - incidence),
			0,
		),
	);
}

/** The log-odds of the model's own risk of a task; undefined if it has learned no hazards, or the task is about no code. */
export async function ownLogOdds(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	labels: readonly Label[],
	codes: TaskCodes | undefined,
): Promise<Float64Array | undefined> {
	const { hazards } = trained.config as CodeConfig;
	if (!hazards || !codes?.risk.length) return undefined;
	return (await taskRisks(runtime, trained, dataset, labels, codes)).map(logOddsOf);
}
