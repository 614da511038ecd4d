import type { State } from "../../../model/index.js";
import type { ParsedPatient } from "../../../predict/library/patient.js";
import type { Engine } from "../engine/engine.js";
import { JsonList } from "../http/json-pieces.js";
import { Refusal } from "../http/refusal.js";
import { readRequestPatient } from "./patient.js";
import { historySummary, queryTimes } from "./query-times.js";
import { type ForecastRequest, mostForecast, type SessionForecastRequest } from "./requests.js";
import { checkResponseSize } from "./response-size.js";
import type { ServedModel } from "./served-model.js";

/** Responds with forecasts from the history of the request. */
export const forecast = (
	{ patient, ...request }: ForecastRequest,
	served: ServedModel,
	model: Pick<Engine, "forecast">,
) => forecastFrom(undefined, request, readRequestPatient(patient, served), served, model);

/** The fields of a `ForecastResponse`, with the answers as JSON: from the history, or from a session's state. */
export async function forecastFrom(
	state: State | undefined,
	{ at, top }: SessionForecastRequest,
	parsed: ParsedPatient,
	served: ServedModel,
	model: Pick<Engine, "forecast">,
) {
	const { patient, axis } = parsed;
	checkResponseSize({ name: "top", count: top }, at.length, mostForecast);
	const times = queryTimes(at, parsed, "at");
	const early = state ? times.findIndex((time) => time < (state.times[0] as number)) : -1;
	if (early >= 0)
		throw new Refusal(
			422,
			`at.${early} lies before the session's last event, and a session predicts only later times; use POST forecast with the whole history`,
			{ field: `at.${early}` },
		);
	const of = state ? { state } : { history: patient.history };
	const forecasts = await model.forecast({ of, times, at, top, birth: patient.birth, axis });
	return { ...historySummary(parsed, times, served), answers: new JsonList(forecasts) };
}
