import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { InputError } from "../../base/errors.js";
import { hostNames, nameIn, reachableName } from "./addresses.js";
import { routes as apiRoutes } from "./api/routes.js";
import { type AppParts, app } from "./app.js";
import { type Connections, connections } from "./connections.js";
import type { Limits } from "./limits.js";
import { errorBody, malformedRequestResponse, securityHeaders } from "./refusal.js";

export interface ServiceOptions extends AppParts {
	readonly host: string;
	readonly ports: readonly number[];
	/** Accepted host names in addition to those of the machine. */
	readonly names?: readonly string[];
}

export type Service = Awaited<ReturnType<typeof startService>>;

export async function startService(options: ServiceOptions) {
	const { limits, log, engine } = options;
	const open = connections(limits);
	const routes = app(options, open);
	const names = hostNames(options.host, options.names ?? []);
	const listener = getRequestListener(routes.fetch as Parameters<typeof getRequestListener>[0], {
		hostname: "localhost",
		errorHandler: () =>
			Response.json(errorBody(400, "the request cannot be read"), { status: 400 }),
	});
	const handle = (incoming: IncomingMessage, outgoing: ServerResponse) =>
		open.admit(outgoing, () => respond(incoming, outgoing));
	const respond = (incoming: IncomingMessage, outgoing: ServerResponse) => {
		const request = randomBytes(9).toString("base64url");
		const started = performance.now();
		for (const [name, value] of Object.entries(securityHeaders)) outgoing.setHeader(name, value);
		outgoing.setHeader("X-Request-Id", request);
		if (incoming.url?.startsWith("/api/") || incoming.url?.startsWith("/explorer/"))
			outgoing.setHeader("Cache-Control", "no-store");
		outgoing.on("close", () => {
			log.request({
				request,
				method: incoming.method ?? "",
				route: patternOf(incoming.url ?? ""),
				status: outgoing.writableFinished ? outgoing.statusCode : 499,
				ms: Math.round(performance.now() - started),
			});
		});
		const refuse = (status: number, message: string) => {
			outgoing.writeHead(status, { "Content-Type": "application/json", Connection: "close" });
			outgoing.end(JSON.stringify(errorBody(status, message)));
		};
		if ((incoming.headersDistinct.host?.length ?? 0) > 1)
			return refuse(400, "the request has two Host headers; send one");
		const name = nameIn(incoming.headers.host);
		if (name === undefined || !names.has(name))
			return refuse(
				421,
				"the name in the Host header is not one of this service's; use its address, or start it with --allow-host NAME",
			);
		listener(incoming, outgoing).catch((error) => log.failure(error, request));
	};
	const server = createServer(
		{
			headersTimeout: limits.headMs,
			requestTimeout: limits.requestMs,
			connectionsCheckingInterval: limits.checkMs,
			keepAliveTimeout: 5000,
			maxHeaderSize: 16 * 1024,
			// Node's own refusal has no message; a missing name is refused like a wrong one.
			requireHostHeader: false,
			noDelay: true,
		},
		handle,
	);
	// Other Expect headers are ignored; Node would refuse them without a message.
	server.on("checkExpectation", handle);
	server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
		const response = open.responseOn(socket);
		const isPartlySent = response?.headersSent && !response.writableFinished;
		if (socket.writable && error.code !== "ECONNRESET" && !isPartlySent)
			socket.write(malformedRequestResponse(error.code));
		socket.destroySoon();
	});
	server.maxConnections = limits.connections;
	server.timeout = limits.silenceMs;
	let accepted = 0;
	server.on("connection", (socket: Socket) => {
		accepted++;
		open.open(socket);
	});
	// Node would cut off clients that are about to send their next request: let them get a last response.
	server.closeIdleConnections = () => {};
	await listening(server, options);
	const { port } = server.address() as AddressInfo;
	const watch = setInterval(open.closeStalled, limits.checkMs);
	watch.unref();
	log.event("listening", { host: options.host, port });
	let closed: Promise<void> | undefined;
	return {
		url: `http://${reachableName(options.host)}:${port}/`,
		port,
		scheduler: routes.scheduler,
		/** What the service holds in memory, for tests and monitoring. */
		usage: () => ({
			...routes.usage(),
			connections: open.count,
			/** Of responses that clients have not read. */
			unsentBytes: open.unsentBytes,
		}),
		/** Stops listening, finishes running requests, and disposes of the model. */
		close: () => {
			routes.endDelays();
			closed ??= closing(server, limits, open, () => accepted).then(async () => {
				clearInterval(watch);
				routes.close();
				await engine.dispose();
				log.event("closed");
			});
			return closed;
		},
	};
}

/** Route patterns for the log, without anything a sender put into the URL. */
const patterns = [...new Set(Object.values(apiRoutes).map(({ path }) => `/api/v2${path}`))].map(
	(path) => ({ path, matches: new RegExp(`^${path.replace("{id}", "[^/]+")}$`) }),
);
const otherRoutes = /^\/(?:$|api$|api\/page\.(?:css|js)$|api\/v2\/openapi\.json$|sign-in$)/;
function patternOf(url: string): string {
	const path = url.split("?", 1)[0] ?? "";
	if (otherRoutes.test(path)) return path;
	const api = patterns.find(({ matches }) => matches.test(path));
	if (api) return api.path;
	const [, folder] = /^\/(model|explorer|assets)\//.exec(path) ?? [];
	return folder ? `/${folder}/{file}` : "{other}";
}

async function listening(
	server: Server,
	{ host, ports }: Pick<ServiceOptions, "host" | "ports">,
): Promise<void> {
	for (const [index, port] of ports.entries())
		try {
			server.listen({ host, port, backlog: 2048 });
			// Rejects with an error of the server.
			await once(server, "listening");
			return;
		} catch (error) {
			const { code } = error as NodeJS.ErrnoException;
			if (code === "EADDRINUSE" && index + 1 < ports.length) continue;
			throw new InputError(`cannot listen on ${host}, port ${port}: ${reasonOf(code)}`, {
				cause: error,
			});
		}
}

const reasonOf = (code: string | undefined): string => {
	if (code === "EADDRINUSE") return "the port is in use; choose another `port`";
	if (code === "EACCES") return "permission denied; choose a `port` above 1023";
	if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND")
		return "not an address of this machine; choose another `host`";
	return `the system says ${code ?? "nothing"}`;
};

/**
 * Lets running requests finish and clients that are about to send one more do so; closes all
 * connections after `closeMs`.
 */
async function closing(
	server: Server,
	{ closeMs, closeIdleMs }: Pick<Limits, "closeMs" | "closeIdleMs">,
	{ startClosing, closeIdle }: Pick<Connections, "startClosing" | "closeIdle">,
	accepted: () => number,
): Promise<void> {
	const cut = setTimeout(() => server.closeAllConnections(), closeMs);
	await acceptWaiting(accepted);
	const closed = new Promise((resolve) => server.close(resolve));
	// Only now: a client whose connection closes opens another, which must be refused.
	startClosing();
	const idle = setTimeout(closeIdle, closeIdleMs);
	await closed;
	clearTimeout(idle);
	clearTimeout(cut);
}

/** Limit in case connections keep arriving. */
const maxAcceptMs = 2000;

/** Accepts pending connections, which the system would reset when listening ends. */
async function acceptWaiting(accepted: () => number): Promise<void> {
	const until = performance.now() + maxAcceptMs;
	let before: number;
	do {
		before = accepted();
		// Two turns of the event loop, as the first may already be past its poll phase.
		await setImmediate();
		await setImmediate();
	} while (accepted() > before && performance.now() < until);
}
