import { useMemo } from "react";
import { percent } from "../../../src/evaluate/charts/numbers.js";
import type { Scoring } from "../../../src/model/train/finetune/classifier.js";
import type { Calls } from "../../../src/predict/calls.js";
import { knownOn, outsideReason } from "../../../src/predict/histories.js";
import { idleMilliseconds, useAnswer } from "../engine/answers.js";
import type { RiskRequest } from "../engine/risks.js";
import { momentText } from "../parts/words.js";
import { usePatient } from "../state/patient-context.js";
import { AnswerPanel } from "./answer-panel.js";

interface LabelPanelProps {
	readonly scoring: Scoring;
	readonly request: RiskRequest;
	readonly calls: Calls | null;
}

/** The probability of the label that the model was fine-tuned to. */
export function LabelPanel({ scoring, request, calls }: LabelPanelProps) {
	const { clock } = usePatient();
	const { task, definition, source, prevalence } = scoring;
	const compute = useMemo(
		() =>
			calls &&
			(async ({ history, original, date }: RiskRequest) => {
				const histories = [history, ...(original ? [original] : [])];
				const [probability = Number.NaN, before = null] = await calls.scoreTask(
					histories.map((one) => knownOn(one, date)),
				);
				return { probability, before };
			}),
		[calls],
	);
	const answer = useAnswer(request, compute, idleMilliseconds);
	const result = answer.latest?.result;
	const { history, date } = answer.latest?.request ?? request;
	const outside = result && outsideReason(scoring, knownOn(history, date));
	return (
		<AnswerPanel
			title={`Label: ${task}`}
			subtitle={`probability of ${definition}, from the records up to ${momentText(clock, date)}`}
			className="label-panel"
			answer={answer}
			failure="The probability could not be computed"
			rows={result && (() => [{ task, probability: result.probability }])}
		>
			{({ probability, before }) => (
				<>
					<p data-probability={probability}>
						<strong>{percent(probability)}</strong>
						{before !== null && <span className="quiet"> was {percent(before)}</span>}
						<span className="quiet">
							; {percent(prevalence)} of the training labels are positive
							{source !== undefined && `; defined by: ${source}`}
						</span>
					</p>
					{outside && <p>The patient is {outside}. The probability does not apply.</p>}
				</>
			)}
		</AnswerPanel>
	);
}
