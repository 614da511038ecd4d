import { basename } from "node:path";
import { dayMicroseconds } from "../../base/time.js";
import type { CodeTest, LabelDefinition } from "../cohort/label-definition.js";
import { specialCount, type Vocabulary } from "../cohort/vocabulary.js";
import type { CohortTask } from "./cohorts.js";
import { distance, type Moment, type Task } from "./definition.js";
import { medsCodeOf } from "./records.js";

/** What the labels of a task in the format of ACES mean; undefined if it has none. */
export function definitionOfTask(task: Task, source: string): LabelDefinition | undefined {
	const { label, index, description } = task;
	if (!label) return undefined;
	const ahead = index && distance(task, index.moment, label.window.end);
	const horizonDays =
		ahead && ahead.least === ahead.most && ahead.most > 0
			? ahead.most / dayMicroseconds
			: undefined;
	const without = withoutOf(task);
	return {
		what:
			firstSentence(description) ??
			`${label.predicate} in ${label.window.name} ${label.window.bounds}`,
		source,
		...(horizonDays !== undefined && { horizonDays }),
		...(without && { without }),
	};
}

/** The first sentence of a description, to stand within another sentence. */
function firstSentence(text: string | undefined): string | undefined {
	const [sentence] = (text ?? "").replace(/\s+/g, " ").split(/[.!?](?: |$)/);
	return sentence?.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()) || undefined;
}

/** The records of the label itself that a patient may not have before the prediction time, if the task says so. */
function withoutOf(task: Task): LabelDefinition["without"] {
	const { label, index, moments, windows } = task;
	const codes = label && codesOf(task, label.predicate);
	if (!index || !codes) return undefined;
	const window = windows.find(({ has, end }) => {
		const { least, most } = distance(task, end, index.moment);
		const endsThere = least === 0 && most === 0;
		return (
			endsThere && has.some(({ predicate, max }) => predicate === label.predicate && max === 0)
		);
	});
	if (!window) return undefined;
	const { from, step } = moments[window.start] as Moment;
	const days = from === window.end && "by" in step ? -step.by / dayMicroseconds : 0;
	return { codes: [...codes], ...(days > 0 && { withinDays: days }) };
}

/** The codes of a predicate; undefined if it asks for more than codes. */
function codesOf(
	{ predicates }: Pick<Task, "predicates">,
	name: string,
): readonly CodeTest[] | undefined {
	const predicate = predicates.get(name);
	if (predicate?.kind === "or") {
		const parts = predicate.of.map((part) => codesOf({ predicates }, part));
		return parts.every((part) => part !== undefined) ? parts.flat() : undefined;
	}
	if (predicate?.kind !== "plain") return undefined;
	const { code, min, max, columns, isStatic } = predicate;
	const isCodeAlone = !min && !max && !isStatic && Object.keys(columns).length === 0;
	return isCodeAlone ? [code] : undefined;
}

/** What the labels of OMOP cohorts mean. */
export const definitionOfCohorts = ({
	file,
	target,
	outcome,
	atRisk,
}: CohortTask): LabelDefinition => ({
	what: `cohort ${outcome} beginning ${atRisk[0]} to ${atRisk[1]} days after the start of cohort ${target}, in patients without it before`,
	source: `OMOP cohorts ${target} and ${outcome} of ${basename(file)}`,
	horizonDays: atRisk[1],
});

/** The tokens of codes; none if the vocabulary writes its codes in another way. */
export function tokensOf(vocabulary: Vocabulary, codes: readonly CodeTest[]): number[] {
	const tests = codes.map(testOf);
	return vocabulary.tokens.flatMap((token, at) =>
		at >= specialCount && tests.some((holds) => holds(medsCodeOf(token))) ? [at] : [],
	);
}

function testOf(test: CodeTest): (code: string) => boolean {
	if ("equals" in test) return (code) => code === test.equals;
	if ("any" in test) return (code) => test.any.includes(code);
	try {
		const [, ignoreCase, regex = ""] = /^(\(\?i\))?(.*)$/s.exec(test.regex) ?? [];
		const pattern = new RegExp(regex, ignoreCase ? "i" : "");
		return (code) => pattern.test(code);
	} catch {
		return () => false; // RE2 knows it, JavaScript does not
	}
}
