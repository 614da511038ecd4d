import { Agent, request } from "node:http";
import { presetOf } from "../dist/app/commands/pretrain.js";
import { engineFor, listen } from "../dist/app/commands/serve.js";
import { noLog } from "../dist/app/server/index.js";
import { random } from "../dist/base/random.js";
import { thousands } from "../dist/base/thousands.js";
import { vocabularyOf } from "../dist/data/cohort/vocabulary.js";
import { hazardSettings } from "../dist/model/hazards/settings.js";
import { weightCount } from "../dist/model/index.js";
import { trajgpt } from "../dist/model/trajgpt/index.js";
import * as bench from "./shared.mjs";

/** A model that has learned nothing, with codes c5, c6 … */
function untrained({ preset, vocab }) {
	const config = trajgpt.config.parse({
		...presetOf(trajgpt, preset),
		vocab,
		hazards: hazardSettings.parse({}),
	});
	const weights = trajgpt.init(config, random(1));
	const vocabulary = vocabularyOf(
		Array.from({ length: vocab - 5 }, (_, i) => ({
			kind: "diagnosis",
			system: "bench",
			category: null,
			count: 1,
			code: `c${i + 5}`,
			name: `code ${i + 5}`,
		})),
	);
	const manifest = {
		codes: { map: null, level: null },
		filters: { dedup: "none", keep: "last", maxRecords: null },
		source: { axis: "days" },
	};
	const versions = {};
	return {
		model: trajgpt,
		config,
		weights,
		manifest,
		vocabulary,
		versions,
		step: 0,
		map: undefined,
	};
}

async function measure(io, options) {
	const { threads, clients, requests, events, vocab, preset } = options;
	const served = untrained(options);
	const histories = Array.from({ length: Math.max(clients, 16) }, (_, i) =>
		bench.randomHistory(events, vocab, i),
	);
	const bodies = histories.map((history) => ({ patient: patientWith(history), at: ["+1y"] }));
	io.stderr.write("timing the model without the service\n");
	const bare = await bareSpeed(served, histories, threads);
	const service = await listen(served, {
		host: "127.0.0.1",
		port: 0,
		threads,
		files: new Map(),
		log: noLog,
	});
	const connections = Array.from({ length: clients }, () => poster(service));
	const [post] = connections;
	const forecast = (i, client) =>
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
			session.push({ events: past, ...(await sessionSpeed(post, { events: past, vocab })) });
		const underLoad = await timeUnderLoads(io, service, options);
		const requestsPerSecond = requests / seconds;
		return {
			preset,
			threads,
			clients,
			events,
			requests,
			requestsPerSecond,
			session,
			underLoad,
			cpuMsPerRequest,
			parameters: weightCount(served.weights),
			...spread(latencies),
			bare: { perSecond: bare, ratio: requestsPerSecond / bare },
			rssBytes,
			rssGrowthBytes: rssBytes - rss,
		};
	} finally {
		await service.close();
	}
}

const patientWith = ({ tokens, times }) => ({
	events: Array.from(tokens, (token, i) => ({ code: `c${token}`, date: times[i] })),
});

const randomPatient = ({ events, vocab }, seed) =>
	patientWith(bench.randomHistory(events, vocab, seed));

function spread(latencies) {
	const sorted = [...latencies].sort((a, b) => a - b);
	const p99 = sorted[Math.min(sorted.length - 1, Math.ceil(0.99 * sorted.length) - 1)];
	return { p50Ms: bench.median(sorted), p99Ms: p99 };
}

async function bareSpeed(served, histories, threads) {
	const engine = engineFor(served, threads);
	const pass = async (i) => {
		const history = histories[i % histories.length];
		const times = [history.times.at(-1) + 12];
		const query = { times, at: times, top: 10, birth: null, axis: "days" };
		await engine.forecast({ of: { history }, ...query });
	};
	try {
		await drive(threads, 2 * threads, pass);
		const calls = 16 * threads;
		const { seconds } = await drive(threads, calls, pass);
		return calls / seconds;
	} finally {
		await engine.dispose();
	}
}

