import { randomBytes } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { setTimeout as after } from "node:timers/promises";
import type { HttpBindings } from "@hono/node-server";
import type { Context, Hono, MiddlewareHandler } from "hono";
import { bearerAuth } from "hono/bearer-auth";
import { bodyLimit } from "hono/body-limit";
import { getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import { timingSafeEqual } from "hono/utils/buffer";
import { thousands } from "../../base/thousands.js";
import { countedAddress } from "./addresses.js";
import type { Limits } from "./limits.js";
import { Refusal } from "./refusal.js";

export type Bindings = { Bindings: HttpBindings };
export type RequestContext = Context<Bindings>;

export const leastTokenLength = 16;
export const newToken = (): string => randomBytes(24).toString("base64url");

const cookieName = "trajgpt";

/** The service itself speaks http: only a proxy's headers, or the browser's Origin, show https. */
export const isHttps = ({ origin, forwarded, ...headers }: IncomingHttpHeaders): boolean =>
	/^https:/i.test(origin ?? "") ||
	/^https\b/i.test(String(headers["x-forwarded-proto"] ?? "")) ||
	/^[^,]*\bproto="?https\b/i.test(forwarded ?? "");

/**
 * Requires the token for all routes that are added later: as `Authorization: Bearer`, or as the cookie that
 * the form at /sign-in sets. `endDelays` answers the delayed requests with wrong tokens at once.
 */
export function requireToken(
	hono: Hono<Bindings>,
	token: string,
	limits: Limits,
	pause: Pause | undefined,
): { endDelays(): void } {
	const throttle = tokenThrottle(limits, { pause });
	const ending = new AbortController();
	const cookieValue = newToken();

	/** Delays the response to a wrong token, unless the service or the client ends first. */
	async function delay({ env: { incoming, outgoing } }: RequestContext): Promise<void> {
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
	}

	const refused = (problem: string) =>
		new Refusal(
			401,
			`${problem}: send it as \`Authorization: Bearer TOKEN\`, or open /sign-in in a browser`,
		);
	const refuseWrong = async (context: RequestContext): Promise<never> => {
		await delay(context);
		throw refused("that is not the token");
	};
	const bearer: MiddlewareHandler<Bindings> = bearerAuth({
		token,
		noAuthenticationHeader: {
			message: () => {
				throw refused("a token is needed");
			},
		},
		invalidAuthenticationHeader: { message: refuseWrong },
		invalidToken: { message: refuseWrong },
	});

	hono.get("/sign-in", (context) => context.html(signInPage(false)));
	hono.post(
		"/sign-in",
		bodyLimit({
			maxSize: limits.signInBytes,
			onError: () => {
				throw new Refusal(
					413,
					`the request is larger than ${thousands(limits.signInBytes)} bytes; send the token alone`,
				);
			},
		}),
		async (context) => {
			const { token: sent } = await context.req.parseBody();
			if (typeof sent !== "string" || !(await timingSafeEqual(sent, token))) {
				await delay(context);
				return context.html(signInPage(true), 401);
			}
			// Lax: links on other pages open the explorer if the user is signed in.
			setCookie(context, cookieName, cookieValue, {
				httpOnly: true,
				sameSite: "Lax",
				secure: isHttps(context.env.incoming.headers),
			});
			return context.redirect(context.req.query("for") === "api" ? "/api" : "/", 303);
		},
	);
	hono.use(async (context, next) => {
		const { method, path } = context.req;
		const cookie = getCookie(context, cookieName);
		if (cookie !== undefined && (await timingSafeEqual(cookie, cookieValue))) return next();
		if (method === "GET" && context.req.header("Authorization") === undefined) {
			if (path === "/") return context.redirect("/sign-in", 303);
			if (path === "/api") return context.redirect("/sign-in?for=api", 303);
		}
		return bearer(context, next);
	});
	return { endDelays: () => ending.abort() };
}

/**
 * A form for the token, without scripts. It has no `action`: it posts to its own URL and keeps the
 * fragment of the link, which redirects preserve. With `no-referrer`, browsers would send no Origin,
 * which shows whether the page was opened by https.
 */
const signInPage = (isWrong: boolean) => html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="same-origin">
<title>trajgpt: token</title>
<h1>trajgpt</h1>
<p>${isWrong ? "That is not the token. " : ""}Enter the token that was printed when this service was started.</p>
<form method="post">
<label>Token <input type="password" name="token" autocomplete="off" required></label>
<button>Open</button>
</form>
</html>
`;

type ThrottleLimits = Pick<
	Limits,
	"wrongTokenMs" | "wrongTokenMostMs" | "wrongTokenAddresses" | "wrongTokensWaiting"
>;

/** Resolves after `ms`, or rejects when the signal is aborted. */
export type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>;

const timerPause: Pause = (ms, signal) => after(ms, undefined, { signal });
const forgottenAfterMs = 15 * 60_000;

/**
 * Delays the responses to wrong tokens, longer each time. A correct token never waits: behind a proxy,
 * all clients share one address, and none should suffer from the others' mistakes.
 */
export function tokenThrottle(
	{ wrongTokenMs, wrongTokenMostMs, wrongTokenAddresses, wrongTokensWaiting }: ThrottleLimits,
	{
		pause = timerPause,
		clock = () => performance.now(),
	}: { readonly pause?: Pause | undefined; readonly clock?: () => number } = {},
) {
	/** In order of the latest wrong token, oldest first. */
	const counts = new Map<string, { readonly count: number; readonly countedAt: number }>();
	let waiting = 0;

	function countOf(address: string): number {
		const now = clock();
		for (const [known, { countedAt }] of counts) {
			if (now - countedAt <= forgottenAfterMs) break;
			counts.delete(known);
		}
		const count = (counts.get(address)?.count ?? 0) + 1;
		counts.delete(address);
		counts.set(address, { count, countedAt: now });
		if (counts.size > wrongTokenAddresses) counts.delete(counts.keys().next().value as string);
		return count;
	}

	return {
		get addresses() {
			return counts.size;
		},
		/** Counts a wrong token of this address, and resolves after its delay. */
		async wait(address: string, signal: AbortSignal): Promise<void> {
			const ms = Math.min(wrongTokenMs * 2 ** (countOf(address) - 1), wrongTokenMostMs);
			if (waiting >= wrongTokensWaiting)
				throw new Refusal(
					429,
					`too many wrong tokens; expected the token printed at the start of the service: try again in ${Math.ceil(ms / 1000)} s`,
					{ retry: Math.ceil(ms / 1000) },
				);
			waiting++;
			try {
				await pause(ms, signal);
			} finally {
				waiting--;
			}
		},
	};
}
