import type { State } from "../../../model/index.js";
import type { ParsedPatient } from "../../../predict/library/patient.js";
import { readTimes } from "../../../predict/user-input/index.js";
import type { Engine } from "../engine/engine.js";
import { JsonList, joinPieces, jsonPieces } from "../http/json-pieces.js";
import { Refusal } from "../http/refusal.js";
import {
	historySummary,
	ofPatient,
	readRequestPatient,
	readRequestPatients,
	refused,
} from "./patient.js";
import {
	type ForecastBatchRequest,
	type ForecastRequest,
	mostForecast,
	type SessionForecastRequest,
} from "./requests.js";
import { checkResponseSize } from "./response-size.js";
import { populationOf, type ServedModel } from "./served-model.js";

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
	const times = refused(() => readTimes(at, parsed, "at"));
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

/** Forecasts that one request computes at a time, so that it does not fill the queue of calls. */
const together = 8;

/** Forecasts for several patients, in their order. */
export async function forecastBatch(
	{ patients, ...request }: ForecastBatchRequest,
	served: ServedModel,
	model: Pick<Engine, "forecast">,
) {
	const values = { name: "top", count: request.top } as const;
	checkResponseSize(values, request.at.length, mostForecast, patients.length);
	const parsed = readRequestPatients(patients, served);
	const results: Uint8Array[][] = [];
	for (let first = 0; first < parsed.length; first += together)
		results.push(
			...(await Promise.all(
				parsed.slice(first, first + together).map((patient, i) =>
					ofPatient(first + i, async () => {
						const answer = await forecastFrom(undefined, request, patient, served, model);
						const { simulated: _, population: __, ...result } = answer;
						return jsonPieces(result, Number.POSITIVE_INFINITY);
					}),
				),
			)),
		);
	return { ...populationOf(served), results: new JsonList(joinPieces(results)) };
}
