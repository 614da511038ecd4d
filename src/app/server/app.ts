import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono } from "hono";
import type { z } from "zod";
import { thousands } from "../../base/thousands.js";
import { type Bindings, isHttps, type Pause, type RequestContext, requireToken } from "./access.js";
import { countedAddress } from "./addresses.js";
import { examplesFor, openApi } from "./api/openapi.js";
import {
	codes,
	describeModel,
	embed,
	forecast,
	forecastBatch,
	populationOf,
	risk,
	riskBatch,
	type ServedModel,
	score,
} from "./api/predictions.js";
import { type Route, routes } from "./api/routes.js";
import { sessions } from "./api/sessions.js";
import { apiPage, pageFiles } from "./api-page.js";
import { jsonBytes, parsedJson, requestBodies, validate } from "./bodies.js";
import type { Connections } from "./connections.js";
import type { Engine, ModelCalls } from "./engine/engine.js";
import { CallFailed } from "./engine/engine.js";
import type { Limits } from "./limits.js";
import type { Log } from "./log.js";
import { errorBody, hungUp, Refusal, refusalOf } from "./refusal.js";
import { readingTurns, scheduler } from "./scheduler.js";
import { document, type ServedFile, send } from "./static-files.js";

export interface AppParts {
	readonly served: ServedModel;
	readonly engine: Engine;
	readonly limits: Limits;
	readonly log: Log;
	/** The token that clients must send; everybody has access if left out. */
	readonly token?: string | undefined;
	/** By URL path: the page, its files and its documents. */
	readonly files: ReadonlyMap<string, ServedFile>;
	readonly version: string;
	/** Delays the response to a wrong token; a timer if left out. */
	readonly pause?: Pause | undefined;
}

const base = "/api/v2";
/** A body up to this length is read within a millisecond. */
const shortBytes = 16 * 1024;
const pathOf = (route: Route) => base + route.path.replace("{id}", ":id");
const sessionId = ({ req }: RequestContext) => req.param("id") as string;

export function app(parts: AppParts, connections: Pick<Connections, "send">) {
	const { served, engine, limits, log, token, files, version } = parts;
	const modelScheduler = scheduler(engine, limits.waiting);
	const openSessions = sessions(served, limits);
	const bodies = requestBodies(limits);
	const turnOf = readingTurns();
	const hasExplorer = files.has("/index.html");
	const examples = examplesFor(served);
	const population = populationOf(served);
	const api = openApi(version, examples);
	const allFiles = new Map([
		...files,
		...pageFiles,
		[`${base}/openapi.json`, document(JSON.stringify(api))],
	]);
	const hono = new Hono<Bindings>();

	hono.onError((error, context) => {
		const { incoming, outgoing } = context.env;
		// Reading fails if the client hangs up in the middle of its request.
		const isCut = incoming.destroyed && !incoming.complete && !(error instanceof Refusal);
		const refusal = isCut ? hungUp() : refusalOf(error);
		if (refusal.status === 500 || error instanceof CallFailed)
			log.failure(error, String(outgoing.getHeader("X-Request-Id")));
		return refused(context, refusal);
	});
	hono.notFound((context) =>
		refused(context, new Refusal(404, "not found; the API is described at /api")),
	);
	const access = token === undefined ? undefined : requireToken(hono, token, limits, parts.pause);

	/** Handles a route: validates the request, and gives up after `answerMs` or when the client hangs up. */
	const handle = <T>(
		route: Route & { readonly request: z.ZodType<T> },
		work: (request: T, model: ModelCalls, context: RequestContext) => Promise<object>,
	) =>
		hono.post(pathOf(route), async (context) => {
			checkSender(context);
			const { incoming, outgoing } = context.env;
			return bodies.read(incoming, async (bytes) => {
				const { signal, end } = deadline(outgoing, limits.answerMs);
				try {
					const address = countedAddress(incoming.socket.remoteAddress);
					await turnOf(address);
					// Each step takes milliseconds if the body is long: let other addresses in between.
					const pause = async () => bytes.length > shortBytes && (await turnOf(address));
					const parsed = parsedJson(bytes);
					await pause();
					const request = validate(route.request, parsed);
					await pause();
					const model = modelScheduler.callsFor(signal, address);
					const result = { ...population, ...(await work(request, model, context)) };
					const body = jsonBytes(result);
					if (body.length > limits.answerBytes)
						throw new Refusal(
							422,
							`the response is larger than ${thousands(limits.answerBytes)} bytes; query fewer times or codes, or send fewer events`,
						);
					connections.send(outgoing, route.status, body);
					return RESPONSE_ALREADY_SENT;
				} finally {
					end();
				}
			});
		});

	hono.get(pathOf(routes.model), (context) =>
		context.json({ ...describeModel(served, limits), ...population }),
	);
	hono.get(pathOf(routes.codes), (context) =>
		context.json({
			...population,
			...codes(validate(routes.codes.query, queryIn(context)), served),
		}),
	);
	hono.get(pathOf(routes.health), (context) =>
		context.json({
			status: "ok",
			version,
			...population,
			waiting: modelScheduler.waiting,
			sessions: openSessions.size,
		}),
	);
	handle(routes.forecast, (request, model) => forecast(request, served, model));
	handle(routes.risk, (request, model) => risk(request, served, model));
	handle(routes.forecastBatch, (request, model) => forecastBatch(request, served, model));
	handle(routes.riskBatch, (request, model) => riskBatch(request, served, model));
	handle(routes.score, (request, model) => score(request, served, model));
	handle(routes.embed, (request, model) => embed(request, served, model));
	handle(routes.startSession, ({ patient }, model) => openSessions.start(patient, model));
	handle(routes.addEvents, ({ events }, model, context) =>
		openSessions.add(sessionId(context), events, model),
	);
	handle(routes.sessionForecast, (request, model, context) =>
		openSessions.forecast(sessionId(context), request, model),
	);
	hono.delete(pathOf(routes.endSession), (context) => {
		checkOrigin(context);
		openSessions.end(sessionId(context));
		return context.body(null, 204);
	});
	for (const [path, methods] of Object.entries(api.paths))
		hono.all(base + path.replace("{id}", ":id"), ({ req }) => {
			const allow = Object.keys(methods).join(", ").toUpperCase();
			throw new Refusal(405, `${path} takes ${allow}, not ${req.method}; /api describes it`, {
				allow,
			});
		});

	hono.get("/api", (context) => {
		const { headers } = context.env.incoming;
		context.header("Cache-Control", "no-store");
		return context.html(
			apiPage(api, {
				address: `${isHttps(headers) ? "https" : "http"}://${headers.host}${base}`,
				examples,
				hasExplorer,
				needsToken: token !== undefined,
				population: population.population,
			}),
		);
	});
	if (!hasExplorer) hono.get("/", (context) => context.redirect("/api", 303));
	hono.get("*", (context) => {
		const { path } = context.req;
		const file = allFiles.get(path === "/" ? "/index.html" : path);
		return file ? send(context, file) : context.notFound();
	});

	return {
		fetch: hono.fetch,
		scheduler: modelScheduler,
		usage: () => ({
			waiting: modelScheduler.waiting,
			sessions: openSessions.size,
			bodyBytes: bodies.bytes,
		}),
		/** Answers the delayed requests with wrong tokens at once. */
		endDelays: () => access?.endDelays(),
		close: openSessions.close,
	};
}

