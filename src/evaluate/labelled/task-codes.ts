import { InputError } from "../../base/errors.js";
import { builtInMap, type IcdSystem } from "../../codes/index.js";
import { marksOf } from "../../cohort/label-rules.js";
import { specialCount, type Token, type Vocabulary } from "../../cohort/vocabulary.js";

/** The tokens that describe a task without labels. */
export interface TaskCodes {
	/** The tokens whose risk is the zero-shot score: the probability of a record within `horizonDays`. */
	readonly risk: readonly number[];
	readonly horizonDays: number;
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

/** The horizon of the insulin label; other tasks ask about a year. */
const insulinDays = 183;
const yearDays = 365;

/**
 * The codes of a task: future heart failure and its category for chf; for insulin, future insulin or else past
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
	const marked = (mark: string) =>
		where((token) =>
			marksOf({ ...token, system: token.system ?? "" }, phecodesOf(token)).some((m) => m === mark),
		);
	const named = (own: readonly number[]) => own.map((at) => vocabulary.tokens[at]?.code).join(", ");
	const withCategory = (own: readonly number[], name: string): TaskCodes => {
		const category = vocabulary.tokens[own[0] as number]?.category;
		const like = where((token) => category != null && token.category === category);
		return {
			risk: own,
			horizonDays: yearDays,
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
	if (task === "chf") {
		const own = marked("heart-failure");
		return own.length > 0 ? withCategory(own, named(own)) : undefined;
	}
	if (task === "insulin") {
		const insulin = marked("insulin");
		if (insulin.length > 0)
			return {
				risk: insulin,
				horizonDays: insulinDays,
				prototype: [insulin],
				codesAre: "expected",
				words: `insulin: ${named(insulin)}`,
			};
		const diabetes = marked("diabetes");
		const further = where((token) => phecodesOf(token).some((own) => complications.includes(own)));
		if (diabetes.length === 0) return undefined;
		return {
			risk: diabetes,
			horizonDays: insulinDays,
			prototype: [further.length > 0 ? further : diabetes],
			codesAre: "had",
			words: `who has had what diabetes leads to: ${named(further)}; risk of another record of ${named(diabetes)}`,
		};
	}
	return undefined;
}

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
