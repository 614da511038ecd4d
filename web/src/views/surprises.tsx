import { surprises } from "../../../src/evaluate/report/findings.js";
import type { EvaluationSummary } from "../data/contract.js";

interface SurprisesProps {
	readonly evaluation: EvaluationSummary;
	/** The measures that the reader sees. */
	readonly metrics: readonly string[];
}

/** Explains, beside the numbers, those that look like mistakes. */
export function Surprises({ evaluation, metrics }: SurprisesProps) {
	const said = surprises(evaluation, metrics);
	if (said.length === 0) return null;
	return (
		<ul className="surprises">
			{said.map((sentence) => (
				<li key={sentence}>{sentence}</li>
			))}
		</ul>
	);
}
