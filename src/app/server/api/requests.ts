import { z } from "zod";
import { longestQuery } from "../../../data/codes/search.js";
import { eventSchema, patientSchema } from "../../../predict/library/patient.js";
import { usualHorizon, usualHorizons } from "../../../predict/user-input/index.js";

const most = {
	...{
		events: 5000,
		times: 256,
		codes: 16,
		top: 200,
		horizons: 12,
		foundCodes: 200,
		patients: 100,
	},
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

const patients = z
	.array(patient)
	.min(1)
	.max(most.patients)
	.describe(`at most ${most.patients}; results come in the same order`);

export const forecastBatchRequest = z.strictObject({
	patients,
	at: forecastQuery.at,
	top: top.describe(`codes per time; patients × times × top is at most ${mostForecast}`),
});
export type ForecastBatchRequest = z.infer<typeof forecastBatchRequest>;

const span = z
	.union([z.string().min(1).max(20), z.number().positive().max(365_250)], {
		error: "is neither a length of time such as 5y nor a number of days",
	})
	.describe("a length of time (90d, 6m, 5y), or a number of days");

const riskCodes = z
	.array(z.string().min(1).max(64))
	.min(1)
	.max(most.codes)
	.describe("codes, names or synonyms that stand for one code, or names of the model's groups");

const riskQuery = {
	at: moment
		.default("+0d")
		.describe("the index day, whose records are known; the last record if left out"),
	horizons: z
		.array(span)
		.min(1)
		.max(most.horizons)
		.default(usualHorizons)
		.describe("after the index day"),
};

export const riskBatchRequest = z.strictObject({ patients, codes: riskCodes, ...riskQuery });
export type RiskBatchRequest = z.infer<typeof riskBatchRequest>;

export const riskRequest = z.strictObject({
	patient,
	codes: riskCodes.describe(
		`codes, names or synonyms that stand for one code, or names of the model's groups; codes × times is at most ${mostTrajectoryPoints}`,
	),
	...riskQuery,
	horizon: span.default(usualHorizon).describe("of the trajectory and of `attribute`"),
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

/** By their names in OpenAPI. */
export const requestSchemas: Readonly<Record<string, z.ZodType>> = {
	Patient: patient,
	Event: eventSchema,
	QueryTime: moment,
	Duration: span,
	ForecastRequest: forecastRequest,
	ForecastBatchRequest: forecastBatchRequest,
	RiskRequest: riskRequest,
	RiskBatchRequest: riskBatchRequest,
	ScoreRequest: scoreRequest,
	EmbedRequest: embedRequest,
	SessionRequest: sessionRequest,
	EventsRequest: eventsRequest,
	SessionForecastRequest: sessionForecastRequest,
};
