import { z } from "zod";
import { matchKinds } from "../../../data/codes/search.js";

const codeWords = {
	code: z.string(),
	system: z.string().nullable(),
	name: z.string(),
	category: z.string().nullable(),
};
const probability = z.number().min(0).max(1.000001);

const when = {
	date: z.string().optional().describe("where dates were given"),
	day: z.number(),
	ageYears: z.number().nullable(),
};
const time = z.strictObject(when);

/** In every answer. */
const population = {
	simulated: z.boolean().describe("whether the model has learned from simulated people"),
	population: z.string().optional().describe("the same in words; only if simulated"),
};

const unknownCode = z.strictObject({ code: z.string(), records: z.int() });

const readHistory = {
	events: z.int().describe("events of the history that the model knows, without birth"),
	unknown: z.array(unknownCode).describe("codes that the model does not know: skipped"),
	warnings: z.array(z.string()).describe("why the predictions may be unreliable"),
};
const read = { ...population, ...readHistory };

const place = z
	.enum(["before", "inside", "after"])
	.describe(
		"of the time relative to the history; predictions are based on the events strictly before it",
	);

const riskPlace = z
	.enum(["before", "inside", "after"])
	.describe("of the time relative to the history; after the last event there are no new records");

const codeProbability = z.strictObject({ ...codeWords, probability });
const forecast = z.strictObject({
	at: z.union([z.string(), z.number()]),
	...when,
	place,
	top: z.array(codeProbability).describe("the most likely first"),
});

export const forecastResponse = z.strictObject({ ...read, answers: z.array(forecast) });
const patientForecast = z.strictObject({ ...readHistory, answers: z.array(forecast) });
export const forecastBatchResponse = z.strictObject({
	...population,
	results: z.array(patientForecast).describe("in the order of the patients"),
});
export type ForecastResponse = z.infer<typeof forecastResponse>;

const riskTime = z.strictObject({ ...when, place: riskPlace });

const codeRiskFields = {
	code: z.string(),
	name: z.string(),
	note: z.string().optional().describe("how the code was interpreted, if that is not obvious"),
	recorded: time.nullable().describe("the first record up to the index day; null if there is none"),
	probabilities: z
		.array(probability)
		.describe(
			"by horizon: of a first record after the index day, death competing; if `recorded`, of another record",
		),
};

const surge = z.strictObject({
	from: z.number().describe("a day, as is `to`"),
	to: z.number(),
	growth: z.number(),
	events: z.array(z.int()).describe("events recorded then, by their position in the request"),
});

const codeTrajectory = z.strictObject({
	...codeRiskFields,
	risk: z
		.array(probability)
		.describe(
			"at each time, from the records up to it: the probability of a first record within `horizonDays`",
		),
	growth: z.array(z.number()),
	recordedFrom: z
		.int()
		.nullable()
		.describe(
			"the place in `times` from which the code is recorded already, and `risk` is that of another record; null if nowhere",
		),
	surges: z.array(surge),
	drivers: z
		.array(
			z.strictObject({
				event: z.int().describe("its position in the request"),
				effect: z.number().describe("the risk minus the risk without the event"),
			}),
		)
		.optional()
		.describe("at the time `attribute`, the strongest first"),
});

export const riskResponse = z.strictObject({
	...read,
	index: time.describe("the index day"),
	horizons: z
		.array(z.number())
		.describe("in days; those beyond what the model has learned are cut, with a warning"),
	horizonDays: z.number().describe("the horizon of the trajectory"),
	times: z.array(riskTime).describe("of the trajectory"),
	codes: z.array(codeTrajectory),
});
export type RiskResponse = z.infer<typeof riskResponse>;

const codeRisk = z.strictObject(codeRiskFields);
const patientRisk = z.strictObject({
	...readHistory,
	index: time.describe("the index day"),
	codes: z.array(codeRisk),
});
export const riskBatchResponse = z.strictObject({
	...population,
	horizons: riskResponse.shape.horizons,
	warnings: z.array(z.string()).describe("that concern every patient"),
	results: z.array(patientRisk).describe("in the order of the patients"),
});
export type RiskBatchResponse = z.infer<typeof riskBatchResponse>;

