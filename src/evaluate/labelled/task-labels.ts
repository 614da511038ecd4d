import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import { builtInMap } from "../../data/codes/index.js";
import { incidencesByAgeAndSex, onsetSums, smoothRates } from "../../data/cohort/age-sex-rates.js";
import { usualLookBack } from "../../data/cohort/at-risk.js";
import type { Dataset, Label, Split } from "../../data/cohort/index.js";
import {
	insulinDays,
	labelsOfTask,
	type Mark,
	marksOf,
	taskOfLabels,
} from "../../data/cohort/label-rules.js";
import { specialCount, type Token, type Vocabulary } from "../../data/cohort/vocabulary.js";
import { companionChances, rates } from "../../data/simulate/hazards.js";
import { insulinLogOdds } from "../../data/simulate/prescriptions.js";
import { simulateLife } from "../../data/simulate/simulate-life.js";
import { State } from "../../data/simulate/state.js";
import { positionOf, size } from "../../data/simulate/tables.js";
import type { Runtime } from "../../engine/runtime/index.js";
import type { CodeConfig } from "../../model/heads.js";
import type { LabelQuery, Trained } from "../../model/train/index.js";
import { codeRisk, logOddsOf } from "../../predict/index.js";
import { spanText } from "../../predict/user-input/index.js";
import { onsetHorizonDays, onsetLabels } from "../onset/onset-labels.js";
import type { EvaluateOptions } from "../options.js";
import { findSimulationTruth, type SimulationTruth } from "../simulation-truth.js";
import { viewsOf } from "./label-set.js";

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

/** Days: the horizon of tasks that ask about a year. */
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
	const mark = task === "chf-paper" ? "heart-failure" : onsetTasks[task]?.mark;
	if (mark) {
		const marked = markedTokens(vocabulary, mark);
		const horizonDays = task === "chf-paper" ? oneYear : onsetHorizonDays;
		return marked.length > 0 ? withCategory(marked, codesText(marked), horizonDays) : undefined;
	}
	if (task !== "insulin") return undefined;
	const insulin = markedTokens(vocabulary, "insulin");
	if (insulin.length > 0)
		return {
			risk: insulin,
			horizonDays: insulinDays,
			sameDay: true,
			prototype: [insulin],
			codesAre: "expected",
			words: `insulin: ${codesText(insulin)}`,
		};
	const diabetes = markedTokens(vocabulary, "diabetes");
	if (diabetes.length === 0) return undefined;
	const further = where((token) =>
		phecodesOf(token).some((phecode) => complications.includes(phecode)),
	);
	return {
		risk: [],
		horizonDays: insulinDays,
		prototype: [further.length > 0 ? further : diabetes],
		codesAre: "had",
		words: `who has had what diabetes leads to: ${codesText(further)}`,
	};
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

/**
 * Labels with the log-odds of the model's own risk of the task, from which fine-tuning starts. Unchanged if the model
 * has learned no hazards, or the task is about no code.
 */
export async function withRisks(
	runtime: Runtime,
	trained: Trained,
	dataset: Dataset,
	task: string,
	labels: readonly Label[],
): Promise<readonly LabelQuery[]> {
	const codes = taskCodes(task, dataset.vocabulary, undefined);
	const { hazards } = trained.config as CodeConfig;
	if (!hazards || trained.model.pretraining === "none" || !codes?.risk.length) return labels;
	const risks = await taskRisks(runtime, trained, dataset, labels, codes);
	return labels.map((label, index) => ({ ...label, risk: logOddsOf(risks[index]) }));
}

/** The true probabilities of a task in the simulated population. */
interface LabelOracle {
	/** What the probabilities are of, in words. */
	readonly of: string;
	/** Whether they are probabilities of the label itself. */
	readonly calibrated: boolean;
	chances(
		dataset: Dataset,
		labels: readonly Label[],
		truth: SimulationTruth,
	): Promise<Float64Array>;
}

/** Sampled futures per patient. */
const futures = 64;

