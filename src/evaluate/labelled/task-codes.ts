import { InputError } from "../../base/errors.js";
import { builtInMap, type IcdSystem } from "../../data/codes/index.js";
import { type Mark, marksOf } from "../../data/cohort/label-rules.js";
import { specialCount, type Token, type Vocabulary } from "../../data/cohort/vocabulary.js";
import { onsetHorizonDays } from "../onset/onset-labels.js";

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
	const tokens = vocabulary.tokens.flatMap((token, at) =>
		at < specialCount ? [] : [{ token, at }],
	);
	const where = (holds: (token: Token) => boolean) =>
		tokens.filter(({ token }) => holds(token)).map(({ at }) => at);
	const marked = (mark: Mark) => markedTokens(vocabulary, mark);
	const named = (own: readonly number[]) => own.map((at) => vocabulary.tokens[at]?.code).join(", ");
	const withCategory = (own: readonly number[], name: string): TaskCodes => {
		const category = vocabulary.tokens[own[0] as number]?.category;
		const like = where((token) => category != null && token.category === category);
		return {
			risk: own,
			horizonDays: oneYear,
			prototype: like.length > 0 ? [own, like] : [own],
			codesAre: "expected",
			words: `${name} and its category`,
		};
	};
	if (code !== undefined) {
		const own = where((token) => token.code === code);
		if (own.length === 0)
			throw new InputError(
				`code "${code}" is not in the vocabulary of the run; \`trajgpt describe\` lists its codes`,
			);
		return withCategory(own, code);
	}
	const marks: Readonly<Record<string, Mark>> = {
		...{ chf: "heart-failure", "chf-paper": "heart-failure", diabetes: "diabetes" },
	};
	if (marks[task]) {
		const own = marked(marks[task]);
		const horizonDays = task === "chf-paper" ? oneYear : onsetHorizonDays;
		return own.length > 0 ? { ...withCategory(own, named(own)), horizonDays } : undefined;
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
				words: `insulin: ${named(insulin)}`,
			};
		const diabetes = marked("diabetes");
		const further = where((token) => phecodesOf(token).some((own) => complications.includes(own)));
		if (diabetes.length === 0) return undefined;
		return {
			risk: [],
			horizonDays: insulinDays,
			prototype: [further.length > 0 ? further : diabetes],
			codesAre: "had",
			words: `who has had what diabetes leads to: ${named(further)}`,
		};
	}
	return undefined;
}

/** The tokens of a kind of record. */
export const markedTokens = (vocabulary: Vocabulary, mark: Mark): number[] =>
	vocabulary.tokens.flatMap((token, at) =>
		at >= specialCount &&
		marksOf({ ...token, system: token.system ?? "" }, phecodesOf(token)).includes(mark)
			? [at]
			: [],
	);

/** The integer-level PheCodes of a token. */
function phecodesOf({ system, code }: Token): readonly string[] {
	const own =
		system === "PheCode"
			? [code]
			: system === "ICD9CM" || system === "ICD10CM"
				? builtInMap().phecodesOf(system satisfies IcdSystem, code)
				: [];
	return own.map((phecode) => phecode.replace(/\..*/, ""));
}
