import type { IncomingHttpHeaders } from "node:http";
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { type Context, Hono } from "hono";
import type { z } from "zod";
import { InputError } from "../../base/errors.js";
import { thousands } from "../../base/thousands.js";
import { codes } from "./api/codes.js";
import { embed } from "./api/embed.js";
import { forecast, forecastBatch } from "./api/forecast.js";
import { describeModel } from "./api/model.js";
import type { HealthResponse } from "./api/responses.js";
import { risk, riskBatch } from "./api/risk.js";
import { type Route, routes } from "./api/routes.js";
import { score } from "./api/score.js";
import { populationOf, type ServedModel } from "./api/served-model.js";
import { sessions } from "./api/sessions.js";
import { CallFailed, ThreadEnded } from "./engine/call-failed.js";
import type { Engine } from "./engine/engine.js";
import { countedAddress } from "./http/addresses.js";
import type { Connections } from "./http/connections.js";
import { bodies, decoded, jsonBounds, parsedJson } from "./http/json-body.js";
import { jsonPieces, TooLongError } from "./http/json-pieces.js";
import type { Log } from "./http/log.js";
import { Refusal } from "./http/refusal.js";
import { roundRobin } from "./http/round-robin.js";
import { signInPage } from "./http/sign-in.js";
import { headersOf, type ServedFile, send } from "./http/static-files.js";
import type { Gate } from "./http/token.js";
import { type Pause, tokenThrottle } from "./http/token-throttle.js";
import { validate } from "./http/validate.js";
import type { Limits } from "./limits.js";
import { apiDescription } from "./page/index.js";
import { type ModelCalls, type Scheduler, scheduler } from "./scheduler.js";

export interface AppParts {
	readonly served: ServedModel;
	readonly engine: Engine;
	readonly limits: Limits;
	readonly log: Log;
	/** Checks tokens; everybody has access if left out. */
	readonly gate?: Gate | undefined;
	/** By URL path: the page, its files and its documents. */
	readonly files: ReadonlyMap<string, ServedFile>;
	/** Of trajgpt. */
	readonly version: string;
	/** Delays the response to a wrong token; a timer if left out. */
	readonly pause?: Pause | undefined;
}

type Bindings = { Bindings: HttpBindings; Variables: { request: string } };
type RequestContext = Context<Bindings>;

/** What the service holds in memory, for tests and monitoring. */
export interface Holding {
	readonly waiting: number;
	readonly sessions: number;
	readonly bodyBytes: number;
	/** Bytes of sign-in forms. */
	readonly signInBytes: number;
}

export interface App {
	readonly fetch: Hono<Bindings>["fetch"];
	readonly scheduler: Scheduler;
	holding(): Holding;
	/** Answers the delayed requests with wrong tokens at once. */
	endDelays(): void;
	/** Forgets all sessions. */
	close(): void;
}

const base = "/api/v2";
/** A body up to this length is read within a millisecond. */
const shortBytes = 16 * 1024;

