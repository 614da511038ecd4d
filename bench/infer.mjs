import { presetOf } from "../dist/app/commands/pretrain.js";
import { random } from "../dist/base/random.js";
import { thousands } from "../dist/base/thousands.js";
import { openRuntime } from "../dist/engine/runtime/open-runtime.js";
import { weightCount } from "../dist/model/index.js";
import { trajgpt } from "../dist/model/trajgpt/index.js";
import { predictor } from "../dist/model/trajgpt/state.js";
import { attributeCodeProbability, codeTrajectories } from "../dist/predict/index.js";
import * as bench from "./shared.mjs";

const eventsPerPatient = 112;

async function measure(io, options) {
	const { threads, repeats, patients, vocab } = options;
	const history = (events, seed) => bench.randomHistory(events, vocab, seed);
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
		const scored = await bench.timed(() => model.score(histories, queryTimes));
		io.stderr.write(
			`probabilities along ${options.trajectories} histories, and the same event by event\n`,
		);
		const trajectories = await benchTrajectories(model, vocab, options.trajectories);
		io.stderr.write(
			`attributing a probability to ${options.attributed} events, and to some by reading from the start\n`,
		);
		const attribution = await benchAttribution(model, vocab, options.attributed);
		const answers = pasts.map((events, i) => ({ events, p50Ms: bench.median(seconds[i] ?? []) }));
		return {
			engine: runtime.label,
			preset: options.preset,
			threads,
			parameters: weightCount(weights),
			answers,
			growth: (answers.at(-1)?.p50Ms ?? 0) / (answers[0]?.p50Ms ?? 1),
			patients,
			eventsPerPatient,
			patientsPerSecond: patients / scored.seconds,
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
const comparedPatients = 8;
const comparedEvents = 8;
const attributedTimes = 1;

/** The plain computation of the same probabilities, beside ours. */
const peerOf = (what, on, { seconds, probabilities }, peer) => ({
	what,
	on,
	seconds,
	peerSeconds: peer.seconds,
	ratio: peer.seconds / seconds,
	largestDifference: Math.max(
		0,
		...probabilities.flatMap((row, i) =>
			Array.from(row, (probability, j) => Math.abs(probability - peer.result[i][j])),
		),
	),
});

/** Probabilities of ten codes at 200 times, from the first event to a third of the span after the last. */
async function benchTrajectories(model, vocab, patients) {
	const draw = random(11);
	const histories = Array.from({ length: patients }, (_, i) =>
		bench.randomHistory(100 + draw.integer(21), vocab, draw.fork(i)),
	);
	const times = histories.map(({ times }) => {
		const span = (times[times.length - 1] * 4) / 3 - times[0];
		return Array.from({ length: timeCount }, (_, i) => times[0] + (span * i) / (timeCount - 1));
	});
	const codes = Array.from({ length: codeCount }, (_, i) => [5 + i]);
	const all = () => codeTrajectories(model, histories, codes, times);
	const first = await bench.timed(all);
	const second = await bench.timed(all);

	const compared = histories.slice(0, comparedPatients);
	const ofCompared = () =>
		codeTrajectories(model, compared, codes, times.slice(0, comparedPatients));
	const segments = () => segmentBySegment(model, compared, codes.flat(), times);
	await ofCompared();
	await segments();
	const plain = await bench.timed(ofCompared);
	const peer = await bench.timed(segments);
	return {
		patients,
		meanEvents: histories.reduce((sum, { times }) => sum + times.length, 0) / patients,
		codes: codeCount,
		times: timeCount,
		firstSeconds: first.seconds,
		seconds: second.seconds,
		peer: peerOf(
			"observing event by event, with queries in each gap, for the same patients at once",
			`${compared.length} patients`,
			{
				seconds: plain.seconds,
				probabilities: plain.result.flat().map(({ probability }) => probability),
			},
			{ seconds: peer.seconds, result: peer.result.flat() },
		),
	};
}

/** The same probabilities, [patient][code][time], from one state per event. */
async function segmentBySegment(model, histories, codes, times) {
	const probabilities = histories.map(() => codes.map(() => new Float64Array(timeCount)));
	const longest = Math.max(...histories.map(({ times }) => times.length));
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
		const most = Math.max(...queries.map(({ length }) => length));
		if (most > 0) {
			const { logProbabilities, vocab } = await model.query(
				state,
				queries.map((asked, patient) =>
					Array.from({ length: most }, (_, i) => asked[i]?.time ?? lastTime(state.times, patient)),
				),
			);
			for (const [patient, asked] of queries.entries())
				for (const [query, { i }] of asked.entries())
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
	const history = bench.randomHistory(events, vocab, 12);
	const end = history.times[events - 1];
	const times = Array.from({ length: attributedTimes }, (_, i) => end + 1 + i);
	const all = () => attributeCodeProbability(model, history, { codes: [5], times });
	const first = await bench.timed(all);
	const second = await bench.timed(all);

	const count = Math.min(comparedEvents, events);
	const left = Array.from({ length: count }, (_, i) => Math.floor((i * events) / count));
	const withoutEvent = async (event) => {
		const without = {
			tokens: Array.from(history.tokens).filter((_, i) => i !== event),
			times: Array.from(history.times).filter((_, i) => i !== event),
		};
		const { logProbabilities, vocab } = await model.score([without], [times]);
		return times.map((_, i) => Math.exp(logProbabilities[i * vocab + 5]));
	};
	await withoutEvent(0);
	const peer = await bench.timed(async () => {
		const probabilities = [];
		for (const event of left) probabilities.push(await withoutEvent(event));
		return probabilities;
	});
	return {
		events,
		times: attributedTimes,
		firstSeconds: first.seconds,
		seconds: second.seconds,
		peer: peerOf(
			"reading the history without an event from its start, one event at a time",
			`${count} of ${events} events, the share of the time above`,
			{
				seconds: (second.seconds * count) / events,
				probabilities: left.map((event) =>
					second.result.without.slice(event * times.length, (event + 1) * times.length),
				),
			},
			peer,
		),
	};
}

export const command = bench.benchmark({
	name: "infer",
	description:
		"Time inference with random weights: one event and one query of one patient, after 50 events\n" +
		"and after many; the scoring of many patients of 112 events each; the probabilities of ten\n" +
		"codes at 200 times along histories of about 110 events; and the attribution of a code's\n" +
		"probability to each event of a history. The last two are compared with the plain computation of the same numbers.",
	options: {
		...bench.modelFields("paper-7m"),
		events: bench.countField("events of the long history", 5000),
		patients: bench.countField("patients to score", 1000),
		repeats: bench.countField("predictions to time", 200),
		trajectories: bench.countField("patients with trajectories", 100),
		attributed: bench.countField("events to attribute a probability to", 200, 100_000),
		vocab: bench.vocabField(200),
	},
	examples: {
		"node bench/main.mjs infer --preset paper-7m --json": "print JSON",
		"node bench/main.mjs infer --preset paper --vocab 241": "the paper's model on the demo's codes",
	},
	measure,
	render,
});
