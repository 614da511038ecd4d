import { z } from "zod";
import { longestQuery, matchKinds } from "../../../data/codes/search.js";
import { eventSchema, patientSchema } from "../../../predict/library/patient.js";
import { usualHorizon, usualHorizons } from "../../../predict/user-input/moments.js";

/** Most probabilities in one forecast: times × codes per time. About 0.6 MB of JSON with the names of PheCodes. */
export const maxForecast = 4096;
/** Most points in the trajectories of one response: codes × times. About 0.4 MB of JSON. */
export const maxTrajectoryPoints = 8192;
export const maxRiskTimes = 1024;
/**
 * Most events that are left out in turn: the work grows with their square. With preset paper, 128 events
 * take about 10 s of one core, in calls of 16 histories; the longest trajectories take 5 s.
 */
export const maxAttributed = 128;
const maxPatients = 100;

export const schemaNames = z.registry<{ id: string }>();

const named = <Schema extends z.ZodType>(id: string, schema: Schema): Schema => {
	schemaNames.add(schema, { id });
	return schema;
};
const object = <Shape extends z.ZodRawShape>(id: string, shape: Shape) =>
	named(id, z.strictObject(shape));

// Requests.

const events = z.array(named("Event", eventSchema)).max(5000);
const patient = named(
	"Patient",
	patientSchema.extend({ events: events.describe("what was recorded, in any order") }),
);
export type PatientRequest = z.infer<typeof patient>;

const queryTime = named(
	"QueryTime",
	z
		.union([z.string().min(1).max(40), z.number().min(-1e6).max(1e6)], {
			error: "is neither a time such as +1y or 2015-06-01 nor a number of days",
		})
		.describe(
			"a date (2015-06-01), a time after the last record (+30d, +6m, +2y) or before it (-2y), an age (age:65), or a day where dates are days",
		),
);
const duration = named(
	"Duration",
	z
		.union([z.string().min(1).max(20), z.number().positive().max(365_250)], {
			error: "is neither a length of time such as 5y nor a number of days",
		})
		.describe("a length of time (90d, 6m, 5y), or a number of days"),
);
const patients = z
	.array(patient)
	.min(1)
	.max(maxPatients)
	.describe(`at most ${maxPatients}; results come in the same order`);

const top = z.int().min(1).max(200).default(10);
const forecastQuery = {
	at: z.array(queryTime).min(1).max(256).default(["+1m", "+1y", "+5y"]),
	top: top.describe(`codes per time; times × top is at most ${maxForecast}`),
};
const forecastRequest = object("ForecastRequest", { patient, ...forecastQuery });
const forecastBatchRequest = object("ForecastBatchRequest", {
	patients,
	at: forecastQuery.at,
	top: top.describe(`codes per time; patients × times × top is at most ${maxForecast}`),
});
const codeNames =
	"codes, names or synonyms that stand for one code, or names of the model's groups";
const codes = z.array(z.string().min(1).max(64)).min(1).max(16);
const riskQuery = {
	at: queryTime
		.default("+0d")
		.describe("the index day, whose records are known; the last record if left out"),
	horizons: z.array(duration).min(1).max(12).default(usualHorizons).describe("after the index day"),
};
const riskRequest = object("RiskRequest", {
	patient,
	codes: codes.describe(`${codeNames}; codes × times is at most ${maxTrajectoryPoints}`),
	...riskQuery,
	horizon: duration.default(usualHorizon).describe("of the trajectory and of `attribute`"),
	from: queryTime
		.optional()
		.describe("where the trajectory begins; at the first event if left out"),
	to: queryTime.optional().describe("where it ends; at the last record if left out"),
	step: z
		.string()
		.min(1)
		.max(20)
		.optional()
		.describe(`between two times: 10d, 2w, 6m, 1y; at most ${maxRiskTimes} steps`),
	attribute: queryTime
		.optional()
		.describe(
			`report which events drove the risks at this time; at most ${maxAttributed} events up to it`,
		),
});
const riskBatchRequest = object("RiskBatchRequest", {
	patients,
	codes: codes.describe(codeNames),
	...riskQuery,
});
const scoreRequest = object("ScoreRequest", {
	patient,
	at: queryTime
		.default("+0d")
		.describe("the day of the prediction, whose records are known; the last record if left out"),
});
const embedRequest = object("EmbedRequest", {
	patient,
	at: queryTime.optional().describe("the time of the representation; the last event if left out"),
});
const sessionRequest = object("SessionRequest", { patient });
const eventsRequest = object("EventsRequest", { events: events.min(1) });
const sessionForecastRequest = object("SessionForecastRequest", forecastQuery);
const codesQuery = z.strictObject({
	search: z
		.string()
		.max(longestQuery)
		.default("")
		.describe(
			"a code, an ICD code, words of a name, a synonym or an abbreviation; all codes if left out",
		),
	limit: z.int().min(1).max(200).default(20).describe("codes to return"),
});
// Responses.

