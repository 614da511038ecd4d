import type { z } from "zod";
import type { Engine } from "../engine/engine.js";
import { JsonList } from "../http/json-pieces.js";
import { readRequestPatient } from "./patient.js";
import { historySummary, queryTimes } from "./query-times.js";
import { checkResponseSize } from "./response-size.js";
import { type ForecastResponse, type forecastRequest, mostForecast } from "./schemas.js";
import type { ServedModel } from "./served-model.js";

/** A `ForecastResponse` whose answers are already JSON. */
export type SerializedForecast = Omit<ForecastResponse, "answers"> & { readonly answers: JsonList };

export async function forecast(
	{ patient: given, at, top }: z.infer<typeof forecastRequest>,
	served: ServedModel,
	model: Pick<Engine, "forecast">,
): Promise<SerializedForecast> {
	const parsed = readRequestPatient(given, served);
	const { patient, axis } = parsed;
	checkResponseSize({ name: "top", count: top }, at.length, mostForecast);
	const times = queryTimes(at, parsed, "at");
	const of = { history: patient.history };
	const forecasts = await model.forecast({ of, times, at, top, birth: patient.birth, axis });
	return { ...historySummary(parsed, times, served), answers: new JsonList(forecasts) };
}
