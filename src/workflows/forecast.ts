import { InputError } from "../base/errors.js";
import { hashText } from "../base/random.js";
import type { NewPatient } from "../cohort/index.js";
import {
	highestCodes,
	type Place,
	predictAt,
	predictAutoRegressively,
	sampleFutures,
} from "../infer/index.js";
import { type Moment, timesOf, warningsFor } from "../infer/user-input/index.js";
import { forecastMethods, type Model, type Predictions, type Predictor } from "../models/index.js";
import type { Trained } from "../train/index.js";
import { openPredictor, type QueriedPatients } from "./patients.js";

/** How a model gets to later times. */
export const methods = [...forecastMethods, "sampled"] as const;

type Method = (typeof methods)[number];

/** One question at each time, however much of the time the model knows. */
const isDirect = (method: Method) => method === "time-specific" || method === "by-order";

/** The way asked for, which the model must have, or else its usual one. Anyone can be sampled. */
export function methodFor(model: Model, asked: Method | undefined): Method {
	const own: readonly Method[] = model.forecasting.methods;
	if (asked !== undefined && asked !== "sampled" && !own.includes(asked))
		throw new InputError(
			`${model.name} does not forecast ${asked}; it forecasts ${[...own, "sampled"].join(" and ")}: give one of these as \`method\``,
			{ field: "method", value: asked },
		);
	return asked ?? (own[0] as Method);
}

export interface ForecastOptions {
	/** The model's usual one if left out. */
	readonly method?: Method | undefined;
	/** Codes per answer. */
	readonly top: number;
	/** Futures per patient, of method sampled. */
	readonly samples: number;
	readonly seed: number;
	/** As many as in training if left out. */
	readonly threads?: number | undefined;
}

interface LikelyCode {
	readonly token: number;
	readonly probability: number;
}

/** What is to be expected of a patient at each time asked about. */
export interface Forecast {
	readonly patient: NewPatient;
	readonly answers: readonly {
		readonly time: number;
		readonly place: Place;
		/** The most likely first. */
		readonly codes: readonly LikelyCode[];
	}[];
}

/** Forecasts that are computed as they are read. */
export interface Forecasts {
	readonly method: Method;
	/** What should be known of the queries, though they are answered. */
	readonly warnings: readonly string[];
	/** One per patient, in their order. */
	readonly forecasts: AsyncIterable<Forecast>;
}

/** What is likely to be recorded of patients at some times. */
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
	const predictor = await openPredictor(trained, options.threads);
	try {
		for (let first = 0; first < patients.length; first += block) {
			const own = patients.slice(first, first + block);
			const asked = times.slice(first, first + block);
			const { probabilities, places } = await answer(predictor, own, asked, options);
			for (const [at, patient] of own.entries())
				yield {
					patient,
					answers: (asked[at] ?? []).map((time, question) => ({
						time,
						place: places?.[at]?.[question] ?? "after",
						codes: likeliest(probabilities(at, question), options.top),
					})),
				};
		}
	} finally {
		await predictor.dispose();
	}
}

interface Answered {
	/** Of every token. */
	probabilities(patient: number, question: number): ArrayLike<number>;
	/** All after the history if left out. */
	readonly places?: readonly (readonly Place[])[];
}

async function answer(
	predictor: Predictor,
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[],
	{ method, samples, seed }: ChosenOptions,
): Promise<Answered> {
	const histories = patients.map(({ history }) => history);
	if (isDirect(method)) {
		const answers = await predictAt(predictor, histories, times);
		return { probabilities: probabilitiesOf(answers), places: answers.places };
	}
	if (method === "auto-regressive")
		return {
			probabilities: probabilitiesOf(await predictAutoRegressively(predictor, histories, times)),
		};
	// One by one, so that a patient's futures do not depend on who else is asked about.
	const shares: number[][][] = [];
	for (const [at, { id, history }] of patients.entries())
		shares.push(
			await sampledShares(predictor, history, times[at] ?? [], samples, hashText(id, seed)),
		);
	return { probabilities: (patient, question) => shares[patient]?.[question] ?? [] };
}

const probabilitiesOf =
	({ queries, vocab, logProbabilities }: Predictions): Answered["probabilities"] =>
	(patient, question) => {
		const from = (patient * queries + question) * vocab;
		return Float64Array.from(logProbabilities.subarray(from, from + vocab), Math.exp);
	};

/** In which share of the futures each token comes at each time. Futures are drawn in order of time. */
async function sampledShares(
	predictor: Predictor,
	history: NewPatient["history"],
	times: readonly number[],
	samples: number,
	seed: number,
): Promise<number[][]> {
	const order = [...times.keys()].sort((a, b) => (times[a] as number) - (times[b] as number));
	const inOrder = order.map((question) => times[question] as number);
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

/** Steps and futures go on from the last event. */
function checkAfter(
	patients: readonly NewPatient[],
	times: readonly (readonly number[])[],
	method: string,
): void {
	for (const [at, { id, history }] of patients.entries()) {
		const last = history.times.at(-1);
		if (last !== undefined && times[at]?.some((time) => time <= last))
			throw new InputError(
				`\`method\` ${method} goes on from the last event, and a time of \`at\` is not after that of patient ${id}; give later times, or \`method\` time-specific`,
				{ field: "at" },
			);
	}
}
