import { Agent, request } from "node:http";
import { random } from "../../base/random.js";
import { vocabularyOf } from "../../cohort/vocabulary.js";
import { weightCount } from "../../models/index.js";
import { trajgpt } from "../../models/trajgpt/index.js";
import { noLog, type Served } from "../../server/index.js";
import type { ServeBenchOptions } from "../bench.js";
import { presetNamed } from "../bench.js";
import type { Io } from "../io.js";
import { engineFor, listen, type Serving } from "../serve/serving.js";
import { median } from "./step.js";
import { randomHistory } from "./trajectories.js";

interface Spread {
	readonly p50Ms: number;
	readonly p99Ms: number;
}

export interface ServeReport extends Spread {
	readonly preset: string;
	readonly threads: number;
	readonly parameters: number;
	readonly clients: number;
	readonly events: number;
	readonly requests: number;
	readonly requestsPerSecond: number;
	/** Of the whole process, clients included: what other programs do to the clock they do not do to this. */
	readonly cpuMsPerRequest: number;
	/** Requests that one pass of the model took, on average. */
	readonly together: number;
	/** The same histories asked of the model itself, without a service. */
	readonly bare: { readonly perSecond: number; readonly ratio: number };
	/** One further event and one question of a session, after so many events. */
	readonly session: readonly ({ readonly events: number } & Spread)[];
	readonly rssBytes: number;
	/** Of the process, from the first of the timed requests to the last. */
	readonly rssGrowthBytes: number;
}

const unitDays = 30;

/** A model that has learned nothing, with codes c5, c6 … */
function untrained({ preset, vocab }: ServeBenchOptions): Served {
	const config = trajgpt.config.parse({ ...presetNamed(trajgpt, preset), vocab, unitDays });
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
		timeUnit: { name: "month", days: unitDays },
		source: { axis: "days" },
	} as unknown as Served["manifest"];
	return {
		...{ model: trajgpt as unknown as Served["model"], config, weights, manifest, vocabulary },
		...{ step: 0, versions: {}, map: undefined },
	};
}