export function app(parts: AppParts, connections: Pick<Connections, "send">): App {
	const { served, engine, limits, log, gate, files } = parts;
	const calls = scheduler(engine, limits.waiting);
	const open = sessions(served, limits);
	const reading = bodies(limits, "send fewer events, or one patient per request");
	const signIns = bodies(
		{ bodyBytes: limits.signInBytes, bodiesBytes: limits.signInsBytes },
		"send the token alone",
	);
	const throttle = tokenThrottle(limits, { pause: parts.pause });
	const ending = new AbortController();
	const hasExplorer = files.has("/index.html");
	const description = apiDescription(served, {
		...{ version: parts.version, hasExplorer, needsToken: gate !== undefined },
	});
	const turnOf = roundRobin();
	const hono = new Hono<Bindings>();

	hono.onError((error, context) => {
		const refusal = refusalOf(error);
		if (refusal.status === 500 || error instanceof CallFailed)
			log.failure(error, context.get("request"));
		return refused(context, refusal);
	});
	hono.notFound((context) =>
		refused(context, new Refusal(404, "not found; the API is described at /api")),
	);

	if (gate) {
		hono.get("/sign-in", (context) => context.html(signInPage(false)));
		/** Delays the response to a wrong token, unless the service or the client ends first. */
		const delay = async ({ env: { incoming, outgoing } }: RequestContext) => {
			const leaving = new AbortController();
			const leave = () => leaving.abort();
			outgoing.once("close", leave);
			ending.signal.addEventListener("abort", leave);
			try {
				if (ending.signal.aborted || outgoing.destroyed) return;
				await throttle.wait(countedAddress(incoming.socket.remoteAddress), leaving.signal);
			} catch (error) {
				if (!leaving.signal.aborted) throw error;
			} finally {
				outgoing.removeListener("close", leave);
				ending.signal.removeEventListener("abort", leave);
			}
		};
		hono.post("/sign-in", async (context) => {
			const { incoming } = context.env;
			const token = await signIns.read(
				incoming,
				async (bytes) => new URLSearchParams(decoded(bytes)).get("token") ?? "",
			);
			const cookie = gate.cookieFor(token, isHttps(incoming.headers));
			if (cookie === undefined) {
				await delay(context);
				return context.html(signInPage(true), 401);
			}
			context.header("Set-Cookie", cookie);
			return context.redirect(context.req.query("for") === "api" ? "/api" : "/", 303);
		});
		hono.use(async (context, next) => {
			const { authorization, cookie } = context.env.incoming.headers;
			if (gate.isOpenTo(authorization, cookie)) return next();
			if (context.req.method === "GET" && context.req.path === "/")
				return context.redirect("/sign-in", 303);
			if (context.req.method === "GET" && context.req.path === "/api")
				return context.redirect("/sign-in?for=api", 303);
			if (authorization !== undefined) await delay(context);
			throw new Refusal(
				401,
				`${authorization === undefined ? "a token is needed" : "that is not the token"}: send it as \`Authorization: Bearer TOKEN\`, or open /sign-in in a browser`,
			);
		});
	}

	/** Handles a route: validates the request, and gives up after `answerMs` or when the client hangs up. */
	const handle = <T>(
		route: Route & { readonly request: z.ZodType<T> },
		work: (request: T, model: ModelCalls, context: RequestContext) => Promise<unknown>,
	) =>
		hono.post(base + route.path.replace("{id}", ":id"), async (context) => {
			checkSender(context);
			const { incoming, outgoing } = context.env;
			const respond = async (bytes: Buffer) => {
				const { signal, end } = deadline(outgoing, limits.answerMs);
				try {
					const address = countedAddress(incoming.socket.remoteAddress);
					await turnOf(address);
					// Each step takes milliseconds if the body is long: let other addresses in between.
					const pause = async () => bytes.length > shortBytes && (await turnOf(address));
					const given = parsedJson(bytes);
					await pause();
					const request = validate(route.request, given);
					await pause();
					const model = calls.callsFor(incoming.socket, signal, address);
					const result = (await work(request, model, context)) as object;
					connections.send(outgoing, route.status, responsePieces(result, limits.answerBytes));
					return RESPONSE_ALREADY_SENT;
				} finally {
					end();
				}
			};
			return reading.read(incoming, respond, jsonBounds(limits));
		});
	const idIn = (context: RequestContext) => context.req.param("id") as string;

	hono.get(base + routes.model.path, (context) => context.json(describeModel(served, limits)));
	hono.get(base + routes.codes.path, (context) =>
		context.json(codes(validate(routes.codes.query, queryIn(context)), served)),
	);
	hono.get(base + routes.health.path, (context) =>
		context.json({
			...{ status: "ok", version: parts.version, ...populationOf(served) },
			...{ waiting: calls.waiting, sessions: open.size },
		} satisfies HealthResponse),
	);
	hono.get("/api", (context) => {
		const { headers } = context.env.incoming;
		context.header("Cache-Control", "no-store");
		return context.html(
			description.page(`${isHttps(headers) ? "https" : "http"}://${headers.host}${base}`),
		);
	});
	if (!hasExplorer) hono.get("/", (context) => context.redirect("/api", 303));
	handle(routes.forecast, (request, model) => forecast(request, served, model));
	handle(routes.risk, (request, model) => risk(request, served, model));
	handle(routes.forecastBatch, (request, model) => forecastBatch(request, served, model));
	handle(routes.riskBatch, (request, model) => riskBatch(request, served, model));
	handle(routes.score, (request, { scoreTask }) => score(request, served, scoreTask));
	handle(routes.embed, (request, { represent }) => embed(request, served, represent));
	handle(routes.startSession, ({ patient }, { predictor }) => open.start(patient, predictor));
	handle(routes.addEvents, ({ events }, { predictor }, context) =>
		open.add(idIn(context), events, predictor),
	);
	handle(routes.sessionForecast, (request, model, context) =>
		open.forecast(idIn(context), request, model),
	);
	hono.delete(base + routes.endSession.path.replace("{id}", ":id"), (context) => {
		checkOrigin(context);
		open.end(idIn(context));
		return context.body(null, 204);
	});

	for (const [path, methods] of methodsByPath())
		hono.all(base + path.replace("{id}", ":id"), ({ req }) => {
			const allow = methods.join(", ");
			throw new Refusal(405, `${path} takes ${allow}, not ${req.method}; /api describes it`, {
				allow,
			});
		});

	hono.get("*", (context) => {
		const { path } = context.req;
		const file = description.files.get(path) ?? files.get(path === "/" ? "/index.html" : path);
		return file ? sent(context, file) : context.notFound();
	});

	return {
		fetch: hono.fetch,
		scheduler: calls,
		holding: () => ({
			...{ waiting: calls.waiting, sessions: open.size },
			...{ bodyBytes: reading.held, signInBytes: signIns.held },
		}),
		endDelays: () => ending.abort(),
		close: open.close,
	};
}

