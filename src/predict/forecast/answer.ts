import { InputError } from "../../base/errors.js";
import { hashText } from "../../base/random.js";
import type { NewPatient } from "../../data/cohort/index.js";
import {
	forecastMethods,
	type Model,
	type Predictions,
	type Predictor,
} from "../../model/index.js";
import { predictAutoRegressively } from "../auto-regressive.js";
import { highestCodes, type LikelyToken, type Place, predictAt } from "../code-probabilities.js";
import { sampleFutures } from "../sampled-futures.js";

/** The forecasting methods. */
export const methods = [...forecastMethods, "sampled"] as const;

export type ForecastMethod = (typeof methods)[number];

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
	return requested ?? (supported[0] as ForecastMethod);
}

/** How codes at times are predicted. */
export interface ForecastSettings {
	readonly method: ForecastMethod;
	/** Codes per prediction. */
	readonly top: number;
	/** Futures per patient, of method sampled. */
	readonly samples: number;
	readonly seed: number;
}

/** The codes at one time, the most likely first, given that something is recorded then. */
export interface TimeForecast {
	readonly time: number;
	readonly place: Place;
	readonly codes: readonly LikelyToken[];
}

/** A patient's predictions, one per query time. */
export interface PatientForecast {
	readonly patient: NewPatient;
	readonly answers: readonly TimeForecast[];
}

/** Forecasts of patients at their times: [patients][times]. */
export async function answerForecasts(
	predictor: Predictor,
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[],
	settings: ForecastSettings,
): Promise<TimeForecast[][]> {
	if (patients.length === 0) return [];
	const { probabilities, places } = await predict(predictor, patients, times, settings);
	return times.map((queries, patient) =>
		queries.map((time, query) => ({
			time,
			place: places?.[patient]?.[query] ?? "after",
			codes: likelyCodes(probabilities(patient, query), settings.top),
		})),
	);
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
	{ method, samples, seed }: ForecastSettings,
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
	for (const [i, { id, history }] of patients.entries())
		shares.push(
			await sampledShares(predictor, history, times[i] ?? [], samples, hashText(id, seed)),
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
		const codeShares = shares[order[at % times.length] as number] as number[];
		codeShares[token] = (codeShares[token] ?? 0) + 1 / samples;
	}
	return shares.map((codeShares) => Array.from(codeShares, (share) => share ?? 0));
}

const likelyCodes = (probabilities: ArrayLike<number>, top: number): LikelyToken[] =>
	Array.from(highestCodes(probabilities, top), (token) => ({
		token,
		probability: probabilities[token] as number,
	})).filter(({ probability }) => probability > 0);

/** Refuses times up to the last event where a method starts from it. */
export function checkTimes(
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
