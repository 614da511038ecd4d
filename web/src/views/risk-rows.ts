import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { usualYears } from "../../../src/predict/user-input/moments.js";
import { afterYears, type CodeRisk } from "../engine/risks.js";
import type { Rows } from "../parts/copy.js";
import type { PictureFacts } from "../parts/picture-facts.js";
import { timeCells, timeNames } from "../parts/time-columns.js";
import { codeName } from "./code-name.js";

/** A risk as it is shown: with the one before the edits, and the true one. */
export interface ShownRisk {
	readonly risk: CodeRisk;
	readonly before: CodeRisk | undefined;
	readonly truth: readonly number[] | null;
}

/** The risks as a table to save. Cells that do not apply are empty. */
export function riskRows(
	shown: readonly ShownRisk[],
	date: number,
	{ run, population }: PictureFacts,
	vocabulary: Vocabulary,
	clock: Clock,
): Rows {
	const columns = (name: string) => usualYears.map((years) => `${name}_${years}y`);
	return [
		[
			...timeNames(clock),
			...["code", "name", "recorded"],
			...["risk", "before_edits", "same_age_and_sex", "true_risk"].flatMap(columns),
			...["population", "run"],
		],
		...shown.map(({ risk, before, truth }) => {
			const isFirst = risk.recordedAt === null;
			const numbers = (own: readonly number[] | null | undefined) =>
				usualYears.map((years) => (isFirst && own ? afterYears(own, years) : null) ?? "");
			return [
				...timeCells(clock, date),
				...[vocabulary.tokens[risk.token]?.code ?? "", codeName(vocabulary, risk.token)],
				isFirst ? "no" : "yes",
				...numbers(risk.curve),
				...numbers(before?.recordedAt === null ? before.curve : null),
				...numbers(risk.sameAgeAndSex),
				...numbers(truth),
				...[population ?? "", run ?? ""],
			];
		}),
	];
}