/** Runs `count` calls of `work` on concurrent workers; each worker takes the next call as soon as it is free. */
async function drive(workers, count, work) {
	const latencies = [];
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

/** The service answered 503 because it is overloaded. */
class Refused extends Error {}

function poster({ port }) {
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	const send = (path, body, method = "POST") =>
		new Promise((resolve, reject) => {
			const text = body === undefined ? "" : JSON.stringify(body);
			const headers = {
				"Content-Type": "application/json",
				"Content-Length": Buffer.byteLength(text),
			};
			const options = { agent, port, host: "127.0.0.1", method, headers };
			const sent = request({ ...options, path: `/api/v2/${path}` }, async (response) => {
				try {
					const chunks = [];
					for await (const chunk of response) chunks.push(chunk);
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
			sent.on("error", (error) => {
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
async function sessionSpeed(post, size) {
	const patient = randomPatient(size, size.events);
	const { id } = await post("sessions", { patient });
	const last = patient.events.at(-1)?.date ?? 0;
	const latencies = [];
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
const loads = {
	none: async () => {},
	forecast: (post, size, seed) =>
		post("forecast", { patient: randomPatient(size, seed), at: ["+1y"] }),
	"other sizes": (post, { events, vocab }, seed) => {
		const draw = random(seed);
		const count = Math.max(1, Math.round(events * 4 ** (2 * draw.uniform() - 1)));
		return post("forecast", { patient: randomPatient({ events: count, vocab }, draw) });
	},
	embed: (post, size, seed) => post("embed", { patient: randomPatient(size, seed) }),
	session: async (post, size, seed) => {
		const patient = randomPatient(size, seed);
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
			patient: randomPatient({ events: Math.min(events, 256), vocab }, random(seed)),
			codes: ["c7"],
			at: "+1y",
			attribute: "+1y",
		}),
};

/** Maximum untimed forecasts of the timed client. */
const mostWarmUp = 10;

/** Times one client's forecasts while `clients` others send each kind of load. */
async function timeUnderLoads(io, service, options) {
	const timed = [];
	for (const load of Object.keys(loads)) {
		io.stderr.write(`timing one client while ${options.clients} others send load: ${load}\n`);
		timed.push({ load, ...(await timeUnderLoad(service, load, options)) });
	}
	const fair = timed.find(({ load }) => load === "forecast")?.p99Ms;
	return timed.map((timing) => ({ ...timing, p99Ratio: timing.p99Ms / fair }));
}

async function timeUnderLoad(service, load, options) {
	const isRefused = (error) => error instanceof Refused;
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
	const latencies = [];
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

export function render(report) {
	const ms = ({ p50Ms, p99Ms }) => `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
	const megabytes = (bytes) => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
	const lines = [
		`${report.preset}, ${report.threads} ${report.threads === 1 ? "thread" : "threads"}, ${report.clients} clients, histories of ${report.events} events sent whole`,
		`${report.requestsPerSecond.toFixed(1)} forecasts/s over ${report.requests} requests, ${ms(report)}`,
		`  ${report.cpuMsPerRequest.toFixed(1)} ms of CPU per request, clients included: up to ${((1000 * report.threads) / report.cpuMsPerRequest).toFixed(1)}/s where nothing else runs`,
		`  ${report.bare.ratio.toFixed(2)} of what the model does without a service (${report.bare.perSecond.toFixed(1)} histories/s)`,
		...report.session.map(
			(timing) =>
				`one further event and one question of a session after ${thousands(timing.events)} events: ${ms(timing)}`,
		),
		`one client that sends ${report.underLoad[0]?.requests} forecasts beside ${report.clients} others, by what the others send:`,
		...report.underLoad.map(
			({ load, refused, p99Ratio, ...timing }) =>
				`  ${load.padEnd(12)} ${ms(timing)}, ${p99Ratio.toFixed(2)} of the p99 beside forecasts${refused > 0 ? `; ${refused} refused` : ""}`,
		),
		`memory ${megabytes(report.rssBytes)}, ${report.rssGrowthBytes < 0 ? "-" : "+"}${megabytes(Math.abs(report.rssGrowthBytes))} during the requests`,
	];
	return `${lines.join("\n")}\n`;
}

export const command = bench.benchmark({
	name: "serve",
	description:
		"Start the service with random weights and load it over loopback: clients that send whole\n" +
		"histories, each request as soon as the last is answered, and a session that receives one\n" +
		"event at a time. The same histories are also given to the model directly. Then measure the\n" +
		"latency of one more client that sends forecasts, while the others send forecasts of the\n" +
		"same size, forecasts of other sizes, embeddings, sessions or attributions.",
	options: {
		preset: bench.presetField("paper"),
		threads: bench.threadsField("predictions computed at the same time"),
		clients: bench.countField("number of concurrent clients", 8, 10_000),
		requests: bench.countField("requests to time", 800, 10_000_000),
		events: bench.countField("events per history", 112, 100_000),
		sessionEvents: bench.countField("events of the longer session", 1000, 100_000),
		underLoad: bench.countField("forecasts to time under each load", 100),
		vocab: bench.vocabField(241),
	},
	examples: {
		"node bench/main.mjs serve": "the paper's model, 8 clients",
		"node bench/main.mjs serve --clients 64 --json": "more clients",
	},
	measure,
	render,
});
