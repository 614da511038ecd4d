import { allGathered, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { hashText } from "../../base/random.js";
import type { NewPatient } from "../../data/cohort/index.js";
import { type ComputeOptions, openRuntime, threadsOf } from "../../engine/runtime/open-runtime.js";
import { forecastMethods, type Model, type Predictor } from "../../model/index.js";
import { forecastWeights, type Trained } from "../../model/train/index.js";
import {
	highestCodes,
	predictAt,
	predictAutoRegressively,
	sampleFutures,
} from "../code-probabilities.js";
import { forecastJson } from "../forecast-text.js";
import { type Moment, warningsFor } from "../user-input/moments.js";
import { type QueriedPatients, queriesAt } from "./open.js";

export const methods = [...forecastMethods, "sampled"] as const;

type ForecastMethod = (typeof methods)[number];

/** Whether the method makes one query per time. */
const isDirect = (method: ForecastMethod) => method === "time-specific" || method === "by-order";

/** The requested method, which the model must support, or the model's default. Every model supports `sampled`. */
export function methodFor(model: Model, requested: ForecastMethod | undefined): ForecastMethod {
	const supported: readonly ForecastMethod[] = model.forecasting.methods;
	if (requested !== undefined && requested !== "sampled" && !supported.includes(requested))
		throw new InputError(
			`${model.name} does not forecast ${requested}; it forecasts ${[...supported, "sampled"].join(" and ")}: give one of these as \`method\``,
			{ field: "method", value: requested },
		);
	return requested ?? supported[0];
}

interface ForecastOptions extends ComputeOptions {
	/** Default: the model's first method. */
	readonly method?: ForecastMethod | undefined;
	readonly top: number;
	/** Futures per patient, of method sampled. */
	readonly samples: number;
	readonly seed: number;
}

/** Predicts the codes of patients at given times. Forecasts are computed while they are read, in the patients' order. */
export function forecast(
	trained: Trained,
	queried: QueriedPatients,
	at: readonly Moment[],
	options: ForecastOptions,
) {
	const method = methodFor(trained.model, options.method);
	const { times, queries } = queriesAt(queried, at);
	return {
		method,
		warnings: warningsFor(queried, queries, trained.manifest),
		forecasts: forecastsOf(trained, queried, at, times, { ...options, method }),
	};
}

const batchSize = 64;

type Settings = ForecastOptions & { readonly method: ForecastMethod };

/** A patient, and what is likely at the patient's times. */
export type Forecast =
	ReturnType<typeof forecastsOf> extends AsyncGenerator<infer One> ? One : never;

async function* forecastsOf(
	trained: Trained,
	{ patients, axis }: QueriedPatients,
	moments: readonly Moment[],
	times: readonly (readonly number[])[], // [patients][queries]
	options: Settings,
) {
	checkTimes(patients, times, options.method);
	const { communicator: job = oneProcess, provider, precision } = options;
	const { threads = threadsOf(trained, job) } = options;
	const { model, config, vocabulary } = trained;
	const runtime = await openRuntime({ threads, provider, precision }, "inference");
	const predictor = model.predictor(runtime, config, forecastWeights(trained));
	try {
		// Of each round, a process forecasts one batch.
		for (let round = 0; round < patients.length; round += batchSize * job.size) {
			const first = round + job.rank * batchSize;
			const batch = patients.slice(first, first + batchSize);
			const batchTimes = times.slice(first, first + batchSize);
			const answers = await answersFor(predictor, batch, batchTimes, options);
			for (const [i, patientAnswers] of allGathered(job, answers).flat().entries()) {
				const patient = patients[round + i];
				yield {
					patient,
					forecast: forecastJson(patient, axis, patientAnswers, moments, vocabulary),
				};
			}
		}
	} finally {
		await predictor.dispose();
		await runtime.dispose?.();
	}
}

/** Forecasts of patients at their times: [patients][times]. */
async function answersFor(
	predictor: Predictor,
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[],
	options: Settings,
) {
	if (patients.length === 0) return [];
	const probabilities = await probabilitiesAt(predictor, patients, times, options);
	return patients.map((_, patient) =>
		(times[patient] ?? []).map((time, query) => ({
			time,
			codes: likelyCodes(probabilities(patient, query), options.top),
		})),
	);
}

/** The probability of every token, of each patient at each query. */
async function probabilitiesAt(
	predictor: Predictor,
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[],
	{ method, samples, seed }: Settings,
): Promise<(patient: number, query: number) => ArrayLike<number>> {
	const histories = patients.map(({ history }) => history);
	if (method === "sampled") {
		// One by one, so that a patient's futures do not depend on other patients.
		const shares: number[][][] = [];
		for (const [i, { id, history }] of patients.entries())
			shares.push(
				await sampledShares(predictor, history, times[i] ?? [], samples, hashText(id, seed)),
			);
		return (patient, query) => shares[patient]?.[query] ?? [];
	}
	const predict = isDirect(method) ? predictAt : predictAutoRegressively;
	const { queries, vocab, logProbabilities } = await predict(predictor, histories, times);
	return (patient, query) => {
		const from = (patient * queries + query) * vocab;
		return Float64Array.from(logProbabilities.subarray(from, from + vocab), Math.exp);
	};
}

/** The share of futures with each token at each time. Futures are drawn in order of time. */
async function sampledShares(
	predictor: Predictor,
	history: NewPatient["history"],
	times: readonly number[],
	samples: number,
	seed: number,
): Promise<number[][]> {
	const order = [...times.keys()].sort((a, b) => times[a] - times[b]);
	const inOrder = order.map((query) => times[query]);
	const futures = await sampleFutures(predictor, [history], [inOrder], { samples, seed });
	const shares: number[][] = times.map(() => []);
	for (const [at, token] of futures.entries()) {
		const codeShares = shares[order[at % times.length]];
		codeShares[token] = (codeShares[token] ?? 0) + 1 / samples;
	}
	return shares.map((codeShares) => Array.from(codeShares, (share) => share ?? 0));
}

const likelyCodes = (probabilities: ArrayLike<number>, top: number) =>
	Array.from(highestCodes(probabilities, top), (token) => ({
		token,
		probability: probabilities[token],
	})).filter(({ probability }) => probability > 0);

/** Refuses times up to the last event where a method starts from it. */
function checkTimes(
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[],
	method: ForecastMethod,
): void {
	if (isDirect(method)) return;
	for (const [at, { id, history }] of patients.entries()) {
		const last = history.times.at(-1);
		if (last !== undefined && times[at]?.some((time) => time <= last))
			throw new InputError(
				`\`method\` ${method} starts at the last event, and a time of \`at\` is not after that of patient ${id}; give later times, or \`method\` time-specific`,
				{ field: "at" },
			);
	}
}
