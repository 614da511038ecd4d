import type { TimeAxis } from "../../../base/time.js";
import type { Token } from "../../../data/cohort/vocabulary.js";
import type { Events, Predictor, State } from "../../../model/index.js";
import { likeliest, predictAt } from "../../../predict/index.js";
import { momentJson } from "../../../predict/user-input/index.js";
import type { ForecastResponse } from "../api/responses.js";
import { listPieces } from "../http/json-pieces.js";

/** Queries a history at any times, or a state at times after its last event. */
export interface ForecastQuery {
	readonly of: { readonly history: Events } | { readonly state: State };
	readonly times: readonly number[];
	/** The times as the request gives them. */
	readonly at: readonly (string | number)[];
	/** Codes per time. */
	readonly top: number;
	readonly birth: number | null;
	readonly axis: TimeAxis;
}

/**
 * Forecasts as the JSON of the response, in pieces. It is written where the model computes: ranking codes and
 * writing take as long as a small model, and the thread that receives requests must stay free.
 */
export function forecastWriter(predictor: Predictor, tokens: readonly Token[]) {
	/** By token: the JSON of a code up to its probability. */
	const codeJson: string[] = [];
	const writeCode = (token: number) => {
		const { code, system, name, category } = tokens[token] as Token;
		const json = JSON.stringify({ code, system, name, category });
		return `${json.slice(0, -1)},"probability":`;
	};
	return async ({ of, times, at, top, birth, axis }: ForecastQuery): Promise<Uint8Array[]> => {
		const { places, ...predictions } =
			"history" in of
				? await predictAt(predictor, [of.history], [times])
				: { ...(await predictor.query(of.state, [times])), places: undefined };
		return listPieces(
			times.map((time, query) => {
				const codes = likeliest(predictions, { top, query }).map(({ token, probability }) => {
					codeJson[token] ??= writeCode(token);
					return `${codeJson[token]}${probability}}`;
				});
				const forecast: Omit<ForecastResponse["answers"][number], "top"> = {
					at: at[query] as string | number,
					...momentJson(time, birth, axis),
					place: places?.[0]?.[query] ?? "after",
				};
				return `${JSON.stringify(forecast).slice(0, -1)},"top":[${codes.join(",")}]}`;
			}),
		);
	};
}
