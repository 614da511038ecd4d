import type { Random } from "../../base/random.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import type { CodeConfig } from "../heads.js";
import type { BatchShape, Objective, PositionStream, States } from "../model.js";
import { crossEntropy, emptyTargets, predictEvents, type Targets } from "./events.js";

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
			views.map((view, i) => crossEntropy(view, (states[i] as States).logits)),
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
			const isCode = (cell: number) => mask[cell] === 1 && (tokens[cell] as number) >= specialCount;
			const targets = views.map((view) => emptyTargets(view, tokens.length));
			const more = expect(config, { tokens, mask, isCode }, targets, random);
			return {
				feeds: Object.assign({}, feeds, more, ...targets.map((own) => own.feeds)),
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
				for (const cell of codes) targets?.expect(cell, tokens[cell] as number);
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
				if (sameRow && visible === 1 && isCode(beside))
					targets[i]?.expect(cell, tokens[beside] as number);
			}
		return {};
	});
