import type { ReactNode } from "react";
import type { Answer } from "../engine/answers.js";
import { Notice } from "../parts/notice.js";
import { Panel, type PanelProps } from "../parts/panel.js";

interface AnswerPanelProps<Request, Result> extends Omit<PanelProps, "state" | "children"> {
	readonly answer: Answer<Request, Result>;
	/** What it says if the request failed: `The risks could not be computed`. */
	readonly failure: string;
	/** Whether a failure is reported elsewhere as long as there is an earlier result. */
	readonly isReported?: boolean;
	readonly children: (result: Result) => ReactNode;
}

/** A panel of the latest result; until there is one, a notice. */
export function AnswerPanel<Request, Result>(props: AnswerPanelProps<Request, Result>) {
	const { answer, failure, isReported = false, children, ...panel } = props;
	const { latest, isCurrent } = answer;
	const state = isCurrent || !latest ? "current" : answer.failure === null ? "updating" : "failed";
	return (
		<Panel {...panel} state={state}>
			{answer.failure !== null && !(latest && isReported) && (
				<p>
					{failure}: {answer.failure}
				</p>
			)}
			{latest
				? children(latest.result)
				: answer.failure === null && <Notice kind="loading" title="Computing…" />}
		</Panel>
	);
}
