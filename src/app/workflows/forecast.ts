import { allGathered, oneProcess } from "../../base/communicator.js";
import { InputError } from "../../base/errors.js";
import { hashText } from "../../base/random.js";
import type { NewPatient } from "../../data/cohort/index.js";
import {
	forecastMethods,
	type Model,
	type Predictions,
	type Predictor,
} from "../../model/index.js";
import type { Trained } from "../../model/train/index.js";
import {
	highestCodes,
	type Place,
	predictAt,
	predictAutoRegressively,
	sampleFutures,
} from "../../predict/index.js";
import { type Moment, timesOf, warningsFor } from "../../predict/user-input/index.js";
import { type ComputeOptions, threadsOf } from "./open-runtime.js";
import { openPredictor, type QueriedPatients } from "./patients.js";

/** The forecasting methods. */
export const methods = [...forecastMethods, "sampled"] as const;

type Method = (typeof methods)[number];

/** Whether the method makes one query per time. */
const isDirect = (method: Method) => method === "time-specific" || method === "by-order";

/** The requested method, which the model must support, or the model's default. Every model supports `sampled`. */
export function methodFor(model: Model, requested: Method | undefined): Method {
	const supported: readonly Method[] = model.forecasting.methods;
	if (requested !== undefined && requested !== "sampled" && !supported.includes(requested))
		throw new InputError(
			`${model.name} does not forecast ${requested}; it forecasts ${[...supported, "sampled"].join(" and ")}: give one of these as \`method\``,
			{ field: "method", value: requested },
		);
	return requested ?? (supported[0] as Method);
}

export interface ForecastOptions extends ComputeOptions {
	/** Default: the model's first method. */
	readonly method?: Method | undefined;
	/** Codes per prediction. */
	readonly top: number;
	/** Futures per patient, of method sampled. */
	readonly samples: number;
	readonly seed: number;
}

interface LikelyCode {
	readonly token: number;
	readonly probability: number;
}

/** A patient's predictions, one per query time. */
export interface Forecast {
	readonly patient: NewPatient;
	readonly answers: readonly {
		readonly time: number;
		readonly place: Place;
		/** The most likely first. */
		readonly codes: readonly LikelyCode[];
	}[];
}

/** Forecasts, computed while they are read. */
export interface Forecasts {
	readonly method: Method;
	/** Caveats on the queries. */
	readonly warnings: readonly string[];
	/** One per patient, in their order. */
	readonly forecasts: AsyncIterable<Forecast>;
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

type ChosenOptions = ForecastOptions & { readonly method: Method };

/** Patients per batch. */
const block = 64;

async function* forecastsOf(
	trained: Trained,
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[], // [patients][queries]
	options: ChosenOptions,
): AsyncGenerator<Forecast> {
	if (!isDirect(options.method)) checkAfter(patients, times, options.method);
	const { communicator: job = oneProcess, ...own } = options;
	const threads = own.threads ?? threadsOf(trained, job);
	const predictor = await openPredictor(trained, { ...own, threads });
	const answersOf = async (first: number): Promise<Forecast["answers"][]> => {
		const batch = patients.slice(first, first + block);
		const batchTimes = times.slice(first, first + block);
		if (batch.length === 0) return [];
		const { probabilities, places } = await predict(predictor, batch, batchTimes, options);
		return batchTimes.map((queries, at) =>
			queries.map((time, query) => ({
				time,
				place: places?.[at]?.[query] ?? "after",
				codes: likeliest(probabilities(at, query), options.top),
			})),
		);
	};
	try {
		// Of each round, a process forecasts one batch.
		for (let round = 0; round < patients.length; round += block * job.size) {
			const answers = allGathered(job, await answersOf(round + job.rank * block)).flat();
			for (const [at, own] of answers.entries())
				yield { patient: patients[round + at] as NewPatient, answers: own };
		}
	} finally {
		await predictor.dispose();
	}
}

interface BatchPredictions {
	/** The probability of every token. */
	probabilities(patient: number, query: number): ArrayLike<number>;
	/** Where each query time lies in the history. Default: after it. */
	readonly places?: readonly (readonly Place[])[];
}

async function predict(
	predictor: Predictor,
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[],
	{ method, samples, seed }: ChosenOptions,
): Promise<BatchPredictions> {
	const histories = patients.map(({ history }) => history);
	if (isDirect(method)) {
		const answers = await predictAt(predictor, histories, times);
		return { probabilities: probabilitiesOf(answers), places: answers.places };
	}
	if (method === "auto-regressive")
		return {
			probabilities: probabilitiesOf(await predictAutoRegressively(predictor, histories, times)),
		};
	// One by one, so that a patient's futures do not depend on other patients.
	const shares: number[][][] = [];
	for (const [at, { id, history }] of patients.entries())
		shares.push(
			await sampledShares(predictor, history, times[at] ?? [], samples, hashText(id, seed)),
		);
	return { probabilities: (patient, query) => shares[patient]?.[query] ?? [] };
}

const probabilitiesOf =
	({ queries, vocab, logProbabilities }: Predictions): BatchPredictions["probabilities"] =>
	(patient, query) => {
		const from = (patient * queries + query) * vocab;
		return Float64Array.from(logProbabilities.subarray(from, from + vocab), Math.exp);
	};

/** The share of futures with each token at each time. Futures are drawn in order of time. */
async function sampledShares(
	predictor: Predictor,
	history: NewPatient["history"],
	times: readonly number[],
	samples: number,
	seed: number,
): Promise<number[][]> {
	const order = [...times.keys()].sort((a, b) => (times[a] as number) - (times[b] as number));
	const inOrder = order.map((query) => times[query] as number);
	const futures = await sampleFutures(predictor, [history], [inOrder], { samples, seed });
	const shares: number[][] = times.map(() => []);
	for (const [at, token] of futures.entries()) {
		const own = shares[order[at % times.length] as number] as number[];
		own[token] = (own[token] ?? 0) + 1 / samples;
	}
	return shares.map((own) => Array.from(own, (share) => share ?? 0));
}

const likeliest = (probabilities: ArrayLike<number>, top: number): LikelyCode[] =>
	Array.from(highestCodes(probabilities, top), (token) => ({
		token,
		probability: probabilities[token] as number,
	})).filter(({ probability }) => probability > 0);

/** Steps and futures start at the last event. */
function checkAfter(
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[],
	method: string,
): void {
	for (const [at, { id, history }] of patients.entries()) {
		const last = history.times.at(-1);
		if (last !== undefined && times[at]?.some((time) => time <= last))
			throw new InputError(
				`\`method\` ${method} starts at the last event, and a time of \`at\` is not after that of patient ${id}; give later times, or \`method\` time-specific`,
				{ field: "at" },
			);
	}
}
