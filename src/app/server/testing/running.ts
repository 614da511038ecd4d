import { onTestFinished } from "vitest";
import type { Engine } from "../engine/engine.js";
import { localEngine } from "../engine/local-engine.js";
import { jsonLog } from "../http/log.js";
import { gate } from "../http/token.js";
import { defaultLimits, type Limits } from "../limits.js";
import { type ServiceOptions, startService } from "../service.js";
import { partsOf, smallServed } from "./small-served.js";

/** Parses the body of a response. */
export const jsonIn = async (response: Response) => JSON.parse(await response.text());

interface Given extends Partial<Omit<ServiceOptions, "limits" | "gate" | "log">> {
	readonly limits?: Partial<Limits>;
	readonly token?: string;
	/** Replaces the engine. */
	wrap?(engine: Engine): Engine;
}

/** Holds back forecasts between `hold` and `release`. */
export function gatekeeper() {
	let release = () => {};
	let open: Promise<void> = Promise.resolve();
	return {
		hold() {
			open = new Promise((resolve) => {
				release = resolve;
			});
		},
		release: () => release(),
		wrap: (engine: Engine): Engine => ({
			...engine,
			forecast: async (query) => {
				await open;
				return engine.forecast(query);
			},
		}),
	};
}

/** A service on a free port that ends with the test; its log is collected. */
export async function running({ limits, token, wrap, ...given }: Given = {}) {
	const served = given.served ?? smallServed();
	const own = localEngine(partsOf(served));
	const logged: string[] = [];
	const service = await startService({
		...{ host: "127.0.0.1", ports: [0], files: new Map(), version: "0.0.0" },
		...given,
		served,
		engine: wrap?.(own) ?? own,
		// Tests do not wait for idle clients, nor for the delays of wrong tokens.
		limits: { ...defaultLimits, closeIdleMs: 0, ...limits },
		pause: given.pause ?? (async () => {}),
		log: jsonLog({ write: (text) => logged.push(text) }),
		gate: token === undefined ? undefined : gate(token),
	});
	onTestFinished(() => service.close());
	const url = `http://127.0.0.1:${service.port}`;
	return {
		...{ served, service, url, logged, predictor: own.predictor },
		get: (path: string, headers: Record<string, string> = {}) =>
			fetch(url + path, { headers, redirect: "manual" }),
		async post(path: string, body: unknown, headers: Record<string, string> = {}) {
			const response = await fetch(`${url}/api/v2${path}`, {
				method: "POST",
				headers: { "Content-Type": "application/json", ...headers },
				body: typeof body === "string" ? body : JSON.stringify(body),
			});
			const text = await response.text();
			return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
		},
	};
}
