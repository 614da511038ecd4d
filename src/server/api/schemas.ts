import { z } from "zod";
import { eventSchema, patientSchema } from "../../api/patient.js";
import { longestQuery, matchKinds } from "../../codes/search.js";

const most = {
	...{ events: 5000, times: 256, codes: 16, top: 200, horizons: 12, foundCodes: 200 },
} as const;
/** Most probabilities in one forecast: times × codes per time. About 0.6 MB of JSON with the names of PheCodes. */
export const mostForecast = 4096;
/** Most points in the trajectories of one response: codes × times. About 0.4 MB of JSON. */
export const mostTrajectoryPoints = 8192;
/** Most times in one risk response. */
export const mostRiskTimes = 1024;
/**
 * Most events that are left out in turn: the work grows with their square. With preset paper, 128 events
 * take about 10 s of one core, in calls of 16 histories; the longest trajectories take 5 s.
 */
export const mostAttributed = 128;

const events = z.array(eventSchema).max(most.events);

const patient = patientSchema.extend({
	events: events.describe("what was recorded, in any order"),
});
export type PatientRequest = z.infer<typeof patient>;

const moment = z
	.union([z.string().min(1).max(40), z.number().min(-1e6).max(1e6)], {
		error: "is neither a time such as +1y or 2015-06-01 nor a number of days",
	})
	.describe(
		"a date (2015-06-01), a time after the last record (+30d, +6m, +2y) or before it (-2y), an age (age:65), or a day where dates are days",
	);

const times = z.array(moment).min(1).max(most.times);
const top = z
	.int()
	.min(1)
	.max(most.top)
	.default(10)
	.describe(`codes per time; times × top is at most ${mostForecast}`);

const forecastQuery = { at: times.default(["+1m", "+1y", "+5y"]), top };
export const forecastRequest = z.strictObject({ patient, ...forecastQuery });
export type ForecastRequest = z.infer<typeof forecastRequest>;

const span = z
	.union([z.string().min(1).max(20), z.number().positive().max(365_250)], {
		error: "is neither a length of time such as 5y nor a number of days",
	})
	.describe("a length of time (90d, 6m, 5y), or a number of days");

export const riskRequest = z.strictObject({
	patient,
	codes: z
		.array(z.string().min(1).max(64))
		.min(1)
		.max(most.codes)
		.describe(
			`codes, names or synonyms that stand for one code, or names of the model's groups; codes × times is at most ${mostTrajectoryPoints}`,
		),
	at: moment
		.default("+0d")
		.describe("the index day, whose records are known; the last record if left out"),
	horizons: z
		.array(span)
		.min(1)
		.max(most.horizons)
		.default(["1y", "5y", "10y"])
		.describe("after the index day"),
	horizon: span.default("5y").describe("of the trajectory and of `attribute`"),
	from: moment.optional().describe("where the trajectory begins; at the first event if left out"),
	to: moment.optional().describe("where it ends; at the last record if left out"),
	step: z
		.string()
		.min(1)
		.max(20)
		.optional()
		.describe(`between two times: 10d, 2w, 6m, 1y; at most ${mostRiskTimes} steps`),
	attribute: moment
		.optional()
		.describe(
			`report which events drove the risks at this time; at most ${mostAttributed} events up to it`,
		),
});
export type RiskRequest = z.infer<typeof riskRequest>;

export const scoreRequest = z.strictObject({
	patient,
	at: moment
		.default("+0d")
		.describe("the day of the prediction, whose records are known; the last record if left out"),
});

export const embedRequest = z.strictObject({
	patient,
	at: moment.optional().describe("the time of the representation; the last event if left out"),
});

export const sessionRequest = z.strictObject({ patient });
export const eventsRequest = z.strictObject({ events: events.min(1) });
export const sessionForecastRequest = z.strictObject(forecastQuery);
export type SessionForecastRequest = z.infer<typeof sessionForecastRequest>;

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

