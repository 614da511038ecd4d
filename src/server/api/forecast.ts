import type { z } from "zod";
import { answersAt } from "../../infer/index.js";
import type { Predictor } from "../../models/index.js";
import { checkAnswerSize } from "./answer-size.js";
import { askedTimes, readOf } from "./asked-times.js";
import { likeliestCodes } from "./likeliest.js";
import { askedPatient } from "./patient.js";
import { type ForecastResponse, type forecastRequest, mostForecast } from "./schemas.js";
import type { Served } from "./served.js";
import { when } from "./when.js";

export async function forecast(
	{ patient: given, at, top }: z.infer<typeof forecastRequest>,
	served: Served,
	predictor: Predictor,
): Promise<ForecastResponse> {
	const asked = askedPatient(given, served);
	const { patient, axis } = asked;
	checkAnswerSize({ name: "top", count: top }, at.length, mostForecast);
	const times = askedTimes(at, asked, "at");
	const answers = await answersAt(predictor, [patient.history], [times]);
	return {
		...readOf(asked, times, served),
		answers: times.map((time, question) => ({
			at: at[question] as string | number,
			...when(time, patient.birth, axis),
			place: answers.places[0]?.[question] ?? "after",
			top: likeliestCodes(answers, question, top, served.vocabulary),
		})),
	};
}