const taskWords = {
	task: z.string().describe("the task that the model was fine-tuned to"),
	definition: z.string().describe("what the probability is of"),
	source: z
		.string()
		.nullable()
		.describe("where that is defined: a built-in or ready task, an ACES file, a labels file"),
	horizonDays: z
		.number()
		.nullable()
		.describe("within which the label is decided; null if that is not fixed"),
	prevalence: probability.describe("the share of positives among the training labels"),
};

const task = z.strictObject(taskWords);

export const scoreResponse = z.strictObject({
	...read,
	...taskWords,
	at: time.describe("the day of the prediction"),
	probability,
});
export type ScoreResponse = z.infer<typeof scoreResponse>;

export const embedResponse = z.strictObject({ ...read, vector: z.array(z.number()) });
export type EmbedResponse = z.infer<typeof embedResponse>;

export const sessionResponse = z.strictObject({
	...read,
	id: z.string(),
	expiresInSeconds: z.int().describe("if it is not used"),
});
export type SessionResponse = z.infer<typeof sessionResponse>;

export const modelResponse = z.strictObject({
	model: z.strictObject({ id: z.string(), name: z.string(), cite: z.string() }),
	config: z.record(z.string(), z.unknown()),
	parameters: z.int(),
	codes: z.int().describe("number of codes that the model knows"),
	...population,
	time: z.strictObject({ axis: z.enum(["dates", "days"]) }),
	task: task.optional().describe("where the model was fine-tuned: see /score"),
	trained: z.strictObject({ step: z.int(), versions: z.record(z.string(), z.string()) }),
	limits: z.record(z.string(), z.number()),
});
export type ModelResponse = z.infer<typeof modelResponse>;

const foundCode = z.strictObject({
	...codeWords,
	records: z.int().describe("in the training data"),
	match: z.enum(matchKinds).describe("what matches: the first of these that does"),
	via: z.string().optional().describe("the synonym or ICD code that led to it"),
});

export const codesResponse = z.strictObject({
	...population,
	found: z.int().describe("number of codes that match"),
	codes: z.array(foundCode).describe("the best match first; of equal ones, the most frequent"),
});
export type CodesResponse = z.infer<typeof codesResponse>;

const errorResponse = z.strictObject({
	error: z.strictObject({
		status: z.int(),
		message: z.string().describe("what is wrong, and what to do"),
		field: z.string().optional().describe("where in the request"),
		patient: z.int().optional().describe("in a batch, the position of the patient, from 0"),
	}),
});

export const healthResponse = z.strictObject({
	status: z.literal("ok"),
	version: z.string().describe("of trajgpt"),
	...population,
	waiting: z.int().describe("model calls in the queue"),
	sessions: z.int().describe("open sessions"),
});
export type HealthResponse = z.infer<typeof healthResponse>;

/** By their names in OpenAPI. */
export const responseSchemas: Readonly<Record<string, z.ZodType>> = {
	Time: time,
	UnknownCode: unknownCode,
	CodeProbability: codeProbability,
	Forecast: forecast,
	ForecastResponse: forecastResponse,
	PatientForecast: patientForecast,
	ForecastBatchResponse: forecastBatchResponse,
	RiskTime: riskTime,
	Surge: surge,
	CodeTrajectory: codeTrajectory,
	RiskResponse: riskResponse,
	CodeRisk: codeRisk,
	PatientRisk: patientRisk,
	RiskBatchResponse: riskBatchResponse,
	Task: task,
	ScoreResponse: scoreResponse,
	EmbedResponse: embedResponse,
	SessionResponse: sessionResponse,
	ModelResponse: modelResponse,
	FoundCode: foundCode,
	CodesResponse: codesResponse,
	HealthResponse: healthResponse,
	Error: errorResponse,
};
