import type { z } from "zod";
import type { Engine } from "../engine/engine.js";
import { JsonList } from "../http/json-pieces.js";
import { checkAnswerSize } from "./answer-size.js";
import { askedTimes, readOf } from "./asked-times.js";
import { askedPatient } from "./patient.js";
import { type ForecastResponse, type forecastRequest, mostForecast } from "./schemas.js";
import type { Served } from "./served.js";

/** A `ForecastResponse` whose answers are JSON already. */
export type WrittenForecast = Omit<ForecastResponse, "answers"> & { readonly answers: JsonList };

export async function forecast(
	{ patient: given, at, top }: z.infer<typeof forecastRequest>,
	served: Served,
	model: Pick<Engine, "forecast">,
): Promise<WrittenForecast> {
	const asked = askedPatient(given, served);
	const { patient, axis } = asked;
	checkAnswerSize({ name: "top", count: top }, at.length, mostForecast);
	const times = askedTimes(at, asked, "at");
	const of = { history: patient.history };
	const answers = await model.forecast({ of, times, at, top, birth: patient.birth, axis });
	return { ...readOf(asked, times, served), answers: new JsonList(answers) };
}
