import { random } from "../../base/random.js";
import { trajgpt } from "../../models/trajgpt/index.js";
import { predictor } from "../../models/trajgpt/state.js";
import { nodeRuntime } from "../../runtime/node.js";
import { type InferOptions, presetNamed } from "../bench.js";
import type { Io } from "../io.js";
import { median } from "./step.js";

interface Latency {
	readonly events: number;
	readonly p50Ms: number;
}

export interface InferReport {
	readonly engine: string;
	readonly preset: string;
	readonly threads: number;
	readonly parameters: number;
	/** One observe and one ask for one patient, after so many events. */
	readonly answers: readonly Latency[];
	/** p50 after the most events over p50 after the fewest. */
	readonly growth: number;
	readonly patients: number;
	readonly eventsPerPatient: number;
	readonly patientsPerSecond: number;
}

const vocab = 200;
const eventsPerPatient = 112;

function history(events: number, seed: number) {
	const draw = random(seed);
	let time = 0;
	const tokens = Int32Array.from({ length: events }, () => 5 + draw.integer(vocab - 5));
	const times = Float64Array.from(tokens, () => {
		time += draw.uniform();
		return time;
	});
	return { tokens, times };
}

export async function benchInfer(io: Io, options: InferOptions): Promise<InferReport> {
	const { threads, repeats, patients } = options;
	const pasts = [50, options.events];
	const config = trajgpt.config.parse({ ...presetNamed(options.preset), vocab });
	const weights = trajgpt.init(config, random(1));
	const runtime = nodeRuntime({ threads, provider: options.provider, purpose: "inference" });
	const model = predictor(runtime, config, weights);
	try {
		const starts = [];
		for (const events of pasts) {
			io.stderr.write(`observing ${events} events\n`);
			starts.push(await model.observe(model.start(1), [history(events, events)]));
		}
		const seconds = pasts.map(() => [] as number[]);
		// The pasts take turns, so that what disturbs one disturbs the other.
		const states = [...starts];
		for (let i = -5; i < repeats; i++) {
			for (const [at, past] of states.entries()) {
				const time = (past.times[0] as number) + 0.5;
				const started = performance.now();
				const { state } = await model.advance(past, [{ tokens: [5], times: [time] }], [[time + 1]]);
				if (i >= 0) seconds[at]?.push(performance.now() - started);
				states[at] = state;
			}
		}
		io.stderr.write(`scoring ${patients} patients\n`);
		const histories = Array.from({ length: patients }, (_, i) => history(eventsPerPatient, i));
		const asked = histories.map(({ times }) => [(times.at(-1) as number) + 1]);
		await model.score(histories.slice(0, 32), asked.slice(0, 32));
		await model.score(histories.slice(0, patients % 32), asked.slice(0, patients % 32));
		const started = performance.now();
		await model.score(histories, asked);
		const total = (performance.now() - started) / 1000;
		const answers = pasts.map((events, i) => ({ events, p50Ms: median(seconds[i] ?? []) }));
		return {
			engine: runtime.label,
			preset: options.preset,
			threads,
			parameters: [...weights.values()].reduce((n, { data }) => n + data.length, 0),
			answers,
			growth: (answers.at(-1)?.p50Ms ?? 0) / (answers[0]?.p50Ms ?? 1),
			patients,
			eventsPerPatient,
			patientsPerSecond: patients / total,
		};
	} finally {
		await model.dispose();
	}
}

export function renderInfer(report: InferReport): string {
	const lines = [
		`${report.preset}, ${report.engine}`,
		...report.answers.map(
			({ events, p50Ms }) =>
				`observe + ask for one patient after ${events.toLocaleString("en-US")} events: ${p50Ms.toFixed(2)} ms (median)`,
		),
		`${report.patientsPerSecond.toFixed(0)} patients/s with ${report.eventsPerPatient} events each`,
	];
	return `${lines.join("\n")}\n`;
}
