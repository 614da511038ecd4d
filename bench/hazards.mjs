import { presetOf } from "../dist/app/commands/pretrain.js";
import { random } from "../dist/base/random.js";
import { yearDays } from "../dist/base/time.js";
import { historyOf } from "../dist/data/cohort/history.js";
import { openRuntime } from "../dist/engine/runtime/open-runtime.js";
import { hazardSettings } from "../dist/model/hazards/settings.js";
import { initialWeights } from "../dist/model/index.js";
import { trajgpt } from "../dist/model/trajgpt/index.js";
import { hazardModel } from "../dist/predict/hazards.js";
import * as bench from "./shared.mjs";
import { learnerOf } from "./subject.mjs";

/** In years. */
const horizons = [1, 3, 5, 10];
const eventsPerPatient = 112;
const gapDays = 30;
const patientsPerCall = 64;
const warmUp = 2;

function patient(events, vocab, seed) {
	const { tokens, times } = bench.randomHistory(events, vocab, seed);
	return historyOf(
		{ id: String(seed), sex: null, birth: null, death: null },
		{ tokens, times: times.map((time) => 2 * gapDays * time) },
	);
}

function batchOf(rows, length, vocab) {
	const histories = Array.from({ length: rows }, (_, i) => patient(length, vocab, i));
	return {
		rows,
		length,
		lengths: new Int32Array(rows).fill(length),
		tokens: Int32Array.from(histories.flatMap(({ tokens }) => [...tokens])),
		times: Float64Array.from(histories.flatMap(({ times }) => [...times])),
		sources: histories.map((history) => ({ history, from: 0, to: length })),
	};
}

async function measure(io, options) {
	const { preset, batch, length, vocab } = options;
	const patients = patientsPerCall * Math.ceil(options.patients / patientsPerCall);
	const runtime = await openRuntime(options, "training");
	try {
		const secondsPerStep = await timeSteps(io, runtime, options);
		io.stderr.write(`risks of ${patients} patients\n`);
		return {
			engine: runtime.label,
			preset,
			batch,
			length,
			vocab,
			secondsPerStep,
			ratio: secondsPerStep.with / secondsPerStep.without,
			horizons,
			patients,
			eventsPerPatient,
			patientsPerSecond: patients / (await timeRisks(runtime, options, patients)),
		};
	} finally {
		await runtime.dispose?.();
	}
}

function modelOf({ preset, vocab }, hazards) {
	const config = trajgpt.config.parse({ ...presetOf(trajgpt, preset), vocab, hazards });
	return { model: trajgpt, config, weights: initialWeights(trajgpt, config, 1) };
}

/** Medians of steps of two trainings, which take turns, so that a disturbance affects both. */
async function timeSteps(io, runtime, options) {
	const { batch, length, vocab, steps } = options;
	const rows = batchOf(batch, length, vocab);
	const objective = { objective: "horizon", horizon: 100 };
	const trainings = [null, hazardSettings.parse({})].map((hazards) => ({
		learner: learnerOf(runtime, { ...modelOf(options, hazards), objective }),
		seconds: [],
	}));
	try {
		for (let step = 1; step <= warmUp + steps; step++) {
			for (const { learner, seconds } of trainings) {
				const settings = { step, learningRate: 1e-3, random: random(step) };
				const took = await bench.timed(() => learner.step([rows], settings));
				if (step > warmUp) seconds.push(took.seconds);
			}
			io.stderr.write(step > warmUp ? `${step - warmUp}/${steps} steps\n` : "compiling\n");
		}
	} finally {
		for (const { learner } of trainings) await learner.dispose();
	}
	const [without, withHazards] = trainings.map(({ seconds }) => bench.median(seconds));
	return { without, with: withHazards };
}

/** Seconds for the risk of every code by every horizon, at the end of each history. */
async function timeRisks(runtime, options, patients) {
	const model = hazardModel(runtime, modelOf(options, hazardSettings.parse({})));
	const histories = Array.from({ length: patients }, (_, i) =>
		patient(eventsPerPatient, options.vocab, i),
	);
	const risks = async (from) => {
		const batch = histories.slice(from, from + patientsPerCall);
		const hazards = await model.at(
			batch,
			batch.map(({ times }) => [Math.floor(times.at(-1))]),
		);
		for (const index of batch.keys())
			for (const years of horizons)
				hazards.incidence(index, Math.min(years * yearDays, model.longestDays));
	};
	try {
		await risks(0); // compiles
		const { seconds } = await bench.timed(async () => {
			for (let from = 0; from < patients; from += patientsPerCall) await risks(from);
		});
		return seconds;
	} finally {
		await model.dispose();
	}
}

function render(report) {
	const { without, with: withHazards } = report.secondsPerStep;
	return `${report.preset}, ${report.engine}
a training step of ${report.batch} × ${report.length} events, ${report.vocab} codes: ${bench.milliseconds(withHazards)} with hazards, ${bench.milliseconds(without)} without: ${report.ratio.toFixed(2)} times
${report.patientsPerSecond.toFixed(0)} patients/s with ${report.eventsPerPatient} events each: the risk of every code within ${report.horizons.join(", ")} years
`;
}

export const command = bench.benchmark({
	name: "hazards",
	description:
		"Time what hazards cost, with random weights: a training step with them, in turns with one\n" +
		"without (objective horizon); and the risk of every code within 1, 3, 5 and 10 years for\n" +
		"patients of 112 events each.",
	options: {
		...bench.modelFields("paper"),
		batch: bench.countField("rows per batch", 16, 65_536),
		length: bench.countField("events per row", 128),
		steps: bench.countField("steps to time", 20),
		patients: bench.countField("patients whose risks are computed", 512),
		vocab: bench.vocabField(241),
	},
	examples: {
		"node bench/main.mjs hazards": "the paper's model",
		"node bench/main.mjs hazards --preset default --vocab 2000": "another size, and more codes",
	},
	measure,
	render,
});
