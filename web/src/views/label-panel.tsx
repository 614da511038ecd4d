import { useMemo } from "react";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Scoring } from "../../../src/model/train/finetune/classifier.js";
import { knownOn, outsideReason } from "../../../src/predict/known-history.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { History } from "../data/patient.js";
import { useScore } from "../engine/use-score.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { momentText } from "../parts/words.js";

interface LabelPanelProps {
	readonly scoring: Scoring;
	/** Null until there are predictions. */
	readonly shown: { readonly date: number; readonly history: History } | null;
	/** The unedited history; null if nothing is edited. */
	readonly original: History | null;
	readonly calls: Calls | null;
	readonly clock: Clock;
}

/** The probability of the label that the model was fine-tuned to. */
export function LabelPanel({ scoring, shown, original, calls, clock }: LabelPanelProps) {
	const { task, definition, source, prevalence } = scoring;
	const request = useMemo(
		() => shown && { history: shown.history, original, date: shown.date },
		[shown, original],
	);
	const answer = useScore(calls, request);
	const found = answer && "probability" in answer.outcome ? answer.outcome : null;
	const date = answer?.request.date ?? shown?.date ?? 0;
	const outside =
		answer && outsideReason(scoring, knownOn(answer.request.history, answer.request.date));
	const isCurrent = answer !== null && answer.request === request;
	return (
		<Panel
			title={`Label: ${task}`}
			subtitle={`probability of ${definition}, from the records up to ${momentText(clock, date)}`}
			className="label-panel"
			state={isCurrent || !found ? "current" : "updating"}
			{...(found && {
				rows: () => [
					["task", "probability"],
					[task, found.probability],
				],
			})}
		>
			{answer && "failed" in answer.outcome ? (
				<p>The probability could not be computed: {answer.outcome.failed}</p>
			) : !found ? (
				<Notice kind="loading" title="Computing…" />
			) : (
				<>
					<p data-probability={found.probability}>
						<strong>{percent(found.probability)}</strong>
						{found.before !== null && <span className="quiet"> was {percent(found.before)}</span>}
						<span className="quiet">
							; {percent(prevalence)} of the training labels are positive
							{source !== undefined && `; defined by: ${source}`}
						</span>
					</p>
					{outside && <p>The patient is {outside}. The probability does not apply.</p>}
				</>
			)}
		</Panel>
	);
}
