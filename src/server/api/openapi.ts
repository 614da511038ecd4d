import { z } from "zod";
import { type Route, routes } from "./routes.js";
import { errorResponse } from "./schemas.js";

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

const json = (schema: z.ZodType, io: "input" | "output") => {
	const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
	return { "application/json": { schema: rest } };
};

/** The parameters of an operation: the parts of its path that vary, and those in the URL's query. */
function parametersOf({ path, query }: Route): readonly object[] {
	const { properties = {} } = query ? z.toJSONSchema(query, { io: "input" }) : {};
	return [
		...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
			...{ name, in: "path", required: true, schema: { type: "string" } },
		})),
		...Object.entries(properties).map(([name, schema]) => ({ name, in: "query", schema })),
	];
}

/** The API as OpenAPI 3.1, from the schemas that check the requests. */
export function openApi(version: string) {
	const paths: Record<string, Record<string, unknown>> = {};
	for (const [operationId, route] of Object.entries(routes) as [string, Route][]) {
		const { method, path, summary, request, status, response } = route;
		const parameters = parametersOf(route);
		const operation = {
			operationId,
			summary,
			...(parameters.length > 0 && { parameters }),
			...(request && { requestBody: { required: true, content: json(request, "input") } }),
			responses: {
				[status]: {
					description: "success",
					...(response && { content: json(response, "output") }),
				},
				...Object.fromEntries(
					Object.entries(refusalsOf(route)).map(([code, description]) => [
						code,
						{ description, content: { "application/json": { schema: refused } } },
					]),
				),
			},
		};
		paths[path] = { ...paths[path], [method]: operation };
	}
	const { $schema: _, ...error } = z.toJSONSchema(errorResponse);
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
			schemas: { Error: error },
			securitySchemes: { token: { type: "http", scheme: "bearer" } },
		},
	};
}

const refused = { $ref: "#/components/schemas/Error" };
