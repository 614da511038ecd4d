import { random } from "../../../base/random.js";
import { thousands } from "../../../base/thousands.js";
import { weightCount } from "../../../model/index.js";
import { trajgpt } from "../../../model/trajgpt/index.js";
import { predictor } from "../../../model/trajgpt/state.js";
import { openRuntime } from "../../workflows/open-runtime.js";
import { presetOf } from "../../workflows/pretrain.js";
import type { Io } from "../io.js";
import type { InferOptions } from "./commands/infer.js";
import { median } from "./step.js";
import {
	type AttributionReport,
	benchAttribution,
	benchTrajectories,
	type Peer,
	randomHistory,
	type TrajectoryReport,
} from "./trajectories.js";

interface Latency {
	readonly events: number;
	readonly p50Ms: number;
}

export interface InferReport {
	readonly engine: string;
	readonly preset: string;
	readonly threads: number;
	readonly parameters: number;
	/** One event and one query of one patient, after `events` events. */
	readonly answers: readonly Latency[];
	/** p50 after the most events over p50 after the fewest. */
	readonly growth: number;
	readonly patients: number;
	readonly eventsPerPatient: number;
	readonly patientsPerSecond: number;
	readonly trajectories: TrajectoryReport;
	readonly attribution: AttributionReport;
}

const eventsPerPatient = 112;

export async function benchInfer(io: Io, options: InferOptions): Promise<InferReport> {
	const { threads, repeats, patients, vocab } = options;
	const history = (events: number, seed: number) => randomHistory(events, vocab, random(seed));
	const pasts = [50, options.events];
	const config = trajgpt.config.parse({
		...presetOf(trajgpt, options.preset),
		vocab,
	});
	const weights = trajgpt.init(config, random(1));
	const runtime = await openRuntime(options, "inference");
	const model = predictor(runtime, config, weights);
	try {
		const starts = [];
		for (const events of pasts) {
			io.stderr.write(`observing ${events} events\n`);
			starts.push(await model.observe(model.start(1), [history(events, events)]));
		}
		const seconds = pasts.map(() => [] as number[]);
		// The two histories take turns, so that a disturbance affects both.
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
		const queryTimes = histories.map(({ times }) => [(times.at(-1) as number) + 1]);
		await model.score(histories.slice(0, 32), queryTimes.slice(0, 32));
		await model.score(histories.slice(0, patients % 32), queryTimes.slice(0, patients % 32));
		const started = performance.now();
		await model.score(histories, queryTimes);
		const total = (performance.now() - started) / 1000;
		io.stderr.write(
			`probabilities along ${options.trajectories} histories, and the same event by event\n`,
		);
		const trajectories = await benchTrajectories(model, vocab, options.trajectories);
		io.stderr.write(
			`attributing a probability to ${options.attributed} events, and to some by reading from the start\n`,
		);
		const attribution = await benchAttribution(model, vocab, options.attributed);
		const answers = pasts.map((events, i) => ({ events, p50Ms: median(seconds[i] ?? []) }));
		return {
			engine: runtime.label,
			preset: options.preset,
			threads,
			parameters: weightCount(weights),
			answers,
			growth: (answers.at(-1)?.p50Ms ?? 0) / (answers[0]?.p50Ms ?? 1),
			patients,
			eventsPerPatient,
			patientsPerSecond: patients / total,
			trajectories,
			attribution,
		};
	} finally {
		await model.dispose();
		await runtime.dispose?.();
	}
}

function peerLine({ what, on, seconds, peerSeconds, ratio, largestDifference }: Peer): string {
	const agreement = `probabilities within ${largestDifference.toExponential(0)}`;
	return `  ${ratio.toFixed(1)} times as fast as ${what} (${on}: ${seconds.toFixed(2)} s and ${peerSeconds.toFixed(2)} s; ${agreement})`;
}

export function renderInfer(report: InferReport): string {
	const { trajectories, attribution } = report;
	const lines = [
		`${report.preset}, ${report.engine}`,
		...report.answers.map(
			({ events, p50Ms }) =>
				`observe + ask for one patient after ${thousands(events)} events: ${p50Ms.toFixed(2)} ms (median)`,
		),
		`${report.patientsPerSecond.toFixed(0)} patients/s with ${report.eventsPerPatient} events each`,
		`code probabilities along the histories of ${trajectories.patients} patients (${trajectories.meanEvents.toFixed(0)} events each) × ${trajectories.codes} codes × ${trajectories.times} times: ${trajectories.firstSeconds.toFixed(1)} s, and ${trajectories.seconds.toFixed(1)} s once compiled`,
		peerLine(trajectories.peer),
		`attribution of a code probability to each of ${attribution.events} events at ${attribution.times === 1 ? "one time" : `${attribution.times} times`}: ${attribution.firstSeconds.toFixed(1)} s, and ${attribution.seconds.toFixed(1)} s once compiled`,
		peerLine(attribution.peer),
	];
	return `${lines.join("\n")}\n`;
}
