import { useMemo } from "react";
import type { Clock } from "../../../src/evaluate/charts/clock.js";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Scoring } from "../../../src/model/train/finetune/classifier.js";
import { knownOn, outsideReason } from "../../../src/predict/histories.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { History } from "../data/patient.js";
import { idleMilliseconds, stateOf, useAnswer } from "../engine/answers.js";
import { Notice } from "../parts/notice.js";
import { Panel } from "../parts/panel.js";
import { momentText } from "../parts/words.js";

interface LabelPanelProps {
	readonly scoring: Scoring;
	readonly request: LabelRequest;
	readonly calls: Calls | null;
	readonly clock: Clock;
}

interface LabelRequest {
	readonly history: History;
	/** The unedited history; null if nothing is edited. */
	readonly original: History | null;
	readonly date: number;
}

/** The probability of the label that the model was fine-tuned to. */
export function LabelPanel({ scoring, request, calls, clock }: LabelPanelProps) {
	const { task, definition, source, prevalence } = scoring;
	const compute = useMemo(
		() =>
			calls &&
			(async ({ history, original, date }: LabelRequest) => {
				const histories = [history, ...(original ? [original] : [])];
				const [probability = Number.NaN, before = null] = await calls.scoreTask(
					histories.map((one) => knownOn(one, date)),
				);
				return { probability, before };
			}),
		[calls],
	);
	const answer = useAnswer(request, compute, idleMilliseconds);
	const { result } = answer.latest ?? {};
	const { history, date } = answer.latest?.request ?? request;
	const outside = result && outsideReason(scoring, knownOn(history, date));
	return (
		<Panel
			title={`Label: ${task}`}
			subtitle={`probability of ${definition}, from the records up to ${momentText(clock, date)}`}
			className="label-panel"
			state={stateOf(answer)}
			{...(result && {
				rows: () => [
					["task", "probability"],
					[task, result.probability],
				],
			})}
		>
			{answer.failure !== null ? (
				<p>The probability could not be computed: {answer.failure}</p>
			) : !result ? (
				<Notice kind="loading" title="Computing…" />
			) : (
				<>
					<p data-probability={result.probability}>
						<strong>{percent(result.probability)}</strong>
						{result.before !== null && <span className="quiet"> was {percent(result.before)}</span>}
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