export async function benchServe(io: Io, options: ServeBenchOptions): Promise<ServeReport> {
	const { threads, clients, requests, events, vocab, preset } = options;
	const served = untrained(options);
	const histories = Array.from({ length: Math.max(clients, 16) }, (_, i) =>
		randomHistory(events, vocab, random(i)),
	);
	const bodies = histories.map(({ tokens, times }) => ({
		patient: {
			events: Array.from(tokens, (token, i) => ({
				code: `c${token}`,
				date: (times[i] as number) * unitDays,
			})),
		},
		at: ["+1y"],
	}));
	io.stderr.write("asking the model itself\n");
	const bare = await bareSpeed(served, histories, threads);
	const service = await listen(served, {
		...{ host: "127.0.0.1", port: 0, threads, files: new Map(), log: noLog },
	});
	const post = poster(service, clients);
	const forecast = (i: number) => post("forecast", bodies[i % bodies.length]);
	try {
		io.stderr.write("compiling\n");
		// Until every thread has met every shape that comes.
		await drive(clients, clients * threads * 6, forecast);
		await drive(1, threads * 2, forecast);
		const before = service.turns.counts;
		const [turns, calls] = [before.turns, before.calls];
		const rss = process.memoryUsage().rss;
		const cpu = process.cpuUsage();
		io.stderr.write(`${requests} requests of ${clients} clients\n`);
		const { latencies, seconds } = await drive(clients, requests, forecast);
		const { user, system } = process.cpuUsage(cpu);
		const cpuMsPerRequest = (user + system) / 1000 / requests;
		const rssBytes = process.memoryUsage().rss;
		const after = service.turns.counts;
		const together = (after.calls - calls) / (after.turns - turns);
		io.stderr.write("sessions\n");
		const session = [];
		for (const past of [50, options.sessionEvents])
			session.push({
				events: past,
				...(await sessionSpeed(post, randomHistory(past, vocab, random(past)))),
			});
		const requestsPerSecond = requests / seconds;
		return {
			...{ preset, threads, clients, events, requests, requestsPerSecond, together, session },
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

function spread(latencies: readonly number[]): Spread {
	const sorted = [...latencies].sort((a, b) => a - b);
	const p99 = sorted[Math.min(sorted.length - 1, Math.ceil(0.99 * sorted.length) - 1)];
	return { p50Ms: median(sorted), p99Ms: p99 as number };
}

/** Histories a second, two a call, as many calls at once as there are threads. */
async function bareSpeed(
	{ model, config, weights }: Served,
	histories: readonly ReturnType<typeof randomHistory>[],
	threads: number,
): Promise<number> {
	const engine = engineFor({ model: model.id, config, weights }, threads);
	const size = 2;
	const some = histories.slice(0, size);
	const asked = some.map(({ times }) => [(times.at(-1) as number) + 12]);
	const { predictor } = engine;
	const pass = async () => {
		await predictor.along(predictor.start(size), some, asked);
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

/** So many workers, each with the next thing to do as soon as it has done one. */
async function drive(workers: number, count: number, work: (i: number) => Promise<unknown>) {
	const latencies: number[] = [];
	let next = 0;
	const started = performance.now();
	await Promise.all(
		Array.from({ length: workers }, async () => {
			while (next < count) {
				const i = next++;
				const from = performance.now();
				await work(i);
				latencies.push(performance.now() - from);
			}
		}),
	);
	return { latencies, seconds: (performance.now() - started) / 1000 };
}

type Post = (path: string, body: unknown) => Promise<Record<string, unknown>>;

/** Over sockets that stay open, one a client. */
function poster({ port }: Serving, clients: number): Post {
	const agent = new Agent({ keepAlive: true, maxSockets: clients });
	return (path, body) =>
		new Promise((resolve, reject) => {
			const text = JSON.stringify(body);
			const headers = {
				"Content-Type": "application/json",
				"Content-Length": Buffer.byteLength(text),
			};
			const options = { agent, port, host: "127.0.0.1", method: "POST", headers };
			const sent = request({ ...options, path: `/api/v1/${path}` }, async (response) => {
				try {
					const chunks: Buffer[] = [];
					for await (const chunk of response) chunks.push(chunk as Buffer);
					const answer = Buffer.concat(chunks).toString();
					if ((response.statusCode ?? 500) < 300) resolve(JSON.parse(answer));
					else reject(new Error(`${path} was answered with ${response.statusCode}: ${answer}`));
				} catch (error) {
					reject(error);
				}
			});
			sent.on("error", reject);
			sent.end(text);
		});
}

const sessionRepeats = 40;

/** A session that hears of one event at a time, and is asked once after each. */
async function sessionSpeed(post: Post, history: ReturnType<typeof randomHistory>) {
	const dated = Array.from(history.tokens, (token, i) => ({
		code: `c${token}`,
		date: (history.times[i] as number) * unitDays,
	}));
	const { id } = await post("sessions", { patient: { events: dated } });
	const last = dated.at(-1)?.date ?? 0;
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

export function renderServe(report: ServeReport): string {
	const ms = ({ p50Ms, p99Ms }: Spread) => `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
	const megabytes = (bytes: number) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
	const lines = [
		`${report.preset}, ${report.threads} ${report.threads === 1 ? "thread" : "threads"}, ${report.clients} clients, histories of ${report.events} events sent whole`,
		`${report.requestsPerSecond.toFixed(1)} forecasts/s over ${report.requests} requests, ${ms(report)}`,
		`  ${report.cpuMsPerRequest.toFixed(1)} ms of CPU a request, clients included: up to ${((1000 * report.threads) / report.cpuMsPerRequest).toFixed(1)}/s where nothing else runs`,
		`  ${report.together.toFixed(1)} requests a pass; ${report.bare.ratio.toFixed(2)} of what the model does without a service (${report.bare.perSecond.toFixed(1)} histories/s)`,
		...report.session.map(
			(own) =>
				`one further event and one question of a session after ${own.events.toLocaleString("en-US")} events: ${ms(own)}`,
		),
		`memory ${megabytes(report.rssBytes)}, ${report.rssGrowthBytes < 0 ? "-" : "+"}${megabytes(Math.abs(report.rssGrowthBytes))} during the requests`,
	];
	return `${lines.join("\n")}\n`;
}
