import { InputError } from "../../base/errors.js";
import { random } from "../../base/random.js";
import type { Dataset, DatasetSummary, History, Split } from "../../cohort/index.js";
import { specialCount, type Vocabulary } from "../../cohort/vocabulary.js";

/** A disease a story is about: all tokens that stand for it. */
export interface Target {
	readonly code: string;
	readonly name: string;
	readonly tokens: readonly number[];
}

/** A patient, and where the story is cut: what the model is shown, and where the target first comes. */
export interface Chosen {
	readonly history: History;
	readonly target: Target;
	/** Records shown, birth not counted. */
	readonly lookUp: number;
	/** The place of the target's first record among the tokens; undefined if it never comes. */
	readonly recordedAt: number | undefined;
}

const lookUpWindow = 50;
const fewestLater = 10;
/** Records after the window that are forecast. */
export const mostLater = 100;
/** Of PheCodes: diabetes and heart failure, the diseases of the labelled tasks. */
const usual = ["250", "428"];

/** The usual diseases where the vocabulary has them, else the most frequent code that few patients have. */
export function targetsOf(vocabulary: Vocabulary, { codes, all }: DatasetSummary): Target[] {
	const named = usual.flatMap((code) => targetOf(vocabulary, code, "PheCode") ?? []);
	if (named.length > 0) return named;
	const rare = codes.find(({ patients }) => patients > 0 && patients <= all.patients / 3);
	return rare ? [targetOf(vocabulary, rare.code, rare.system)].flatMap((found) => found ?? []) : [];
}

function targetOf(vocabulary: Vocabulary, code: string, system: string | null): Target | undefined {
	const tokens = [...vocabulary.tokens.keys()].slice(specialCount).filter((at) => {
		const token = vocabulary.tokens[at]!;
		return token.system === system && (token.code === code || token.code.startsWith(`${code}.`));
	});
	const [first] = tokens;
	return first === undefined
		? undefined
		: { code, name: vocabulary.tokens[first]!.name || code, tokens };
}

function cut(history: History, target: Target): Chosen {
	const records = history.tokens.length - history.birthEvents;
	const recorded = history.tokens.findIndex((token) => target.tokens.includes(token));
	const lookUp = records >= lookUpWindow + fewestLater ? lookUpWindow : Math.floor(records / 2);
	return { history, target, lookUp, recordedAt: recorded < 0 ? undefined : recorded };
}

/** For each target a patient who gets it after the look-up window, drawn with the seed; none twice. */
export async function chosenByRule(
	dataset: Dataset,
	split: Split,
	targets: readonly Target[],
	seed: number,
): Promise<Chosen[]> {
	const chosen: Chosen[] = [];
	const histories: History[] = [];
	for await (const history of dataset.histories(split)) histories.push(history);
	for (const target of targets) {
		const order = random(seed).fork("stories").fork(target.code).shuffle(histories);
		const found = order
			.filter(({ id }) => chosen.every(({ history }) => history.id !== id))
			.map((history) => cut(history, target))
			.find(({ history: { birthEvents }, lookUp, recordedAt = -1 }) => {
				const place = recordedAt - birthEvents - lookUp;
				return lookUp === lookUpWindow && place >= 0 && place < mostLater;
			});
		if (found) chosen.push(found);
	}
	return chosen;
}

/** Patients by their ids, each with the target that it gets; the first target if it gets none. */
export async function chosenByName(
	dataset: Dataset,
	ids: readonly string[],
	targets: readonly Target[],
): Promise<Chosen[]> {
	const wanted = new Set(ids);
	const found = new Map<string, History>();
	for (const split of ["train", "valid", "test"] as const)
		for await (const history of dataset.histories(split))
			if (wanted.has(history.id)) found.set(history.id, history);
	return ids.map((id) => {
		const history = found.get(id);
		if (!history)
			throw new InputError(
				`${dataset.folder} has no patient "${id}"; --patient takes ids as \`trajgpt embed --what patients\` lists them`,
			);
		if (targets.length === 0)
			throw new InputError("there is no code whose risk could be told: all are in most histories");
		const stories = targets.map((target) => cut(history, target));
		return stories.find(({ recordedAt }) => recordedAt !== undefined) ?? stories[0]!;
	});
}

export function ruleText(split: Split, targets: readonly Target[], seed: number): string {
	const names = targets.map(({ name }) => name).join("; ");
	return `Chosen by rule: of the ${split} patients with at least ${lookUpWindow + fewestLater} records, one drawn at random (seed ${seed}) among those in whom the disease is first recorded among the ${mostLater} after the first ${lookUpWindow}. Diseases: ${names}.`;
}
