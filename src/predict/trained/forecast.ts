import { allGathered, oneProcess } from "../../base/communicator.js";
import type { NewPatient } from "../../data/cohort/index.js";
import { type ComputeOptions, threadsOf } from "../../engine/runtime/open-runtime.js";
import type { Trained } from "../../model/train/index.js";
import {
	answerForecasts,
	checkTimes,
	type ForecastMethod,
	type ForecastSettings,
	methodFor,
	type PatientForecast,
} from "../forecast/answer.js";
import { type Moment, timesOf, warningsFor } from "../user-input/index.js";
import { openPredictor, type QueriedPatients } from "./open.js";

export interface ForecastOptions extends ComputeOptions, Omit<ForecastSettings, "method"> {
	/** Default: the model's first method. */
	readonly method?: ForecastMethod | undefined;
}

/** Forecasts, computed while they are read. */
export interface Forecasts {
	readonly method: ForecastMethod;
	/** Caveats on the queries. */
	readonly warnings: readonly string[];
	/** One per patient, in their order. */
	readonly forecasts: AsyncIterable<PatientForecast>;
}

/** Predicts the codes of patients at given times. */
export function forecast(
	trained: Trained,
	queried: QueriedPatients,
	at: readonly Moment[],
	options: ForecastOptions,
): Forecasts {
	const { patients } = queried;
	const method = methodFor(trained.model, options.method);
	const times = timesOf(at, patients, queried.axis, "`at`");
	const queries = patients.flatMap((patient, index) =>
		(times[index] ?? []).map((time) => ({ patient, time })),
	);
	return {
		method,
		warnings: warningsFor(queried, queries, trained.manifest),
		forecasts: forecastsOf(trained, patients, times, { ...options, method }),
	};
}

/** Patients per batch. */
const batchSize = 64;

async function* forecastsOf(
	trained: Trained,
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[], // [patients][queries]
	options: ForecastOptions & ForecastSettings,
): AsyncGenerator<PatientForecast> {
	checkTimes(patients, times, options.method);
	const { communicator: job = oneProcess, ...compute } = options;
	const threads = compute.threads ?? threadsOf(trained, job);
	const predictor = await openPredictor(trained, { ...compute, threads });
	try {
		// Of each round, a process forecasts one batch.
		for (let round = 0; round < patients.length; round += batchSize * job.size) {
			const first = round + job.rank * batchSize;
			const batch = patients.slice(first, first + batchSize);
			const batchTimes = times.slice(first, first + batchSize);
			const answers = await answerForecasts(predictor, batch, batchTimes, options);
			for (const [i, patientAnswers] of allGathered(job, answers).flat().entries())
				yield { patient: patients[round + i] as NewPatient, answers: patientAnswers };
		}
	} finally {
		await predictor.dispose();
	}
}
