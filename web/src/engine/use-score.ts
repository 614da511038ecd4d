import { useMemo } from "react";
import { knownOn } from "../../../src/predict/known-history.js";
import type { Calls } from "../../../src/predict/library/calls.js";
import type { History } from "../data/patient.js";
import { type Answer, useWhenIdle } from "./use-when-idle.js";

export interface ScoreRequest {
	readonly history: History;
	/** The unedited history; null if nothing is edited. */
	readonly original: History | null;
	readonly date: number;
}

/** The probability of the label that the model was fine-tuned to. */
interface Score {
	readonly probability: number;
	/** Before the edits; null if nothing is edited. */
	readonly before: number | null;
}

/** The score of a request, or of an earlier one while it is computed. */
export function useScore(
	calls: Calls | null,
	request: ScoreRequest | null,
): Answer<ScoreRequest, Score> | null {
	const compute = useMemo(
		() =>
			calls &&
			(async ({ history, original, date }: ScoreRequest): Promise<Score> => {
				const histories = [history, ...(original ? [original] : [])];
				const [probability = Number.NaN, before = null] = await calls.scoreTask(
					histories.map((own) => knownOn(own, date)),
				);
				return { probability, before };
			}),
		[calls],
	);
	return useWhenIdle(request, compute);
}
