import { InputError } from "../../base/errors.js";
import type { Dataset } from "../../data/cohort/index.js";
import { readingRules } from "../../data/cohort/reading/rules.js";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import type { Trained } from "../../model/train/index.js";

const keysOf = ({ tokens }: Vocabulary) => tokens.map(({ code, system }) => `${system} ${code}`);

/** Tokens are numbers: a dataset with another vocabulary would be misread. */
export const hasSameTokens = (
	{ vocabulary }: Pick<Trained, "vocabulary">,
	dataset: Dataset,
): boolean => keysOf(vocabulary).join("\n") === keysOf(dataset.vocabulary).join("\n");

/** Rejects a dataset whose events do not mean what those of the run mean: other codes, or other rules. */
export function checkSameMeaning(trained: Trained, dataset: Dataset): void {
	const { folder, manifest, vocabulary } = trained;
	const remedy = `prepare its records again with \`trajgpt prepare … --like ${folder}\``;
	if (!hasSameTokens(trained, dataset)) {
		const own = new Set(keysOf(vocabulary));
		const shared = keysOf(dataset.vocabulary).filter((key) => own.has(key)).length;
		throw new InputError(
			`${dataset.folder} has another vocabulary than ${folder}: ${dataset.vocabulary.size} tokens, ${shared} of them among the ${vocabulary.size} of the run${shared === vocabulary.size ? ", in another order" : ""}; ${remedy}`,
			{ field: "dataset", value: dataset.folder },
		);
	}
	const [rules, others] = [readingRules(manifest), readingRules(dataset.manifest)];
	const differ = (Object.keys(rules) as (keyof typeof rules)[]).find(
		(name) => name !== "axis" && rules[name] !== others[name],
	);
	if (differ)
		throw new InputError(
			`${dataset.folder} was prepared by other rules than ${folder}: ${differ} is ${others[differ]}, expected ${rules[differ]}; ${remedy}`,
			{ field: "dataset", value: dataset.folder },
		);
}