const read = {
	population: z.string().optional().describe("where the model learned from simulated people"),
	events: z.int().describe("events of the history that the model knows, without birth"),
	unknown: z
		.array(z.strictObject({ code: z.string(), records: z.int() }))
		.describe("codes that the model does not know: skipped"),
	warnings: z.array(z.string()).describe("why the predictions may be unreliable"),
};

const place = z
	.enum(["before", "inside", "after"])
	.describe(
		"of the time relative to the history; predictions are based on the events strictly before it",
	);

const riskPlace = z
	.enum(["before", "inside", "after"])
	.describe("of the time relative to the history; after the last event there are no new records");

const forecast = z.strictObject({
	at: z.union([z.string(), z.number()]),
	...when,
	place,
	top: z.array(z.strictObject({ ...codeWords, probability })).describe("the most likely first"),
});

export const forecastResponse = z.strictObject({ ...read, answers: z.array(forecast) });
export type ForecastResponse = z.infer<typeof forecastResponse>;

export const riskResponse = z.strictObject({
	...read,
	index: z.strictObject(when).describe("the index day"),
	horizons: z
		.array(z.number())
		.describe("in days; those beyond what the model has learned are cut, with a warning"),
	horizonDays: z.number().describe("the horizon of the trajectory"),
	times: z.array(z.strictObject({ ...when, place: riskPlace })).describe("of the trajectory"),
	codes: z.array(
		z.strictObject({
			code: z.string(),
			name: z.string(),
			note: z.string().optional().describe("how the code was interpreted, if that is not obvious"),
			recorded: z
				.strictObject(when)
				.nullable()
				.describe("the first record up to the index day; null if there is none"),
			probabilities: z
				.array(probability)
				.describe(
					"by horizon: of a first record after the index day, death competing; if `recorded`, of another record",
				),
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
			surges: z.array(
				z.strictObject({
					from: z.number().describe("a day, as is `to`"),
					to: z.number(),
					growth: z.number(),
					events: z
						.array(z.int())
						.describe("events recorded then, by their position in the request"),
				}),
			),
			drivers: z
				.array(
					z.strictObject({
						event: z.int().describe("its position in the request"),
						effect: z.number().describe("the risk minus the risk without the event"),
					}),
				)
				.optional()
				.describe("at the time `attribute`, the strongest first"),
		}),
	),
});
export type RiskResponse = z.infer<typeof riskResponse>;

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

export const scoreResponse = z.strictObject({
	...read,
	...taskWords,
	at: z.strictObject(when).describe("the day of the prediction"),
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
	population: z.string().optional().describe("where the model learned from simulated people"),
	time: z.strictObject({ axis: z.enum(["dates", "days"]) }),
	task: z.strictObject(taskWords).optional().describe("where the model was fine-tuned: see /score"),
	trained: z.strictObject({ step: z.int(), versions: z.record(z.string(), z.string()) }),
	limits: z.record(z.string(), z.number()),
});
export type ModelResponse = z.infer<typeof modelResponse>;

export const codesQuery = z.strictObject({
	search: z
		.string()
		.max(longestQuery)
		.default("")
		.describe(
			"a code, an ICD code, words of a name, a synonym or an abbreviation; all codes if left out",
		),
	limit: z.int().min(1).max(most.foundCodes).default(20).describe("codes to return"),
});
export type CodesQuery = z.infer<typeof codesQuery>;

export const codesResponse = z.strictObject({
	population: read.population,
	found: z.int().describe("number of codes that match"),
	codes: z
		.array(
			z.strictObject({
				...codeWords,
				records: z.int().describe("in the training data"),
				match: z.enum(matchKinds).describe("what matches: the first of these that does"),
				via: z.string().optional().describe("the synonym or ICD code that led to it"),
			}),
		)
		.describe("the best match first; of equal ones, the most frequent"),
});
export type CodesResponse = z.infer<typeof codesResponse>;

export const errorResponse = z.strictObject({
	error: z.strictObject({
		status: z.int(),
		message: z.string().describe("what is wrong, and what to do"),
		field: z.string().optional().describe("where in the request"),
	}),
});
