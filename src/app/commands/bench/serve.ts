import { Agent, request } from "node:http";
import { random } from "../../../base/random.js";
import { thousands } from "../../../base/thousands.js";
import { vocabularyOf } from "../../../data/cohort/vocabulary.js";
import { hazardSettings } from "../../../model/hazards/settings.js";
import { weightCount } from "../../../model/index.js";
import { trajgpt } from "../../../model/trajgpt/index.js";
import { noLog, type ServedModel } from "../../server/index.js";
import { presetOf } from "../../workflows/pretrain.js";
import { engineFor, listen, type Serving } from "../../workflows/serve.js";
import type { Io } from "../io.js";
import type { ServeBenchOptions } from "./commands/serve.js";
import { median } from "./step.js";
import { randomHistory } from "./trajectories.js";

interface Spread {
	readonly p50Ms: number;
	readonly p99Ms: number;
}

/** The requests of the other clients, each sent as soon as the last is answered. */
export type Load = "none" | "forecast" | "other sizes" | "embed" | "session" | "attribution";

export interface ClientUnderLoad extends Spread {
	readonly load: Load;
	/** Forecasts sent by the timed client; `refused` counts those that were refused. */
	readonly requests: number;
	readonly refused: number;
	/** p99 divided by the p99 while the others send forecasts of the same size. */
	readonly p99Ratio: number;
}

export interface ServeReport extends Spread {
	readonly preset: string;
	readonly threads: number;
	readonly parameters: number;
	readonly clients: number;
	readonly events: number;
	readonly requests: number;
	readonly requestsPerSecond: number;
	/** CPU time of the whole process, clients included. Other programs do not affect it, unlike the clock. */
	readonly cpuMsPerRequest: number;
	/** The same histories given to the model directly, without a service. */
	readonly bare: { readonly perSecond: number; readonly ratio: number };
	/** Latency of one client that sends forecasts one by one while others load the service. */
	readonly underLoad: readonly ClientUnderLoad[];
	/** Latency of one more event and one query in a session, after `events` events. */
	readonly session: readonly ({ readonly events: number } & Spread)[];
	readonly rssBytes: number;
	/** Growth of the process from the first timed request to the last. */
	readonly rssGrowthBytes: number;
}

/** A model that has learned nothing, with codes c5, c6 … */
function untrained({ preset, vocab }: ServeBenchOptions): ServedModel {
	const config = trajgpt.config.parse({
		...{ ...presetOf(trajgpt, preset), vocab, hazards: hazardSettings.parse({}) },
	});
	const weights = trajgpt.init(config, random(1));
	const vocabulary = vocabularyOf(
		Array.from({ length: vocab - 5 }, (_, i) => ({
			...{ kind: "diagnosis" as const, system: "bench", category: null, count: 1 },
			...{ code: `c${i + 5}`, name: `code ${i + 5}` },
		})),
	);
	const manifest = {
		codes: { map: null, level: null },
		filters: { dedup: "none", keep: "last", maxRecords: null },
		source: { axis: "days" },
	} as unknown as ServedModel["manifest"];
	return {
		...{ model: trajgpt as unknown as ServedModel["model"], config, weights, manifest, vocabulary },
		...{ step: 0, versions: {}, map: undefined },
	};
}

export async function benchServe(io: Io, options: ServeBenchOptions): Promise<ServeReport> {
	const { threads, clients, requests, events, vocab, preset } = options;
	const served = untrained(options);
	const histories = Array.from({ length: Math.max(clients, 16) }, (_, i) =>
		randomHistory(events, vocab, random(i)),
	);
	const bodies = histories.map((history) => ({ patient: patientWith(history), at: ["+1y"] }));
	io.stderr.write("timing the model without the service\n");
	const bare = await bareSpeed(served, histories, threads);
	const service = await listen(served, {
		...{ host: "127.0.0.1", port: 0, threads, files: new Map(), log: noLog },
	});
	const connections = Array.from({ length: clients }, () => poster(service));
	const [post] = connections as [Post];
	const forecast = (i: number, client: number) =>
		(connections[client] ?? post)("forecast", bodies[i % bodies.length]);
	try {
		io.stderr.write("compiling\n");
		// Until every thread has compiled every shape.
		await drive(clients, clients * threads * 6, forecast);
		await drive(1, threads * 2, forecast);
		const rss = process.memoryUsage().rss;
		const cpu = process.cpuUsage();
		io.stderr.write(`sending ${requests} requests from ${clients} clients\n`);
		const { latencies, seconds } = await drive(clients, requests, forecast);
		const { user, system } = process.cpuUsage(cpu);
		const cpuMsPerRequest = (user + system) / 1000 / requests;
		const rssBytes = process.memoryUsage().rss;
		io.stderr.write("timing sessions\n");
		const session = [];
		for (const past of [50, options.sessionEvents])
			session.push({
				events: past,
				...(await sessionSpeed(post, randomHistory(past, vocab, random(past)))),
			});
		const underLoad = await timeUnderLoads(io, service, options);
		const requestsPerSecond = requests / seconds;
		return {
			...{ preset, threads, clients, events, requests, requestsPerSecond },
			...{ session, underLoad },
			cpuMsPerRequest,
			parameters: weightCount(served.weights),
			...spread(latencies),
			bare: { perSecond: bare, ratio: requestsPerSecond / bare },
			...{ rssBytes, rssGrowthBytes: rssBytes - rss },
		};
	} finally {
		await service.close();
	}
}

