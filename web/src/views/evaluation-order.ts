import type { EvaluationSummary } from "../data/contract.js";

const order = ["next", "forecast", "insulin", "chf"];

/** As the report has them; further tasks after them. */
export const inOrder = (evaluations: readonly EvaluationSummary[]): EvaluationSummary[] =>
	evaluations.toSorted(
		(a, b) => ((order.indexOf(a.task) + 9) % 9) - ((order.indexOf(b.task) + 9) % 9),
	);
