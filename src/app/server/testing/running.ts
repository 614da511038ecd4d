import { onTestFinished } from "vitest";
import { type Engine, localEngine } from "../engine/engine.js";
import { defaultLimits, type Limits } from "../limits.js";
import { jsonLog } from "../log.js";
import { type ServiceOptions, startService } from "../service.js";
import { partsOf, smallServed } from "./small-served.js";

/** Parses the body of a response. */
export const jsonIn = async (response: Response) => JSON.parse(await response.text());

interface RunningOptions extends Partial<Omit<ServiceOptions, "limits" | "log">> {
	readonly limits?: Partial<Limits>;
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
export async function running({ limits, wrap, ...options }: RunningOptions = {}) {
	const served = options.served ?? smallServed();
	const engine = localEngine(partsOf(served));
	const logged: string[] = [];
	const service = await startService({
		host: "127.0.0.1",
		ports: [0],
		files: new Map(),
		version: "0.0.0",
		...options,
		served,
		engine: wrap?.(engine) ?? engine,
		// Tests do not wait for idle clients, nor for the delays of wrong tokens.
		limits: { ...defaultLimits, closeIdleMs: 0, ...limits },
		pause: options.pause ?? (async () => {}),
		log: jsonLog({ write: (text) => logged.push(text) }),
	});
	onTestFinished(() => service.close());
	const url = `http://127.0.0.1:${service.port}`;
	return {
		served,
		service,
		url,
		logged,
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