type History = ReturnType<typeof randomHistory>;

const patientWith = ({ tokens, times }: History) => ({
	events: Array.from(tokens, (token, i) => ({
		code: `c${token}`,
		date: times[i] as number,
	})),
});

function spread(latencies: readonly number[]): Spread {
	const sorted = [...latencies].sort((a, b) => a - b);
	const p99 = sorted[Math.min(sorted.length - 1, Math.ceil(0.99 * sorted.length) - 1)];
	return { p50Ms: median(sorted), p99Ms: p99 as number };
}

/** Histories per second, two per call, with one concurrent call per thread. */
async function bareSpeed(
	served: ServedModel,
	histories: readonly History[],
	threads: number,
): Promise<number> {
	const engine = engineFor(served, threads);
	const size = 2;
	const some = histories.slice(0, size);
	const queryTimes = some.map(({ times }) => [(times.at(-1) as number) + 12]);
	const { predictor } = engine;
	const pass = async () => {
		await predictor.queryWithin(predictor.start(size), some, queryTimes);
	};
	try {
		await drive(threads, 2 * threads, pass);
		const calls = 8 * threads;
		const { seconds } = await drive(threads, calls, pass);
		return (calls * size) / seconds;
	} finally {
		await engine.dispose();
	}
}

/** Runs `count` calls of `work` on concurrent workers; each worker takes the next call as soon as it is free. */
async function drive(
	workers: number,
	count: number,
	work: (i: number, worker: number) => Promise<unknown>,
) {
	const latencies: number[] = [];
	let next = 0;
	const started = performance.now();
	await Promise.all(
		Array.from({ length: workers }, async (_, worker) => {
			while (next < count) {
				const i = next++;
				const from = performance.now();
				await work(i, worker);
				latencies.push(performance.now() - from);
			}
		}),
	);
	return { latencies, seconds: (performance.now() - started) / 1000 };
}

type Post = (
	path: string,
	body: unknown,
	method?: "POST" | "DELETE",
) => Promise<Record<string, unknown>>;

/** The service answered 503 because it is overloaded. */
class Refused extends Error {}

/** A client with one persistent connection. */
function poster({ port }: Pick<Serving, "port">): Post {
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	const send: Post = (path, body, method = "POST") =>
		new Promise((resolve, reject) => {
			const text = body === undefined ? "" : JSON.stringify(body);
			const headers = {
				"Content-Type": "application/json",
				"Content-Length": Buffer.byteLength(text),
			};
			const options = { agent, port, host: "127.0.0.1", method, headers };
			const sent = request({ ...options, path: `/api/v2/${path}` }, async (response) => {
				try {
					const chunks: Buffer[] = [];
					for await (const chunk of response) chunks.push(chunk as Buffer);
					const answer = Buffer.concat(chunks).toString();
					const { statusCode: status = 500 } = response;
					if (status < 300) resolve(answer === "" ? {} : JSON.parse(answer));
					else {
						const problem = `${path} was answered with ${status}: ${answer}`;
						reject(status === 503 ? new Refused(problem) : new Error(problem));
					}
				} catch (error) {
					reject(error);
				}
			});
			sent.on("error", (error: NodeJS.ErrnoException) => {
				// The service closed the idle connection before it read the request.
				if (error.code === "ECONNRESET" && sent.reusedSocket)
					send(path, body, method).then(resolve, reject);
				else reject(error);
			});
			sent.end(text);
		});
	return send;
}

const sessionRepeats = 40;

/** Times a session that receives one event at a time, with one query after each. */
async function sessionSpeed(post: Post, history: History) {
	const patient = patientWith(history);
	const { id } = await post("sessions", { patient });
	const last = patient.events.at(-1)?.date ?? 0;
	const latencies: number[] = [];
	for (let i = -10; i < sessionRepeats; i++) {
		const from = performance.now();
		const events = [{ code: "c7", date: last + 20 + i }];
		await post(`sessions/${id}/events`, { events });
		await post(`sessions/${id}/forecast`, { at: ["+1y"] });
		if (i >= 0) latencies.push(performance.now() - from);
	}
	return spread(latencies);
}

/**
 * Sends one request of each kind of load, for histories of `events` events. "Other sizes" vary from a quarter of
 * that to four times that.
 */
const loads: Readonly<
	Record<Load, (post: Post, options: ServeBenchOptions, seed: number) => Promise<unknown>>