/**
 * Aborts when the client hangs up, or after `ms`. (Hono's `timeout` would leave the calls in the queue.) Must be
 * ended with the response: a running timer would keep the request, and its patient data, in memory.
 */
function deadline(outgoing: HttpBindings["outgoing"], ms: number) {
	const ending = new AbortController();
	const leave = () => ending.abort(hungUp());
	const timer = setTimeout(
		() =>
			ending.abort(
				new Refusal(
					503,
					"the request took too long; send fewer events or times, leave attribute out, or try again",
					{ retry: 5 },
				),
			),
		ms,
	);
	outgoing.once("close", leave);
	return {
		signal: ending.signal,
		end() {
			clearTimeout(timer);
			outgoing.removeListener("close", leave);
		},
	};
}

/** The parameters in the URL, those that are numbers as numbers. */
function queryIn({ req }: RequestContext): Record<string, string | number> {
	const parameters = Object.entries(req.queries());
	if (parameters.some(([, values]) => values.length > 1))
		throw new Refusal(400, "a parameter is given twice; give each once");
	return Object.fromEntries(
		parameters.map(([name, [text = ""]]) => [
			name,
			name !== "search" && /^\d{1,9}$/.test(text) ? Number(text) : text,
		]),
	);
}

/** Pages of other origins cannot send JSON without a preflight request, which is refused. */
function checkSender(context: RequestContext): void {
	checkOrigin(context);
	const type = context.req.header("Content-Type") ?? "";
	if (!/^application\/json *(;.*)?$/i.test(type))
		throw new Refusal(415, "the request is not application/json; set Content-Type to it");
	const coding = context.req.header("Content-Encoding") ?? "identity";
	if (coding.toLowerCase() !== "identity")
		throw new Refusal(415, "the request is compressed; send it as it is, without Content-Encoding");
}

function checkOrigin(context: RequestContext): void {
	const { origin, host } = context.env.incoming.headers;
	if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
		throw new Refusal(403, "pages of other origins may not use this service");
}

function refused(context: RequestContext, { status, message, details }: Refusal): Response {
	const { field, patient, retry, allow, closes = status === 413 || status === 429 } = details;
	if (allow !== undefined) context.header("Allow", allow);
	if (retry !== undefined) context.header("Retry-After", String(retry));
	if (status === 401) context.header("WWW-Authenticate", 'Bearer realm="trajgpt"');
	if (closes) context.header("Connection", "close");
	const where = { ...(field && { field }), ...(patient !== undefined && { patient }) };
	return context.json(errorBody(status, message, where), status);
}
