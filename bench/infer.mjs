import { wholeNumber } from "../dist/app/commands/option-values.js";
import { presetOf } from "../dist/app/commands/pretrain.js";
import { random } from "../dist/base/random.js";
import { thousands } from "../dist/base/thousands.js";
import { openRuntime } from "../dist/engine/runtime/open-runtime.js";
import { weightCount } from "../dist/model/index.js";
import { trajgpt } from "../dist/model/trajgpt/index.js";
import { predictor } from "../dist/model/trajgpt/state.js";
import { attributeCodeProbability, codeTrajectories } from "../dist/predict/index.js";
import { addModelOptions, benchmark, median, randomHistory } from "./shared.mjs";

const eventsPerPatient = 112;

async function measure(io, options) {
	const { threads, repeats, patients, vocab } = options;
	const history = (events, seed) => randomHistory(events, vocab, seed);
	const pasts = [50, options.events];
	const config = trajgpt.config.parse({ ...presetOf(trajgpt, options.preset), vocab });
	const weights = trajgpt.init(config, random(1));
	const runtime = await openRuntime(options, "inference");
	const model = predictor(runtime, config, weights);
	try {
		const starts = [];
		for (const events of pasts) {
			io.stderr.write(`observing ${events} events\n`);
			starts.push(await model.observe(model.start(1), [history(events, events)]));
		}
		const seconds = pasts.map(() => []);
		// The two histories take turns, so that a disturbance affects both.
		const states = [...starts];
		for (let i = -5; i < repeats; i++) {
			for (const [at, past] of states.entries()) {
				const time = past.times[0] + 0.5;
				const started = performance.now();
				const { state } = await model.advance(past, [{ tokens: [5], times: [time] }], [[time + 1]]);
				if (i >= 0) seconds[at]?.push(performance.now() - started);
				states[at] = state;
			}
		}
		io.stderr.write(`scoring ${patients} patients\n`);
		const histories = Array.from({ length: patients }, (_, i) => history(eventsPerPatient, i));
		const queryTimes = histories.map(({ times }) => [times.at(-1) + 1]);
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

function peerLine({ what, on, seconds, peerSeconds, ratio, largestDifference }) {
	const agreement = `probabilities within ${largestDifference.toExponential(0)}`;
	return `  ${ratio.toFixed(1)} times as fast as ${what} (${on}: ${seconds.toFixed(2)} s and ${peerSeconds.toFixed(2)} s; ${agreement})`;
}

function render(report) {
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

const codeCount = 10;
const timeCount = 200;
/** Patients computed in both ways. */
const comparedPatients = 8;
/** Events left out in both ways. */
const comparedEvents = 8;
const attributedTimes = 1;

async function timed(work) {
	const started = performance.now();
	const result = await work();
	return { result, seconds: (performance.now() - started) / 1000 };
}

function largestDifference(a, b) {
	return a.reduce((most, row, i) => {
		const other = b[i];
		return Array.from(row).reduce(
			(most, value, j) => Math.max(most, Math.abs(value - other[j])),
			most,
		);
	}, 0);
}

/** Probabilities of ten codes at 200 times, from the first event to a third of the span after the last. */
async function benchTrajectories(model, vocab, patients) {
	const draw = random(11);
	const histories = Array.from({ length: patients }, (_, i) =>
		randomHistory(100 + draw.integer(21), vocab, draw.fork(i)),
	);
	const times = histories.map(({ times }) => {
		const span = (times[times.length - 1] * 4) / 3 - times[0];
		return Array.from({ length: timeCount }, (_, i) => times[0] + (span * i) / (timeCount - 1));
	});
	const codes = Array.from({ length: codeCount }, (_, i) => [5 + i]);
	const all = () => codeTrajectories(model, histories, codes, times);
	const first = await timed(all);
	const second = await timed(all);

	const compared = histories.slice(0, comparedPatients);
	const some = () => codeTrajectories(model, compared, codes, times.slice(0, comparedPatients));
	const segments = () =>
		segmentBySegment(
			model,
			compared,
			codes.map(([code]) => code),
			times,
		);
	await some();
	await segments();
	const plain = await timed(some);
	const peer = await timed(segments);
	return {
		patients,
		meanEvents: histories.reduce((sum, { times }) => sum + times.length, 0) / patients,
		codes: codeCount,
		times: timeCount,
		firstSeconds: first.seconds,
		seconds: second.seconds,
		peer: {
			what: "observing event by event, with queries in each gap, for the same patients at once",
			on: `${compared.length} patients`,
			seconds: plain.seconds,
			peerSeconds: peer.seconds,
			ratio: peer.seconds / plain.seconds,
			largestDifference: largestDifference(
				plain.result.flatMap((answers) => answers.map(({ probability }) => probability)),
				peer.result.flat(),
			),
		},
	};
}

/** The same probabilities, [patient][code][time], from one state per event. */
async function segmentBySegment(model, histories, codes, times) {
	const probabilities = histories.map(() => codes.map(() => new Float64Array(timeCount)));
	const longest = Math.max(...histories.map((history) => history.times.length));
	let state = model.start(histories.length);
	for (let observed = 0; observed <= longest; observed++) {
		// The queries after `observed` events: later than the last of them, no later than the next event.
		const queries = histories.map((history, patient) => {
			const after = history.times[observed - 1] ?? (observed === 0 ? -Infinity : Infinity);
			const upTo = history.times[observed] ?? Infinity;
			return times[patient].flatMap((time, i) =>
				time > after && time <= upTo ? [{ time, i }] : [],
			);
		});
		const most = queries.reduce((most, times) => Math.max(most, times.length), 0);
		if (most > 0) {
			const { logProbabilities, vocab } = await model.query(
				state,
				queries.map((times, patient) =>
					Array.from({ length: most }, (_, i) => times[i]?.time ?? lastTime(state.times, patient)),
				),
			);
			for (const [patient, gap] of queries.entries())
				for (const [query, { i }] of gap.entries())
					for (const [c, code] of codes.entries())
						probabilities[patient][c][i] = Math.exp(
							logProbabilities[(patient * most + query) * vocab + code],
						);
		}
		const next = histories.map(({ tokens, times }) => ({
			tokens: Array.from(tokens).slice(observed, observed + 1),
			times: Array.from(times).slice(observed, observed + 1),
		}));
		state = await model.observe(state, next);
	}
	return probabilities;
}

const lastTime = (times, patient) => (Number.isNaN(times[patient]) ? 0 : times[patient]);

/** The effect of every event of one patient on the probability of a code at later times. */
async function benchAttribution(model, vocab, events) {
	const history = randomHistory(events, vocab, 12);
	const end = history.times[events - 1];
	const times = Array.from({ length: attributedTimes }, (_, i) => end + 1 + i);
	const all = () => attributeCodeProbability(model, history, { codes: [5], times });
	const first = await timed(all);
	const second = await timed(all);

	const count = Math.min(comparedEvents, events);
	const left = Array.from({ length: count }, (_, i) => Math.floor((i * events) / count));
	const one = async (event) => {
		const without = {
			tokens: Array.from(history.tokens).filter((_, i) => i !== event),
			times: Array.from(history.times).filter((_, i) => i !== event),
		};
		const { logProbabilities, vocab } = await model.score([without], [times]);
		return times.map((_, i) => Math.exp(logProbabilities[i * vocab + 5]));
	};
	await one(0);
	const peer = await timed(async () => {
		const effects = [];
		for (const event of left) effects.push(await one(event));
		return effects;
	});
	const seconds = (second.seconds * count) / events;
	return {
		events,
		times: attributedTimes,
		firstSeconds: first.seconds,
		seconds: second.seconds,
		peer: {
			what: "reading the history without an event from its start, one event at a time",
			on: `${count} of ${events} events, the share of the time above`,
			seconds,
			peerSeconds: peer.seconds,
			ratio: peer.seconds / seconds,
			largestDifference: largestDifference(
				left.map((event) =>
					second.result.without.slice(event * times.length, (event + 1) * times.length),
				),
				peer.result,
			),
		},
	};
}

export const command = benchmark({
	name: "infer",
	description:
		"Time inference with random weights: one event and one query of one patient, after 50 events\n" +
		"and after many; the scoring of many patients of 112 events each; the probabilities of ten\n" +
		"codes at 200 times along histories of about 110 events; and the attribution of a code's\n" +
		"probability to each event of a history. The last two are compared with the plain computation of the same numbers.",
	options: (command) =>
		addModelOptions(command, "paper-7m")
			.option("--events <n>", "events of the long history", wholeNumber(1, 1_000_000), 5000)
			.option("--patients <n>", "patients to score", wholeNumber(1, 1_000_000), 1000)
			.option("--repeats <n>", "predictions to time", wholeNumber(1, 1_000_000), 200)
			.option("--trajectories <n>", "patients with trajectories", wholeNumber(1, 1_000_000), 100)
			.option(
				"--attributed <n>",
				"events to attribute a probability to",
				wholeNumber(1, 100_000),
				200,
			)
			.option("--vocab <n>", "vocabulary size of the model", wholeNumber(20, 1_000_000), 200),
	examples: {
		"node bench/main.mjs infer --preset paper-7m --json": "print JSON",
		"node bench/main.mjs infer --preset paper --vocab 241": "the paper's model on the demo's codes",
	},
	measure,
	render,
});