> = {
	none: async () => {},
	forecast: (post, { events, vocab }, seed) =>
		post("forecast", {
			patient: patientWith(randomHistory(events, vocab, random(seed))),
			at: ["+1y"],
		}),
	"other sizes": (post, { events, vocab }, seed) => {
		const draw = random(seed);
		const size = Math.max(1, Math.round(events * 4 ** (2 * draw.uniform() - 1)));
		return post("forecast", { patient: patientWith(randomHistory(size, vocab, draw)) });
	},
	embed: (post, { events, vocab }, seed) =>
		post("embed", { patient: patientWith(randomHistory(events, vocab, random(seed))) }),
	session: async (post, { events, vocab }, seed) => {
		const patient = patientWith(randomHistory(events, vocab, random(seed)));
		const { id } = await post("sessions", { patient });
		const last = patient.events.at(-1)?.date ?? 0;
		for (let day = 1; day <= 10; day++) {
			await post(`sessions/${id}/events`, { events: [{ code: "c7", date: last + day }] });
			await post(`sessions/${id}/forecast`, { at: ["+1y"] });
		}
		await post(`sessions/${id}`, undefined, "DELETE");
	},
	attribution: (post, { events, vocab }, seed) =>
		post("risk", {
			patient: patientWith(randomHistory(Math.min(events, 256), vocab, random(seed))),
			...{ codes: ["c7"], at: "+1y", attribute: "+1y" },
		}),
};

/** Maximum untimed forecasts of the timed client. */
const mostWarmUp = 10;

/** Times one client's forecasts while `clients` others send each kind of load. */
async function timeUnderLoads(
	io: Io,
	service: Pick<Serving, "port">,
	options: ServeBenchOptions,
): Promise<readonly ClientUnderLoad[]> {
	const timed: Omit<ClientUnderLoad, "p99Ratio">[] = [];
	for (const load of Object.keys(loads) as Load[]) {
		io.stderr.write(`timing one client while ${options.clients} others send load: ${load}\n`);
		timed.push({ load, ...(await timeUnderLoad(service, load, options)) });
	}
	const fair = timed.find(({ load }) => load === "forecast")?.p99Ms as number;
	return timed.map((own) => ({ ...own, p99Ratio: own.p99Ms / fair }));
}

async function timeUnderLoad(
	service: Pick<Serving, "port">,
	load: Load,
	options: ServeBenchOptions,
) {
	const isRefused = (error: unknown) => error instanceof Refused;
	let isOver = false;
	const count = load === "none" ? 0 : options.clients;
	const others = Promise.all(
		Array.from({ length: count }, async (_, other) => {
			const post = poster(service);
			for (let i = 0; !isOver; i++)
				await loads[load](post, options, other + 1000 * i).catch((error) => {
					if (!isRefused(error)) throw error;
				});
		}),
	);
	// Awaited below; this keeps an earlier failure from being an unhandled rejection.
	others.catch(() => {});
	const post = poster(service);
	const warmUp = Math.min(mostWarmUp, options.underLoad);
	const latencies: number[] = [];
	let refused = 0;
	try {
		for (let i = -warmUp; i < options.underLoad; i++) {
			const from = performance.now();
			const isAnswered = await loads.forecast(post, options, i + warmUp).then(
				() => true,
				(error) => {
					if (!isRefused(error)) throw error;
					return false;
				},
			);
			if (i < 0) continue;
			latencies.push(performance.now() - from);
			if (!isAnswered) refused++;
		}
	} finally {
		isOver = true;
		await others;
	}
	return { requests: latencies.length, refused, ...spread(latencies) };
}

export function renderServe(report: ServeReport): string {
	const ms = ({ p50Ms, p99Ms }: Spread) => `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
	const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
	const lines = [
		`${report.preset}, ${report.threads} ${report.threads === 1 ? "thread" : "threads"}, ${report.clients} clients, histories of ${report.events} events sent whole`,
		`${report.requestsPerSecond.toFixed(1)} forecasts/s over ${report.requests} requests, ${ms(report)}`,
		`  ${report.cpuMsPerRequest.toFixed(1)} ms of CPU per request, clients included: up to ${((1000 * report.threads) / report.cpuMsPerRequest).toFixed(1)}/s where nothing else runs`,
		`  ${report.bare.ratio.toFixed(2)} of what the model does without a service (${report.bare.perSecond.toFixed(1)} histories/s)`,
		...report.session.map(
			(own) =>
				`one further event and one question of a session after ${thousands(own.events)} events: ${ms(own)}`,
		),
		`one client that sends ${report.underLoad[0]?.requests} forecasts beside ${report.clients} others, by what the others send:`,
		...report.underLoad.map(
			({ load, refused, p99Ratio, ...own }) =>
				`  ${load.padEnd(12)} ${ms(own)}, ${p99Ratio.toFixed(2)} of the p99 beside forecasts${refused > 0 ? `; ${refused} refused` : ""}`,
		),
		`memory ${megabytes(report.rssBytes)}, ${report.rssGrowthBytes < 0 ? "-" : "+"}${megabytes(Math.abs(report.rssGrowthBytes))} during the requests`,
	];
	return `${lines.join("\n")}\n`;
}