const probability = z.number().min(0).max(1.000001);
const codeWords = {
	code: z.string(),
	system: z.string().nullable(),
	name: z.string(),
	category: z.string().nullable(),
};
const when = {
	date: z.string().optional().describe("where dates were given"),
	day: z.number(),
	ageYears: z.number().nullable(),
};
const time = object("Time", when);
const place = z.enum(["before", "inside", "after"]);

const population = {
	simulated: z.boolean().describe("whether the model has learned from simulated people"),
	population: z.string().optional().describe("the same in words; only if simulated"),
};
const response = <Shape extends z.ZodRawShape>(id: string, shape: Shape) =>
	object(id, { ...population, ...shape });
const historyRead = {
	events: z.int().describe("events of the history that the model knows, without birth"),
	unknown: z
		.array(object("UnknownCode", { code: z.string(), records: z.int() }))
		.describe("codes that the model does not know: skipped"),
	warnings: z.array(z.string()).describe("why the predictions may be unreliable"),
};

const forecasts = z.array(
	object("Forecast", {
		at: z.union([z.string(), z.number()]),
		...when,
		place: place.describe(
			"of the time relative to the history; predictions are based on the events strictly before it",
		),
		top: z
			.array(object("CodeProbability", { ...codeWords, probability }))
			.describe("the most likely first"),
	}),
);
const forecastResponse = response("ForecastResponse", {
	...historyRead,
	answers: forecasts,
});
const forecastBatchResponse = response("ForecastBatchResponse", {
	results: z
		.array(object("PatientForecast", { ...historyRead, answers: forecasts }))
		.describe("in the order of the patients"),
});

