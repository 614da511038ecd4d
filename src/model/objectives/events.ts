import { specialCount } from "../../data/cohort/vocabulary.js";
import {
	input,
	logSoftmax,
	mul,
	neg,
	pick,
	reshape,
	sum,
	type Tensor,
} from "../../engine/tensor/index.js";
import { eventsOf } from "../kinds/observed.js";
import {
	type BatchShape,
	type Draw,
	type Landmark,
	type LossTerm,
	landmarksPerRow,
	type Objective,
	type QueryStream,
	type States,
} from "../model.js";
import type { Events } from "../predictor.js";

/** Σ −log p(target) over the targets that count, which are fed. */
export function crossEntropy(name: string, logits: Tensor): LossTerm {
	const [rows, places] = logits.shape as [number, number, number];
	const targets = input(`${name}.targets`, [rows, places], "int32");
	const weights = input(`${name}.weights`, [rows, places], logits.dtype);
	const chosen = pick(logSoftmax(logits), reshape(targets, [rows, places, 1]), 2);
	return { name, total: neg(sum(mul(reshape(chosen, [rows, places]), weights))) };
}

/** What `crossEntropy` is fed, and how many targets count. */
export function emptyTargets(name: string, cells: number) {
	const targets = new Int32Array(cells);
	const weights = new Float32Array(cells);
	let count = 0;
	return {
		feeds: { [`${name}.targets`]: targets, [`${name}.weights`]: weights },
		/** Names the target of a cell; one that is not named does not count. */
		expect(cell: number, token: number) {
			targets[cell] = token;
			weights[cell] = 1;
			count++;
		},
		count: () => count,
	};
}

export type Targets = ReturnType<typeof emptyTargets>;

/** Events of a history, by number, that are predicted from its first `known`. */
interface Predicted {
	readonly known: number;
	readonly events: readonly number[];
}

interface EventObjective<C> {
	/** Of its term, and of its inputs. */
	readonly name: string;
	stream(config: C, shape: BatchShape): "slots" | QueryStream;
	/** For each landmark of a history. */
	choose(config: C, history: Events, length: number, draw: Draw): readonly Predicted[];
}

/** −log p of the codes of later events, each queried at its time. */
export const predictEvents = <C>({ name, stream, choose }: EventObjective<C>): Objective<C> => ({
	streams: (config, shape) => [stream(config, shape)],
	terms: (_config, _parameters, [states]) => [crossEntropy(name, (states as States).logits)],
	feeds(config, batch, draw, fill) {
		const { rows, length } = batch;
		const own = stream(config, batch);
		const queried = own === "slots" ? eachSlot(name) : own;
		const { queries } = queried;
		const perRow = landmarksPerRow(queried, length) * queries;
		const targets = emptyTargets(name, rows * perRow);
		// Millions of slots per second: plain loops.
		const drawn: Landmark[][] = [];
		for (let row = 0; row < rows; row++) {
			const history = eventsOf(batch, row);
			const { tokens, times } = history;
			const landmarks: Landmark[] = [];
			let cell = row * perRow;
			for (const { known, events } of choose(config, history, length, draw)) {
				for (let i = 0; i < queries; i++) {
					const token = tokens[events[i] ?? -1] ?? 0;
					if (token >= specialCount) targets.expect(cell + i, token);
				}
				cell += queries;
				if (own === "slots") continue; // queried at its own times
				// Past the row's end a query is put again, and does not count.
				const timeOf = (i: number) => times[events[Math.min(i, events.length - 1)] ?? -1] ?? 0;
				const queryTimes: number[] = [];
				for (let i = 0; i < queries; i++) queryTimes.push(timeOf(i));
				landmarks.push({ known, times: queryTimes });
			}
			drawn.push(landmarks);
		}
		return {
			feeds: { ...(own === "slots" ? fill(own) : fill(own, drawn)), ...targets.feeds },
			targets: { [name]: targets.count() },
		};
	},
});

const eachSlot = (name: string): QueryStream => ({ name, landmarks: "each slot", queries: 1 });

/** Each slot of a history, with the event that is predicted from it. */
function fromEachSlot({ tokens }: Events, eventOf: (slot: number) => number): Predicted[] {
	const predicted: Predicted[] = [];
	for (let n = 0; n < tokens.length; n++) predicted.push({ known: n, events: [eventOf(n)] });
	return predicted;
}

/** Each event from those before it (the paper's objective). */
export const next = predictEvents({
	name: "next",
	stream: () => "slots",
	choose: (_, history) => fromEachSlot(history, (n) => n),
});

/** From each slot an event k further on, with k drawn evenly from 0 to the horizon (or the end). */
export const horizon = predictEvents({
	name: "horizon",
	stream: () => eachSlot("horizon"),
	choose: (_, history, _length, draw) =>
		fromEachSlot(
			history,
			(n) => n + draw.random.integer(Math.min(draw.horizon, history.tokens.length - 1 - n) + 1),
		),
});

/** Each event from what is known before its day: the codes of a day as a set, whatever their order. */
export const visits = predictEvents({
	name: "visits",
	stream: (_, { length }) => ({ name: "visits", landmarks: length, queries: 1 }),
	choose(_, { tokens, times }) {
		const dayOf = (n: number) => Math.floor(times[n] as number);
		const predicted: Predicted[] = [];
		for (let n = 0, known = 0; n < tokens.length; n++) {
			// A birth is known on its own day.
			if (n > 0 && (dayOf(n) !== dayOf(n - 1) || (tokens[n - 1] as number) < specialCount))
				known = n;
			predicted.push({ known, events: [n] });
		}
		return predicted;
	},
});
