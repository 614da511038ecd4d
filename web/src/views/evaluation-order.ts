import type { EvaluationSummary } from "../data/contract.js";

const order = ["next", "forecast", "insulin", "chf"];

/** In the order of the report; other tasks follow. */
export const inOrder = (evaluations: readonly EvaluationSummary[]): EvaluationSummary[] =>
	evaluations.toSorted(
		(a, b) => ((order.indexOf(a.task) + 9) % 9) - ((order.indexOf(b.task) + 9) % 9),
	);
