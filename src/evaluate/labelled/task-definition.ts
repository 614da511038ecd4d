import type { Dataset } from "../../data/cohort/index.js";
import { insulinDays, labelRules, type Mark } from "../../data/cohort/label-rules.js";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import { tokensOf } from "../../data/tasks/index.js";
import type { Scoring } from "../../model/train/index.js";
import { spanText } from "../../predict/user-input/index.js";
import { onsetHorizonDays } from "../onset/onset-labels.js";
import { markedTokens } from "./task-codes.js";
import { isOnsetTask, onsetTask } from "./task-labels.js";

/** The part of a scoring that says what is predicted, and for whom. */
type Definition = Pick<Scoring, "definition" | "source" | "horizonDays" | "outside">;

/** What a positive label of a task means, where that is defined, and which patients it is not about. */
export function taskDefinition(dataset: Dataset, task: string): Definition {
	const { vocabulary, manifest } = dataset;
	const source = `built-in task ${task}`;
	const outside = (when: "recorded" | "missing", mark: Mark, what: string) => {
		const tokens = markedTokens(vocabulary, mark);
		return tokens.length > 0 && { outside: { tokens, if: when, what } };
	};
	if (isOnsetTask(dataset, task)) {
		const { mark, what } = onsetTask(task);
		return {
			definition: `a first record of ${what} within ${spanText(onsetHorizonDays)}, in patients without one`,
			...{ source, horizonDays: onsetHorizonDays },
			...outside("recorded", mark, what),
		};
	}
	const given = manifest.labels.find((known) => known.task === task)?.definition;
	if (given) {
		const { what, without, ...others } = given;
		const tokens = without ? tokensOf(vocabulary, without.codes) : [];
		return {
			definition: what,
			...others,
			...(tokens.length > 0 && {
				outside: {
					...{ tokens, if: "recorded", what: tokenText(vocabulary, tokens) },
					...(without?.withinDays !== undefined && { withinDays: without.withinDays }),
				},
			}),
		};
	}
	if (task === "insulin")
		return {
			definition: `insulin within ${insulinDays} days of the first record of diabetes (PheCode 250), predicted on the day of that record`,
			...{ source, horizonDays: insulinDays },
			...outside("missing", "diabetes", "diabetes (PheCode 250)"),
		};
	if (task === "chf-paper")
		return {
			...{ definition: labelRules.chf, source },
			...outside("recorded", "heart-failure", "heart failure (PheCode 428)"),
		};
	return {
		definition: `a positive label of task ${task}, as its labels define it`,
		source: `labels of the dataset: ${task}`,
	};
}

/** The first tokens by name. */
function tokenText({ tokens: all }: Vocabulary, tokens: readonly number[]): string {
	const names = tokens.slice(0, 3).map((at) => {
		const { name, code, system } = all[at]!;
		return `${name} (${system === null ? "" : `${system} `}${code})`;
	});
	const more = tokens.length - names.length;
	return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
