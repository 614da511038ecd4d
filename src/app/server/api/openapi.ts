import { z } from "zod";
import type { Example, Examples } from "./examples.js";
import { requestSchemas } from "./requests.js";
import { responseSchemas } from "./responses.js";
import { type Route, routes } from "./routes.js";

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

/** A JSON schema; only the fields that the page at /api shows are named. */
export interface Schema {
	readonly $ref?: string;
	readonly type?: string | readonly string[];
	readonly description?: string;
	readonly properties?: Readonly<Record<string, Schema>>;
	readonly required?: readonly string[];
	readonly items?: Schema;
	readonly anyOf?: readonly Schema[];
	readonly enum?: readonly unknown[];
	readonly const?: unknown;
	readonly default?: unknown;
}

const place = (name: string) => `#/components/schemas/${name}`;

/** The named schemas of one direction; each refers to the others by name. */
function namedSchemas(
	schemas: Readonly<Record<string, z.ZodType>>,
	io: "input" | "output",
): Record<string, Schema> {
	const registry = z.registry<{ id: string }>();
	for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
	const made = z.toJSONSchema(registry, { io, uri: place }).schemas;
	return Object.fromEntries(
		Object.entries(made).map(([name, { $schema: _, $id: __, ...schema }]) => [
			name,
			schema as Schema,
		]),
	);
}

const names = new Map(
	[...Object.entries(requestSchemas), ...Object.entries(responseSchemas)].map(([name, schema]) => [
		schema,
		name,
	]),
);

const json = (schema: z.ZodType, example?: Example) => ({
	"application/json": {
		schema: { $ref: place(names.get(schema) as string) },
		...(example?.body && { examples: { example: { value: example.body } } }),
	},
});

/** A parameter of an operation, in its path or in the URL's query. */
export interface Parameter {
	readonly name: string;
	readonly in: "path" | "query";
	readonly required?: boolean;
	readonly schema: Schema;
	readonly example?: string | number;
}

function parametersOf({ path, query }: Route, example?: Example): readonly Parameter[] {
	const { properties = {} } = query ? z.toJSONSchema(query, { io: "input" }) : {};
	return [
		...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
			...{ name: name as string, in: "path" as const, required: true },
			schema: { type: "string" },
		})),
		...Object.entries(properties).map(([name, schema]) => ({
			...{ name, in: "query" as const, schema: schema as Schema },
			...(example?.query?.[name] !== undefined && { example: example.query[name] }),
		})),
	];
}

/** One operation, as the page at /api reads it. */
export interface Operation {
	readonly operationId: string;
	readonly summary: string;
	readonly parameters?: readonly Parameter[];
	readonly requestBody?: {
		readonly required: boolean;
		readonly content: ReturnType<typeof json>;
	};
	readonly responses: Readonly<
		Record<string, { readonly description: string; readonly content?: ReturnType<typeof json> }>
	>;
}

function operationOf(operationId: string, route: Route, example?: Example): Operation {
	const { summary, request, status, response } = route;
	const parameters = parametersOf(route, example);
	const refused = json(responseSchemas.Error as z.ZodType);
	return {
		operationId,
		summary,
		...(parameters.length > 0 && { parameters }),
		...(request && { requestBody: { required: true, content: json(request, example) } }),
		responses: {
			[status]: { description: "success", ...(response && { content: json(response) }) },
			...Object.fromEntries(
				Object.entries(refusalsOf(route)).map(([code, description]) => [
					code,
					{ description, content: refused },
				]),
			),
		},
	};
}

/** The API as OpenAPI 3.1, from the schemas that check the requests. */
export function openApi(version: string, examples: Examples) {
	const paths: Record<string, Record<string, Operation>> = {};
	for (const [id, route] of Object.entries(routes) as [keyof typeof routes, Route][]) {
		const operation = operationOf(id, route, examples[id]);
		paths[route.path] = { ...paths[route.path], [route.method]: operation };
	}
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
			schemas: {
				...namedSchemas(requestSchemas, "input"),
				...namedSchemas(responseSchemas, "output"),
			},
			securitySchemes: { token: { type: "http", scheme: "bearer" } },
		},
	};
}

export type OpenApi = ReturnType<typeof openApi>;
