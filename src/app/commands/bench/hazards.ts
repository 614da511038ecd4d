import { random } from "../../../base/random.js";
import { yearDays } from "../../../base/time.js";
import { historyOf } from "../../../data/cohort/history.js";
import type { Runtime } from "../../../engine/runtime/index.js";
import { type HazardSettings, hazardSettings } from "../../../model/hazards/settings.js";
import { type EventBatch, initialWeights, type Model } from "../../../model/index.js";
import { trajgpt } from "../../../model/trajgpt/index.js";
import { hazardModel } from "../../../predict/hazards.js";
import { openRuntime } from "../../workflows/open-runtime.js";
import { presetOf } from "../../workflows/pretrain.js";
import type { Io } from "../io.js";
import type { HazardBenchOptions } from "./commands/hazards.js";
import { median } from "./step.js";
import { learnerOf } from "./step-subject.js";
import { randomHistory } from "./trajectories.js";

export interface HazardReport {
	readonly engine: string;
	readonly preset: string;
	readonly batch: number;
	readonly length: number;
	readonly vocab: number;
	/** Medians of a training step, objective horizon. */
	readonly secondsPerStep: { readonly without: number; readonly with: number };
	readonly ratio: number;
	readonly horizons: readonly number[];
	readonly patients: number;
	readonly eventsPerPatient: number;
	/** Patients per second whose risk of every code by every horizon is computed. */
	readonly patientsPerSecond: number;
}

/** In years. */
const horizons = [1, 3, 5, 10];
const eventsPerPatient = 112;
/** Days between two records, on average. */
const gapDays = 30;
/** Patients per call. */
const together = 64;
const warmUp = 2;

function patient(events: number, vocab: number, seed: number) {
	const { tokens, times } = randomHistory(events, vocab, random(seed));
	return historyOf(
		{ id: String(seed), sex: null, birth: null, death: null },
		{ tokens, times: times.map((time) => 2 * gapDays * time) },
	);
}

function batchOf(rows: number, length: number, vocab: number): EventBatch {
	const histories = Array.from({ length: rows }, (_, i) => patient(length, vocab, i));
	return {
		...{ rows, length, lengths: new Int32Array(rows).fill(length) },
		tokens: Int32Array.from(histories.flatMap(({ tokens }) => [...tokens])),
		times: Float64Array.from(histories.flatMap(({ times }) => [...times])),
		sources: histories.map((history) => ({ history, from: 0, to: length })),
	};
}

export async function benchHazards(io: Io, options: HazardBenchOptions): Promise<HazardReport> {
	const { preset, batch, length, vocab } = options;
	const patients = together * Math.ceil(options.patients / together);
	const runtime = await openRuntime(options, "training");
	try {
		const secondsPerStep = await timeSteps(io, runtime, options);
		io.stderr.write(`risks of ${patients} patients\n`);
		return {
			...{ engine: runtime.label, preset, batch, length, vocab, secondsPerStep },
			ratio: secondsPerStep.with / secondsPerStep.without,
			...{ horizons, patients, eventsPerPatient },
			patientsPerSecond: patients / (await timeRisks(runtime, options, patients)),
		};
	} finally {
		await runtime.dispose?.();
	}
}

function modelOf({ preset, vocab }: HazardBenchOptions, hazards: HazardSettings | null) {
	const config = trajgpt.config.parse({ ...presetOf(trajgpt, preset), vocab, hazards });
	const model = trajgpt as unknown as Model;
	return { model, config, weights: initialWeights(model, config, 1) };
}

/** Medians of steps of two trainings, which take turns, so that a disturbance affects both. */
async function timeSteps(io: Io, runtime: Runtime, options: HazardBenchOptions) {
	const { batch, length, vocab, steps } = options;
	const rows = batchOf(batch, length, vocab);
	const objective = { objective: "horizon", horizon: 100 } as const;
	const trainings = [null, hazardSettings.parse({})].map((hazards) => ({
		learner: learnerOf(runtime, { ...modelOf(options, hazards), objective }),
		seconds: [] as number[],
	}));
	try {
		for (let step = 1; step <= warmUp + steps; step++) {
			for (const { learner, seconds } of trainings) {
				const started = performance.now();
				await learner.step([rows], { step, learningRate: 1e-3, random: random(step) });
				if (step > warmUp) seconds.push((performance.now() - started) / 1000);
			}
			io.stderr.write(step > warmUp ? `${step - warmUp}/${steps} steps\n` : "compiling\n");
		}
	} finally {
		for (const { learner } of trainings) await learner.dispose();
	}
	const [without = 0, own = 0] = trainings.map(({ seconds }) => median(seconds));
	return { without, with: own };
}

/** Seconds for the risk of every code by every horizon, at the end of each history. */
async function timeRisks(runtime: Runtime, options: HazardBenchOptions, patients: number) {
	const model = hazardModel(runtime, modelOf(options, hazardSettings.parse({})));
	const histories = Array.from({ length: patients }, (_, i) =>
		patient(eventsPerPatient, options.vocab, i),
	);
	const risks = async (from: number) => {
		const some = histories.slice(from, from + together);
		const hazards = await model.at(
			some,
			some.map(({ times }) => [Math.floor(times.at(-1) as number)]),
		);
		for (const [at] of some.entries())
			for (const years of horizons)
				hazards.incidence(at, Math.min(years * yearDays, model.longestDays));
	};
	try {
		await risks(0); // compiles
		const started = performance.now();
		for (let from = 0; from < patients; from += together) await risks(from);
		return (performance.now() - started) / 1000;
	} finally {
		await model.dispose();
	}
}

export function renderHazards(report: HazardReport): string {
	const { without, with: own } = report.secondsPerStep;
	const ms = (seconds: number) => `${(seconds * 1000).toFixed(0)} ms`;
	return `${report.preset}, ${report.engine}
a training step of ${report.batch} × ${report.length} events, ${report.vocab} codes: ${ms(own)} with hazards, ${ms(without)} without: ${report.ratio.toFixed(2)} times
${report.patientsPerSecond.toFixed(0)} patients/s with ${report.eventsPerPatient} events each: the risk of every code within ${report.horizons.join(", ")} years
`;
}
