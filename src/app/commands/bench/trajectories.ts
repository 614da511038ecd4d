import { type Random, random } from "../../../base/random.js";
import type { Events, Predictor } from "../../../model/index.js";
import { attributeCodeProbability, codeTrajectories } from "../../../predict/index.js";

/** The plain computation of the same numbers, and how the two compare. */
export interface Peer {
	readonly what: string;
	/** The part of the work that both were timed on. */
	readonly on: string;
	readonly seconds: number;
	readonly peerSeconds: number;
	/** peerSeconds / seconds: above 1 means that trajgpt's way is faster. */
	readonly ratio: number;
	/** The largest difference between the probabilities of the two. */
	readonly largestDifference: number;
}

export interface TrajectoryReport {
	readonly patients: number;
	readonly meanEvents: number;
	readonly codes: number;
	readonly times: number;
	/** Seconds of the first pass, which compiles graphs; `seconds` is the second pass. */
	readonly firstSeconds: number;
	readonly seconds: number;
	readonly peer: Peer;
}

export interface AttributionReport {
	readonly events: number;
	readonly times: number;
	readonly firstSeconds: number;
	readonly seconds: number;
	readonly peer: Peer;
}

const codeCount = 10;
const timeCount = 200;
/** Patients computed in both ways. */
const comparedPatients = 8;
/** Events left out in both ways. */
const comparedEvents = 8;
const attributedTimes = 1;

export function randomHistory(events: number, vocab: number, draw: Random) {
	let time = 0;
	const tokens = Int32Array.from({ length: events }, () => 5 + draw.integer(vocab - 5));
	const times = Float64Array.from(tokens, () => {
		time += draw.uniform();
		return time;
	});
	return { tokens, times };
}

async function timed<T>(work: () => Promise<T>): Promise<{ result: T; seconds: number }> {
	const started = performance.now();
	const result = await work();
	return { result, seconds: (performance.now() - started) / 1000 };
}

function largestDifference(a: readonly ArrayLike<number>[], b: readonly ArrayLike<number>[]) {
	return a.reduce((most, row, i) => {
		const other = b[i] as ArrayLike<number>;
		return Array.from(row).reduce(
			(most, value, j) => Math.max(most, Math.abs(value - (other[j] as number))),
			most,
		);
	}, 0);
}

/** Probabilities of ten codes at 200 times, from the first event to a third of the span after the last. */
export async function benchTrajectories(
	model: Predictor,
	vocab: number,
	patients: number,
): Promise<TrajectoryReport> {
	const draw = random(11);
	const histories = Array.from({ length: patients }, (_, i) =>
		randomHistory(100 + draw.integer(21), vocab, draw.fork(i)),
	);
	const times = histories.map(({ times }) => {
		const span = ((times[times.length - 1] as number) * 4) / 3 - (times[0] as number);
		return Array.from(
			{ length: timeCount },
			(_, i) => (times[0] as number) + (span * i) / (timeCount - 1),
		);
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
			codes.map(([code]) => code as number),
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
				plain.result.flatMap((own) => own.map(({ probability }) => probability)),
				peer.result.flat(),
			),
		},
	};
}

/** The same probabilities, [patient][code][time], from one state per event. */
async function segmentBySegment(
	model: Predictor,
	histories: readonly Events[],
	codes: readonly number[],
	times: readonly (readonly number[])[],
): Promise<Float64Array[][]> {
	const found = histories.map(() => codes.map(() => new Float64Array(timeCount)));
	const longest = Math.max(...histories.map((own) => own.times.length));
	let state = model.start(histories.length);
	for (let observed = 0; observed <= longest; observed++) {
		// The queries after `observed` events: later than the last of them, no later than the next event.
		const queries = histories.map((own, patient) => {
			const after = own.times[observed - 1] ?? (observed === 0 ? -Infinity : Infinity);
			const upTo = own.times[observed] ?? Infinity;
			return (times[patient] as number[]).flatMap((time, i) =>
				time > after && time <= upTo ? [{ time, i }] : [],
			);
		});
		const most = queries.reduce((most, own) => Math.max(most, own.length), 0);
		if (most > 0) {
			const { logProbabilities, vocab } = await model.query(
				state,
				queries.map((own, patient) =>
					Array.from({ length: most }, (_, i) => own[i]?.time ?? lastTime(state.times, patient)),
				),
			);
			for (const [patient, own] of queries.entries())
				for (const [query, { i }] of own.entries())
					for (const [c, code] of codes.entries())
						(found[patient]?.[c] as Float64Array)[i] = Math.exp(
							logProbabilities[(patient * most + query) * vocab + code] as number,
						);
		}
		const next = histories.map(({ tokens, times }) => ({
			tokens: Array.from(tokens).slice(observed, observed + 1),
			times: Array.from(times).slice(observed, observed + 1),
		}));
		state = await model.observe(state, next);
	}
	return found;
}

const lastTime = (times: Float64Array, patient: number) =>
	Number.isNaN(times[patient]) ? 0 : (times[patient] as number);

/** The effect of every event of one patient on the probability of a code at later times. */
export async function benchAttribution(
	model: Predictor,
	vocab: number,
	events: number,
): Promise<AttributionReport> {
	const history = randomHistory(events, vocab, random(12));
	const end = history.times[events - 1] as number;
	const times = Array.from({ length: attributedTimes }, (_, i) => end + 1 + i);
	const all = () => attributeCodeProbability(model, history, { codes: [5], times });
	const first = await timed(all);
	const second = await timed(all);

	const count = Math.min(comparedEvents, events);
	const left = Array.from({ length: count }, (_, i) => Math.floor((i * events) / count));
	const one = async (event: number) => {
		const without = {
			tokens: Array.from(history.tokens).filter((_, i) => i !== event),
			times: Array.from(history.times).filter((_, i) => i !== event),
		};
		const { logProbabilities, vocab } = await model.score([without], [times]);
		return times.map((_, i) => Math.exp(logProbabilities[i * vocab + 5] as number));
	};
	await one(0);
	const peer = await timed(async () => {
		const found: number[][] = [];
		for (const event of left) found.push(await one(event));
		return found;
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
