import type { TimeAxis } from "../../base/time.js";
import type { Token } from "../../cohort/vocabulary.js";
import { momentJson } from "../../infer/asking/index.js";
import { answersAt, likeliest } from "../../infer/index.js";
import type { Events, Predictor, State } from "../../models/index.js";
import type { ForecastResponse } from "../api/schemas.js";
import { listPieces } from "../http/json-pieces.js";

/** What is asked of a history at any times, or of a state at times after its last event. */
export interface ForecastQuestion {
	readonly of: { readonly history: Events } | { readonly state: State };
	readonly times: readonly number[];
	/** The times as they were asked for. */
	readonly at: readonly (string | number)[];
	/** Codes per time. */
	readonly top: number;
	readonly birth: number | null;
	readonly axis: TimeAxis;
}

/**
 * Answers forecasts with the JSON that is sent, in pieces. It is written where the model computes: ranking
 * and writing take as long as a small model, and the thread that receives requests must stay free.
 */
export function forecastWriter(predictor: Predictor, tokens: readonly Token[]) {
	/** Of each token that has come up, everything before its probability. */
	const beginnings: string[] = [];
	const beginningOf = (token: number) => {
		const { code, system, name, category } = tokens[token] as Token;
		const words = JSON.stringify({ code, system, name, category });
		return `${words.slice(0, -1)},"probability":`;
	};
	return async ({ of, times, at, top, birth, axis }: ForecastQuestion): Promise<Uint8Array[]> => {
		const { places, ...answers } =
			"history" in of
				? await answersAt(predictor, [of.history], [times])
				: { ...(await predictor.ask(of.state, [times])), places: undefined };
		return listPieces(
			times.map((time, question) => {
				const codes = likeliest(answers, { top, question }).map(({ token, probability }) => {
					beginnings[token] ??= beginningOf(token);
					return `${beginnings[token]}${probability}}`;
				});
				const answer: Omit<ForecastResponse["answers"][number], "top"> = {
					at: at[question] as string | number,
					...momentJson(time, birth, axis),
					place: places?.[0]?.[question] ?? "after",
				};
				return `${JSON.stringify(answer).slice(0, -1)},"top":[${codes.join(",")}]}`;
			}),
		);
	};
}