const codeRisk = {
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
const codeTrajectory = object("CodeTrajectory", {
	...codeRisk,
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
		object("Surge", {
			from: z.number().describe("a day, as is `to`"),
			to: z.number(),
			growth: z.number(),
			events: z.array(z.int()).describe("events recorded then, by their position in the request"),
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
});
const index = time.describe("the index day");
const horizons = z
	.array(z.number())
	.describe("in days; those beyond what the model has learned are cut, with a warning");
const riskResponse = response("RiskResponse", {
	...historyRead,
	index,
	horizons,
	horizonDays: z.number().describe("the horizon of the trajectory"),
	times: z
		.array(
			object("RiskTime", {
				...when,
				place: place.describe(
					"of the time relative to the history; after the last event there are no new records",
				),
			}),
		)
		.describe("of the trajectory"),
	codes: z.array(codeTrajectory),
});
const riskBatchResponse = response("RiskBatchResponse", {
	horizons,
	warnings: z.array(z.string()).describe("that concern every patient"),
	results: z
		.array(
			object("PatientRisk", {
				...historyRead,
				index,
				codes: z.array(object("CodeRisk", codeRisk)),
			}),
		)
		.describe("in the order of the patients"),
});

const task = {
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
const scoreResponse = response("ScoreResponse", {
	...historyRead,
	...task,
	at: time.describe("the day of the prediction"),
	probability,
});

const embedResponse = response("EmbedResponse", {
	...historyRead,
	vector: z.array(z.number()),
});

const sessionResponse = response("SessionResponse", {
	...historyRead,
	id: z.string(),
	expiresInSeconds: z.int().describe("if it is not used"),
});

const modelResponse = object("ModelResponse", {
	model: z.strictObject({ id: z.string(), name: z.string(), cite: z.string() }),
	config: z.record(z.string(), z.unknown()),
	parameters: z.int(),
	codes: z.int().describe("number of codes that the model knows"),
	...population,
	time: z.strictObject({ axis: z.enum(["dates", "days"]) }),
	task: object("Task", task).optional().describe("where the model was fine-tuned: see /score"),
	trained: z.strictObject({ step: z.int(), versions: z.record(z.string(), z.string()) }),
	limits: z.record(z.string(), z.number()),
});

const codesResponse = response("CodesResponse", {
	found: z.int().describe("number of codes that match"),
	codes: z
		.array(
			object("FoundCode", {
				...codeWords,
				records: z.int().describe("in the training data"),
				match: z.enum(matchKinds).describe("what matches: the first of these that does"),
				via: z.string().optional().describe("the synonym or ICD code that led to it"),
			}),
		)
		.describe("the best match first; of equal ones, the most frequent"),
});

const healthResponse = object("HealthResponse", {
	status: z.literal("ok"),
	version: z.string().describe("of trajgpt"),
	...population,
	waiting: z.int().describe("model calls in the queue"),
	sessions: z.int().describe("open sessions"),
});

export const errorResponse = object("Error", {
	error: z.strictObject({
		status: z.int(),
		message: z.string().describe("what is wrong, and what to do"),
		field: z.string().optional().describe("where in the request"),
		patient: z.int().optional().describe("in a batch, the position of the patient, from 0"),
	}),
});

/** One operation of the API. The service validates requests by it, and OpenAPI is generated from it. */
export interface Route {
	readonly method: "get" | "post" | "delete";
	/** Below /api/v2, with `{id}` for a part that varies. */
	readonly path: string;
	readonly summary: string;
	readonly query?: z.ZodObject;
	readonly request?: z.ZodType;
	readonly status: 200 | 201 | 204;
	readonly response?: z.ZodType;
}

const post = <Request extends z.ZodType>(
	path: string,
	summary: string,
	request: Request,
	response: z.ZodType,
	status: 200 | 201 = 200,
) => ({ method: "post", path, summary, request, response, status }) as const;

export const routes = {
	health: {
		method: "get",
		path: "/health",
		summary: "whether the service answers, and how many calls wait",
		status: 200,
		response: healthResponse,
	},
	model: {
		method: "get",
		path: "/model",
		summary: "the model and the limits of the service",
		status: 200,
		response: modelResponse,
	},
	codes: {
		method: "get",
		path: "/codes",
		summary: "the codes of the model that match a number, a name, a synonym or an abbreviation",
		query: codesQuery,
		status: 200,
		response: codesResponse,
	},
	forecast: post(
		"/forecast",
		"the codes most likely to be recorded at these times",
		forecastRequest,
		forecastResponse,
	),
	risk: post(
		"/risk",
		"the probability that codes are recorded within some years, how it developed, and what drove it",
		riskRequest,
		riskResponse,
	),
	forecastBatch: post(
		"/forecast/batch",
		"forecasts for several patients",
		forecastBatchRequest,
		forecastBatchResponse,
	),
	riskBatch: post(
		"/risk/batch",
		"the probability that codes are recorded within some years, for several patients",
		riskBatchRequest,
		riskBatchResponse,
	),
	score: post(
		"/score",
		"the probability of the label that the model was fine-tuned to",
		scoreRequest,
		scoreResponse,
	),
	embed: post("/embed", "a history as one vector", embedRequest, embedResponse),
	startSession: post(
		"/sessions",
		"keep the model's state of a patient, so that only further events are computed",
		sessionRequest,
		sessionResponse,
		201,
	),
	addEvents: post(
		"/sessions/{id}/events",
		"add events to a session, none before its last event",
		eventsRequest,
		sessionResponse,
	),
	sessionForecast: post(
		"/sessions/{id}/forecast",
		"the codes most likely to be recorded after a session's last event",
		sessionForecastRequest,
		forecastResponse,
	),
	endSession: {
		method: "delete",
		path: "/sessions/{id}",
		summary: "end a session and delete its state",
		status: 204,
	},
} as const satisfies Record<string, Route>;

export type RequestOf<Name extends keyof typeof routes> = (typeof routes)[Name] extends {
	readonly request: infer Schema extends z.ZodType;
}
	? z.infer<Schema>
	: never;
