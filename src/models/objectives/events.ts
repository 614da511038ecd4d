import { specialCount } from "../../cohort/vocabulary.js";
import { eventsOf } from "../kinds/observed.js";
import {
	type BatchShape,
	type Landmark,
	landmarksPerRow,
	type QueryStream,
	type States,
} from "../model.js";
import type { Draw, Objective } from "../objective.js";
import { crossEntropy, emptyTargets } from "./cross-entropy.js";

/** Events of a history, by number, that are predicted from its first `known`. */
interface Predicted {
	readonly known: number;
	readonly events: readonly number[];
}

interface EventObjective<C> {
	/** Of its term, and of its inputs. */
	readonly name: string;
	stream(config: C, shape: BatchShape): "slots" | QueryStream;
	/** For each landmark of a history of so many events. */
	choose(config: C, events: number, length: number, draw: Draw): readonly Predicted[];
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
			const { tokens, times } = eventsOf(batch, row);
			const landmarks: Landmark[] = [];
			let cell = row * perRow;
			for (const { known, events } of choose(config, tokens.length, length, draw)) {
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
function fromEachSlot(events: number, eventOf: (slot: number) => number): Predicted[] {
	const predicted: Predicted[] = [];
	for (let n = 0; n < events; n++) predicted.push({ known: n, events: [eventOf(n)] });
	return predicted;
}

/** Each event from those before it (the paper's objective). */
export const next = predictEvents({
	name: "next",
	stream: () => "slots",
	choose: (_, events) => fromEachSlot(events, (n) => n),
});

/** From each slot an event k further on, with k drawn evenly from 0 to the horizon (or the end). */
export const horizon = predictEvents({
	name: "horizon",
	stream: () => eachSlot("horizon"),
	choose: (_, events, _length, draw) =>
		fromEachSlot(
			events,
			(n) => n + draw.random.integer(Math.min(draw.horizon, events - 1 - n) + 1),
		),
});