/**
 * Aborts when the client hangs up, or after `ms`. Must be ended with the response: a running timer
 * would keep the request, and its patient data, in memory.
 */
function deadline(outgoing: HttpBindings["outgoing"], ms: number) {
	const giving = new AbortController();
	const hungUp = () => giving.abort(new DOMException("the client has hung up", "AbortError"));
	const timer = setTimeout(
		() => giving.abort(new DOMException("the response takes too long", "TimeoutError")),
		ms,
	);
	outgoing.once("close", hungUp);
	return {
		signal: giving.signal,
		end() {
			clearTimeout(timer);
			outgoing.removeListener("close", hungUp);
		},
	};
}

function responsePieces(result: object, mostBytes: number): Uint8Array[] {
	try {
		return jsonPieces(result, mostBytes);
	} catch (error) {
		if (!(error instanceof TooLongError)) throw error;
		throw new Refusal(
			422,
			`the response is larger than ${thousands(mostBytes)} bytes; query fewer times or codes, or send fewer events`,
		);
	}
}

function methodsByPath(): ReadonlyMap<string, readonly string[]> {
	const methods = new Map<string, string[]>();
	for (const { path, method } of Object.values(routes))
		methods.set(path, [...(methods.get(path) ?? []), method.toUpperCase()]);
	return methods;
}

function sent(context: RequestContext, file: ServedFile): Response {
	const { env, req } = context;
	// Hono answers HEAD requests itself.
	if (req.method === "HEAD")
		return context.body(null, 200, headersOf(file, req.header("Accept-Encoding")));
	send(file, env.incoming, env.outgoing);
	return RESPONSE_ALREADY_SENT;
}

/** The parameters in the URL, those that are numbers as numbers. */
function queryIn({ req }: RequestContext): Record<string, string | number> {
	const given = Object.entries(req.queries());
	if (given.some(([, values]) => values.length > 1))
		throw new Refusal(400, "a parameter is given twice; give each once");
	return Object.fromEntries(
		given.map(([name, [text = ""]]) => [
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
	const packed = context.req.header("Content-Encoding") ?? "identity";
	if (packed.toLowerCase() !== "identity")
		throw new Refusal(415, "the request is compressed; send it as it is, without Content-Encoding");
}

/** The service itself speaks http: only a proxy's headers, or the browser's Origin, show https. */
const isHttps = ({ origin, forwarded, ...headers }: IncomingHttpHeaders): boolean =>
	/^https:/i.test(origin ?? "") ||
	/^https\b/i.test(String(headers["x-forwarded-proto"] ?? "")) ||
	/^[^,]*\bproto="?https\b/i.test(forwarded ?? "");

function checkOrigin(context: RequestContext): void {
	const { origin, host } = context.env.incoming.headers;
	if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`)
		throw new Refusal(403, "pages of other origins may not use this service");
}

function refusalOf(error: unknown): Refusal {
	if (error instanceof Refusal) return error;
	if (error instanceof InputError) return new Refusal(422, error.message);
	if (error instanceof ThreadEnded)
		return new Refusal(503, "the model has stopped and is being restarted; try again", {
			retry: 1,
		});
	if (error instanceof DOMException && error.name === "TimeoutError")
		return new Refusal(
			503,
			"the request took too long; send fewer events or times, leave attribute out, or try again",
			{ retry: 5 },
		);
	if (error instanceof DOMException && error.name === "AbortError")
		return new Refusal(408, "the request was aborted");
	return new Refusal(500, "internal error; see the log of the service");
}

function refused(context: RequestContext, { status, message, details }: Refusal): Response {
	const { field, patient, retry, allow, closes = status === 413 || status === 429 } = details;
	if (allow !== undefined) context.header("Allow", allow);
	if (retry !== undefined) context.header("Retry-After", String(retry));
	if (status === 401) context.header("WWW-Authenticate", 'Bearer realm="trajgpt"');
	if (closes) context.header("Connection", "close");
	const where = { ...(field && { field }), ...(patient !== undefined && { patient }) };
	return context.json({ error: { status, message, ...where } }, status);
}
