import { specialCount } from "../data/cohort/vocabulary.js";
import type { HazardSettings } from "../model/hazards/settings.js";
import type { Events, Predictor } from "../model/index.js";
import type { FutureSteps } from "../model/predictor.js";
import { futureMoves } from "./future-moves.js";
import type { Future, FutureDrawing, FutureOptions } from "./futures.js";
import {
	beginFuture,
	drawnDay,
	futureUntil,
	isExcluded,
	isNew,
	type PartialFuture,
} from "./partial-future.js";

/** Histories that are read at once. */
const mostHistories = 32;

/** What futures are drawn with. */
interface Parts {
	readonly settings: HazardSettings;
	readonly vocab: number;
	readonly steps: FutureSteps;
	readonly predictor: Pick<Predictor, "start" | "observe">;
}

/** Draws many futures at once, each in a row. A row whose future is complete is given to the next one. */
export function beginDrawing(
	parts: Parts,
	histories: readonly Events[],
	indexDays: ArrayLike<number>,
	options: FutureOptions,
): FutureDrawing {
	const { days, samples, leftOut = [], repeats = false } = options;
	const complete = histories.map((): Future[] => new Array(samples));
	const rows = parts.steps.rows(histories.length * samples);
	const { writeQuery, move } = futureMoves(parts, rows, repeats);
	const allNew = new Uint8Array(parts.vocab).fill(isNew, specialCount);
	for (const token of leftOut) allNew[token] = isExcluded;

	/** Futures to be drawn, with the state that each starts from. */
	async function* begin() {
		for await (const start of starts(parts.predictor, histories, indexDays))
			for (let sample = 0; sample < samples; sample++)
				yield { future: beginFuture(start, sample, allNew, options), start };
	}
	const store = (future: PartialFuture, day: number) => {
		(complete[future.history] as Future[])[future.sample] = futureUntil(future, day);
	};

	const partial: PartialFuture[] = []; // [rows]
	const beginning = begin();
	/** Futures that are complete or being drawn. */
	let begun = 0;
	/** Whether there are futures to draw. */
	async function fill(): Promise<boolean> {
		while (partial.length < rows.capacity) {
			const next = await beginning.next();
			if (next.done) break;
			const { future, start } = next.value;
			rows.start(partial.length, start.memory, start.row);
			partial.push(future);
			begun++;
		}
		return partial.length > 0;
	}
	async function takeStep(): Promise<void> {
		for (const [row, future] of partial.entries()) writeQuery(future, row);
		const step = await rows.step(partial.length);
		const goesOn = partial.map((future, row) => move(future, row, step));
		for (let row = partial.length - 1; row >= 0; row--) {
			if (goesOn[row]) continue;
			store(partial[row] as PartialFuture, Number.POSITIVE_INFINITY);
			const last = partial.pop() as PartialFuture;
			if (row === partial.length) continue;
			rows.copy(partial.length, row);
			partial[row] = last;
		}
	}
	return {
		async advance(goesOn) {
			while (await fill()) {
				await takeStep();
				if (!goesOn()) return (await fill()) === false;
			}
			return true;
		},
		drawn() {
			for (const future of partial) store(future, drawnDay(future));
			return complete.map((futures) => Array.from(futures, (future) => future ?? nothingDrawn));
		},
		drawnUntil: () =>
			histories.map((_, history) => {
				const first = Math.floor(indexDays[history] as number);
				if (begun < (history + 1) * samples) return first;
				const drawnDays = partial.filter((future) => future.history === history).map(drawnDay);
				return Math.min(first + days, ...drawnDays);
			}),
	};
}

const nothingDrawn: Future = {
	tokens: new Int32Array(0),
	times: new Float64Array(0),
	death: null,
};

/** Each history with its records up to the index day, and the state after them. */
async function* starts(
	predictor: Parts["predictor"],
	histories: readonly Events[],
	indexDays: ArrayLike<number>,
) {
	for (let first = 0; first < histories.length; first += mostHistories) {
		const some = histories.slice(first, first + mostHistories).map((history, i) => {
			const day = Math.floor(indexDays[first + i] as number);
			let known = 0;
			while (known < history.times.length && Math.floor(history.times[known] as number) <= day)
				known++;
			return {
				day,
				history: first + i,
				row: i,
				tokens: Array.from(history.tokens).slice(0, known),
				times: Array.from(history.times).slice(0, known),
			};
		});
		const { memory } = await predictor.observe(predictor.start(some.length), some);
		for (const start of some) yield { ...start, memory };
	}
}
