import type { Random } from "../../base/random.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { input, pick, type Tensor } from "../../engine/tensor/index.js";
import type { CodeConfig } from "../heads.js";
import { eventsOf } from "../kinds/observed.js";
import {
	type BatchShape,
	type Draw,
	type Landmark,
	type LossTerm,
	landmarksPerRow,
	type Objective,
	type PositionStream,
	type QueryStream,
} from "../model.js";
import type { Events } from "../predictor.js";

/** Σ −log p(target) over the targets that count, which are fed. */
function crossEntropy(name: string, logits: Tensor): LossTerm {
	const [rows, places] = logits.shape as [number, number, number];
	const targets = input(`${name}.targets`, [rows, places], "int32");
	const weights = input(`${name}.weights`, [rows, places], logits.dtype);
	const chosen = pick(logits.logSoftmax(), targets.reshape([rows, places, 1]), 2);
	return { name, total: chosen.reshape([rows, places]).mul(weights).sum().neg() };
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
const predictEvents = <C>({ name, stream, choose }: EventObjective<C>): Objective<C> => ({
	streams: (config, shape) => [stream(config, shape)],
	terms: (_config, _parameters, [states]) => [crossEntropy(name, states.logits)],
	feeds(config, batch, draw, fill) {
		const { rows, length } = batch;
		const requested = stream(config, batch);
		const queried = requested === "slots" ? eachSlot(name) : requested;
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
				if (requested === "slots") continue; // queried at its own times
				// Past the row's end a query is put again, and does not count.
				const timeOf = (i: number) => times[events[Math.min(i, events.length - 1)] ?? -1] ?? 0;
				const queryTimes: number[] = [];
				for (let i = 0; i < queries; i++) queryTimes.push(timeOf(i));
				landmarks.push({ known, times: queryTimes });
			}
			drawn.push(landmarks);
		}
		return {
			feeds: {
				...(requested === "slots" ? fill(requested) : fill(requested, drawn)),
				...targets.feeds,
			},
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
		const dayOf = (n: number) => Math.floor(times[n]);
		const predicted: Predicted[] = [];
		for (let n = 0, known = 0; n < tokens.length; n++) {
			// A birth is known on its own day.
			if (n > 0 && (dayOf(n) !== dayOf(n - 1) || tokens[n - 1] < specialCount)) known = n;
			predicted.push({ known, events: [n] });
		}
		return predicted;
	},
});

export interface WindowConfig extends CodeConfig {
	/** Places it reads. */
	readonly window: number;
	/** Queries it answers at once. */
	readonly ahead: number;
	/** Windows drawn from a row in training, for each that fits into it; 1 if left out. */
	readonly windows?: number;
}

/** Windows drawn from each row of a batch: with `windows` 1, about as many places as the row has. */
const windowsPerRow = (length: number, { window, windows = 1 }: WindowConfig): number =>
	windows * Math.max(1, Math.round(length / window));

const firstNumbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/**
 * Events that follow windows cut at random: any of the next ones where queries are answered by their
 * times, and otherwise the next ones in order.
 */
export const ahead = <C extends WindowConfig>(usesQueryTime: boolean): Objective<C> =>
	predictEvents<C>({
		name: "ahead",
		stream: (config, { length }) => ({
			name: "ahead",
			landmarks: windowsPerRow(length, config),
			queries: config.ahead,
		}),
		choose: (config, { tokens }, length, { horizon, random }) =>
			Array.from({ length: windowsPerRow(length, config) }, () => {
				const events = tokens.length;
				const known = events < 2 ? 0 : 1 + random.integer(events - 1);
				const farthest = usesQueryTime ? Math.max(horizon, config.ahead) : config.ahead;
				const reachable = firstNumbers(Math.min(farthest, events - known));
				const chosen =
					reachable.length <= config.ahead
						? reachable
						: random.shuffle(reachable).slice(0, config.ahead);
				return { known, events: chosen.sort((a, b) => a - b).map((i) => known + i) };
			}),
	});

/** What windows hold, cell by cell. */
interface Cells {
	readonly tokens: Int32Array;
	readonly mask: Float32Array;
	isCode(cell: number): boolean;
}

/** Codes that views of whole windows predict at their places; each view names a term. */
const predictPlaces = <C extends WindowConfig>(
	name: string,
	views: readonly string[],
	/** Names the targets of the views, in their order; gives back what else the network is fed. */
	expect: (
		config: C,
		cells: Cells,
		targets: readonly Targets[],
		random: Random,
	) => Record<string, Float32Array>,
): Objective<C> => {
	const streams = (config: C, { length }: BatchShape): PositionStream[] =>
		views.map((view) => ({ name, windows: windowsPerRow(length, config), view }));
	return {
		streams,
		terms: (_config, _parameters, states) =>
			views.map((view, i) => crossEntropy(view, states[i].logits)),
		feeds(config, batch, { random }, fill) {
			const [stream] = streams(config, batch) as [PositionStream];
			// Windows that end anywhere after the first is full, or with the history.
			const ends = Array.from(batch.lengths, (events) => {
				const least = Math.min(events, config.window - 1);
				return Array.from({ length: stream.windows }, () => ({
					known: least + random.integer(events - least + 1),
					times: [],
				}));
			});
			const feeds = fill(stream, ends);
			const tokens = feeds[`${name}.tokens`] as Int32Array;
			const mask = feeds[`${name}.mask`] as Float32Array;
			const isCode = (cell: number) => mask[cell] === 1 && tokens[cell] >= specialCount;
			const targets = views.map((view) => emptyTargets(view, tokens.length));
			const more = expect(config, { tokens, mask, isCode }, targets, random);
			return {
				feeds: Object.assign({}, feeds, more, ...targets.map((target) => target.feeds)),
				targets: Object.fromEntries(views.map((view, i) => [view, targets[i]?.count() ?? 0])),
			};
		},
	};
};

/** The part of the places that masked pre-training hides. */
const maskedPart = 0.4;

/** The codes of places that were masked, `maskBy` neighbours as one, counted from the window's end. */
export const masked = <C extends WindowConfig>(
	maskBy: (config: C) => number = () => 1,
): Objective<C> =>
	predictPlaces("masked", ["masked"], (config, { tokens, mask, isCode }, [targets], random) => {
		const size = maskBy(config);
		const { window } = config;
		const shown = mask.slice();
		for (let row = 0; row < shown.length; row += window)
			for (let to = window % size || size; to <= window; to += size) {
				const [from, until] = [row + Math.max(0, to - size), row + to];
				const codes = firstNumbers(until - from).flatMap((i) => (isCode(from + i) ? from + i : []));
				if (codes.length === 0 || random.uniform() >= maskedPart) continue;
				for (const cell of codes) targets?.expect(cell, tokens[cell]);
				shown.fill(0, from, until);
			}
		return { "masked.shown": shown };
	});

/** The codes beside each place: each view predicts the next or the previous one. */
export const neighbours = <C extends WindowConfig>(
	predicts: Readonly<Record<string, "next" | "previous">>,
): Objective<C> =>
	predictPlaces("read", Object.keys(predicts), ({ window }, { tokens, mask, isCode }, targets) => {
		for (const [i, which] of Object.values(predicts).entries())
			for (const [cell, visible] of mask.entries()) {
				const beside = cell + (which === "next" ? 1 : -1);
				const sameRow = Math.floor(beside / window) === Math.floor(cell / window);
				if (sameRow && visible === 1 && isCode(beside)) targets[i]?.expect(cell, tokens[beside]);
			}
		return {};
	});