/** Applies `chance` to each simulated history up to the label's day, with or without that day. */
async function overStates(
	dataset: Dataset,
	labels: readonly Label[],
	truth: SimulationTruth,
	upTo: "before" | "with the day",
	chance: (
		state: State,
		day: number,
		patient: ReturnType<SimulationTruth["patient"]>,
		index: number,
	) => number,
): Promise<Float64Array> {
	const chances = new Float64Array(labels.length);
	for (const [index, label] of labels.entries()) {
		const day = Math.round(label.time);
		const patient = truth.patient(await dataset.read(label.patient));
		const { birth, sex, coverage, events } = patient.history;
		const follower = truth.oracle.follow({ birth, sex, ...(coverage && { coverage }) });
		for (const event of events)
			if (upTo === "before" ? event.day < day : event.day <= day)
				follower.observe(event.day, event.code);
		const state = new State();
		state.copy(follower.state());
		chances[index] = chance(state, day, patient, index);
	}
	return chances;
}

/** Exact probability that heart failure is coded at a visit on the day, whatever its reason. */
const chf: LabelOracle = {
	of: "428 being coded at the visit",
	calibrated: false,
	chances(dataset, labels, truth) {
		const failure = positionOf("428");
		const byReason = new Float64Array(size);
		const beside = new Float64Array(size);
		return overStates(dataset, labels, truth, "before", (state, day) => {
			state.enter(day);
			const total = rates(state, day, byReason);
			let sum = 0;
			for (let reason = 0; reason < size; reason++) {
				if (byReason[reason] === 0) continue;
				companionChances(state, day, reason, beside);
				sum += byReason[reason] * (reason === failure ? 1 : beside[failure]);
			}
			return sum / total;
		});
	},
};

/**
 * The probability that insulin is started: exact for the visit itself, by sampled futures for later visits
 * within the period. Steroids, which matter a little, are not recorded and are assumed absent.
 */
const insulin: LabelOracle = {
	of: "insulin within the time, steroids unknown",
	calibrated: true,
	chances(dataset, labels, truth) {
		const diabetes = positionOf("250");
		const start = new State();
		return overStates(dataset, labels, truth, "with the day", (state, day, { history }, index) => {
			const lastRecord = new Map<number, number>();
			for (const event of history.events)
				if (event.day <= day) lastRecord.set(positionOf(event.code), event.day);
			const none = (visit: number, earlier: number, records: ReadonlyMap<number, number>) => {
				const odds = insulinLogOdds({
					day: visit,
					birth: history.birth,
					earlier,
					firstDay: day,
					lastRecord: (code) => records.get(code) ?? Number.NEGATIVE_INFINITY,
					lastSteroid: Number.NEGATIVE_INFINITY,
				});
				return 1 / (1 + Math.exp(odds));
			};
			start.copy(state);
			let later = 0;
			for (let sample = 0; sample < futures; sample++) {
				state.copy(start);
				state.enter(day + 1);
				const records = new Map(lastRecord);
				let [without, earlier] = [1, 1];
				const stream = random(index).fork("insulin").fork(sample);
				simulateLife(state, stream, day + 1, day + insulinDays + 1, (visit, codes, length) => {
					for (let i = 0; i < length; i++) records.set(codes[i], visit);
					for (let i = 0; i < length; i++)
						if (codes[i] === diabetes) without *= none(visit, earlier++, records);
				});
				later += without / futures;
			}
			return 1 - none(day, 0, lastRecord) * later;
		});
	},
};

export const labelOracles: Readonly<Record<string, LabelOracle>> = { "chf-paper": chf, insulin };

/** The reference model's cumulative incidence of a task's codes after each label. */
export async function onsetOracle(
	dataset: Dataset,
	labels: readonly Label[],
	{ risk, horizonDays }: TaskCodes,
	options: EvaluateOptions,
	notes: string[],
): Promise<Float64Array | undefined> {
	const { futures, seed } = options;
	const truth = await findSimulationTruth(dataset, options, notes, "incidence");
	if (!truth) return undefined;
	const chances = new Float64Array(labels.length);
	for (const [index, { patient, time }] of labels.entries()) {
		const history = await dataset.read(patient);
		const sampled = { futures, seed };
		const { tokens } = truth.incidence(history, Math.floor(time), [horizonDays], sampled);
		chances[index] = 1 - risk.reduce((left, token) => left * (1 - (tokens[token] ?? 0)), 1);
	}
	notes.push(
		`reference model: the simulator's own probability, averaged over ${futures} sampled futures per patient`,
	);
	return chances;
}
