import { z } from "zod";
import { specialCount, type Token } from "../../../data/cohort/vocabulary.js";
import type { CodeConfig } from "../../../model/heads.js";
import type { ServedModel } from "./predictions.js";
import { errorResponse, type Route, routes, schemaNames } from "./routes.js";

/** The refusals of an operation. Any other method of its path is refused with 405. */
const refusalsOf = ({ method, path, query, request }: Route): Readonly<Record<number, string>> => ({
	400: request
		? "not JSON, or not as described here"
		: query
			? "not as described here"
			: "not HTTP",
	401: "a token is needed",
	...(method !== "get" && { 403: "the request comes from a page of another origin" }),
	...(path.includes("{id}") && { 404: "no such session" }),
	408: "the request did not arrive in time",
	...(request && {
		413: "the request is too large",
		415: "not application/json, or compressed",
	}),
	421: "the name in the Host header is not one of the service's",
	...(request && { 422: "well-formed, but cannot be served" }),
	429: "too many wrong tokens",
	431: "the request's headers are too large",
	500: "internal error",
	...(request && { 503: "overloaded; try again" }),
});

type AnySchema = z.core.JSONSchema.BaseSchema;

export interface Schema extends AnySchema {
	properties?: Record<string, Schema>;
	items?: Schema;
	anyOf?: Schema[];
}

const reference = (name: string) => `#/components/schemas/${name}`;

function namedSchemas(): Record<string, Schema> {
	const { schemas } = z.toJSONSchema(schemaNames, { io: "input", uri: reference });
	const withoutIds = ({ $schema: _, $id: __, ...schema }: AnySchema) => schema as Schema;
	return Object.fromEntries(
		Object.entries(schemas).map(([name, schema]) => [name, withoutIds(schema)]),
	);
}

const json = (schema: z.ZodType, example?: Example) => ({
	"application/json": {
		schema: { $ref: reference(schemaNames.get(schema)?.id as string) },
		...(example?.body && { examples: { example: { value: example.body } } }),
	},
});

function parametersOf({ path, query }: Route, example?: Example) {
	const { properties = {} } = query ? z.toJSONSchema(query, { io: "input" }) : {};
	const inPath = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => ({
		name,
		in: "path",
		required: true,
		schema: { type: "string" } as Schema,
	}));
	const inQuery = Object.entries(properties).map(([name, schema]) => ({
		name,
		in: "query",
		schema: schema as Schema,
		...(example?.query?.[name] !== undefined && { example: example.query[name] }),
	}));
	return [...inPath, ...inQuery];
}

function operationOf(operationId: string, route: Route, example?: Example) {
	const { summary, request, status, response } = route;
	const parameters = parametersOf(route, example);
	const responses: Record<
		string,
		{ readonly description: string; readonly content?: ReturnType<typeof json> }
	> = { [status]: { description: "success", ...(response && { content: json(response) }) } };
	for (const [code, description] of Object.entries(refusalsOf(route)))
		responses[code] = { description, content: json(errorResponse) };
	return {
		operationId,
		summary,
		...(parameters.length > 0 && { parameters }),
		...(request && { requestBody: { required: true, content: json(request, example) } }),
		responses,
	};
}

export type Operation = ReturnType<typeof operationOf>;

/** The API as OpenAPI 3.1, from the schemas that check the requests. */
export function openApi(version: string, examples: Examples) {
	const paths: Record<string, Record<string, Operation>> = {};
	for (const [id, route] of Object.entries(routes) as [keyof typeof routes, Route][])
		paths[route.path] = {
			...paths[route.path],
			[route.method]: operationOf(id, route, examples[id]),
		};
	return {
		openapi: "3.1.0",
		info: {
			title: "trajgpt",
			version,
			description:
				"Forecasts from time-stamped event histories. Not a medical device. A probability of a forecast is that of a code, given that something is recorded for this person at this time. A risk is a cumulative incidence: the probability that a code is recorded for the first time (where it is recorded already, again) within a horizon, death competing. Send one request at a time per connection: further requests sent before a response is complete are not answered, and the connection is closed.",
		},
		servers: [{ url: "/api/v2" }],
		security: [{}, { token: [] }],
		paths,
		components: {
			schemas: namedSchemas(),
			securitySchemes: { token: { type: "http", scheme: "bearer" } },
		},
	};
}

export type OpenApi = ReturnType<typeof openApi>;

export interface Example {
	readonly query?: Readonly<Record<string, string | number>>;
	readonly body?: object;
}

/** By operation; those that the model cannot answer are left out. */
export type Examples = Readonly<Partial<Record<keyof typeof routes, Example>>>;

/** Hypertension, diabetes and heart failure: PheCodes that most models know. */
const wellKnown = ["401", "250", "428"];

/** Three codes of the model: well-known ones, then the most frequent. */
function exampleCodes({ vocabulary }: Pick<ServedModel, "vocabulary">): Token[] {
	const tokens = vocabulary.tokens.slice(specialCount);
	const known = wellKnown.flatMap((code) => tokens.find((token) => token.code === code) ?? []);
	const frequent = [...tokens].sort((a, b) => b.count - a.count);
	return [...new Set([...known, ...frequent])].slice(0, 3);
}

export function examplesFor(
	served: Pick<ServedModel, "vocabulary" | "manifest" | "task" | "config">,
): Examples {
	const [first, second = first, third = second] = exampleCodes(served);
	if (!first || !second || !third) return { health: {}, model: {}, codes: {} };
	const isDated = served.manifest.source.axis === "dates";
	const event = ({ code }: Token, date: string, day: number) => ({
		code,
		date: isDated ? date : day,
	});
	const patient = {
		sex: "female",
		...(isDated && { birth: "1950-06-01" }),
		events: [event(first, "2010-03-01", 0), event(second, "2011-09-15", 563)],
	};
	const patients = [patient, { sex: "male", events: [event(second, "2012-05-20", 0)] }];
	const { hazards } = served.config as CodeConfig;
	const risk = { codes: [third.code], horizons: ["1y", "5y"] };
	return {
		health: {},
		model: {},
		endSession: {},
		codes: { query: { search: "heart failure", limit: 5 } },
		forecast: { body: { patient, at: ["+1y"], top: 3 } },
		forecastBatch: { body: { patients, at: ["+1y"], top: 3 } },
		...(hazards && {
			risk: { body: { patient, ...risk, step: "6m", attribute: "+0d" } },
			riskBatch: { body: { patients, ...risk } },
		}),
		...(served.task && { score: { body: { patient } } }),
		embed: { body: { patient } },
		startSession: { body: { patient } },
		addEvents: { body: { events: [event(third, "2013-02-01", 1068)] } },
		sessionForecast: { body: { at: ["+6m"], top: 3 } },
	};
}
