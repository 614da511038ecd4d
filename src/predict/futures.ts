import { InputError } from "../base/errors.js";
import { type Dedup, deathRecord } from "../data/cohort/reading/rules.js";
import { specialCount, type Vocabulary } from "../data/cohort/vocabulary.js";
import type { Runtime } from "../engine/runtime/index.js";
import type { HazardSettings } from "../model/hazards/settings.js";
import type { CodeConfig } from "../model/heads.js";
import type { Events, Model, ParameterValues, Predictor } from "../model/index.js";
import type { FutureSteps } from "../model/predictor.js";
import {
	beginFuture,
	drawnFuture,
	type Future,
	type FutureOptions,
	futureMoves,
	isExcluded,
	isNew,
	type PartialFuture,
} from "./future-moves.js";
import { hazardSettingsOf } from "./hazards.js";
import { eventsOf, knownCount } from "./histories.js";

/** What is never drawn, or may be drawn again on a day, as a dataset's records have it. */
export function futureRules(
	vocabulary: Pick<Vocabulary, "find">,
	dedup: Dedup,
): { readonly leftOut: readonly number[]; readonly repeats: boolean } {
	const death = vocabulary.find(deathRecord.code, deathRecord.system);
	return { leftOut: death === undefined ? [] : [death], repeats: dedup === "none" };
}

/** Samples futures. Programs stay compiled until it is disposed of. */
export interface FutureModel {
	readonly settings: HazardSettings;
	readonly vocab: number;
	/**
	 * Futures of each history after its index day, whose records and those before are known: [histories][samples].
	 * A future depends on the seed, on its history's place in the list and on its own number alone.
	 */
	draw(
		histories: readonly Events[],
		indexDays: ArrayLike<number>,
		options: FutureOptions,
	): Promise<Future[][]>;
	dispose(): Promise<void>;
}

/** Years of all futures together: at 85 records per year and 12 bytes per record, 1 GiB. */
const mostYears = 2 ** 20;

export function futureModel(
	runtime: Runtime,
	learned: {
		readonly model: Model;
		readonly config: unknown;
		readonly weights: ParameterValues;
	},
): FutureModel {
	const { model, weights } = learned;
	const config = learned.config as CodeConfig;
	const settings = hazardSettingsOf(learned);
	checkSamplesFutures(model);
	const steps = model.futureSteps(runtime, config, weights);
	const predictor = model.predictor(runtime, config, weights);
	const parts = { settings, vocab: config.vocab, steps, predictor };
	return {
		settings,
		vocab: config.vocab,
		async draw(histories, indexDays, options) {
			checkFutureOptions(options, histories.length);
			return drawFutures(parts, histories, indexDays, options);
		},
		async dispose() {
			await steps.dispose();
			await predictor.dispose();
		},
	};
}

/**
 * The standard error of a share of so many futures, as if there were one more future with a record and one without:
 * a share of 0 or 1 is uncertain too.
 */
export function shareError(share: number, futures: number): number {
	const smoothed = (share * futures + 1) / (futures + 2);
	return Math.sqrt((smoothed * (1 - smoothed)) / futures);
}

/** Refuses a model that cannot sample futures. */
export function checkSamplesFutures(
	model: Model,
): asserts model is Model & Required<Pick<Model, "futureSteps">> {
	if (!model.futureSteps)
		throw new InputError(
			`${model.name} has no state that can be moved on record by record, so it samples no futures; use a run of TrajGPT`,
		);
}

/** Refuses futures that are none, and more than memory can hold. */
export function checkFutureOptions(
	{ days, samples }: Pick<FutureOptions, "days" | "samples">,
	histories: number,
): void {
	if (!(Number.isInteger(samples) && samples >= 1))
		throw new InputError(`\`samples\` is ${samples}; expected a whole number from 1`, {
			field: "samples",
			value: samples,
		});
	if (!(days >= 1))
		throw new InputError(`\`days\` is ${days}; expected at least 1`, {
			field: "days",
			value: days,
		});
	const years = Math.ceil((histories * samples * days) / 365);
	if (years > mostYears)
		throw new InputError(
			`${samples} futures of ${days} days for ${histories} histories are ${years} years; expected at most ${mostYears}: lower \`samples\``,
			{ field: "samples", value: samples },
		);
}

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
async function drawFutures(
	parts: Parts,
	histories: readonly Events[],
	indexDays: ArrayLike<number>,
	options: FutureOptions,
): Promise<Future[][]> {
	const { samples, leftOut = [], repeats = false } = options;
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
	const beginning = begin();
	const partial: PartialFuture[] = []; // [rows]
	for (;;) {
		while (partial.length < rows.capacity) {
			const next = await beginning.next();
			if (next.done) break;
			const { future, start } = next.value;
			rows.start(partial.length, start.memory, start.row);
			partial.push(future);
		}
		if (partial.length === 0) return complete;
		for (const [row, future] of partial.entries()) writeQuery(future, row);
		const step = await rows.step(partial.length);
		const goesOn = partial.map((future, row) => move(future, row, step));
		for (let row = partial.length - 1; row >= 0; row--) {
			if (goesOn[row]) continue;
			const future = partial[row];
			complete[future.history][future.sample] = drawnFuture(future);
			const last = partial.pop() as PartialFuture;
			if (row === partial.length) continue;
			rows.copy(partial.length, row);
			partial[row] = last;
		}
	}
}

/** Each history with its records up to the index day, and the state after them. */
async function* starts(
	predictor: Parts["predictor"],
	histories: readonly Events[],
	indexDays: ArrayLike<number>,
) {
	for (let first = 0; first < histories.length; first += mostHistories) {
		const some = histories.slice(first, first + mostHistories).map((history, i) => {
			const day = Math.floor(indexDays[first + i]);
			const known = eventsOf(history, 0, knownCount(history, day));
			return { ...known, day, history: first + i, row: i };
		});
		const { memory } = await predictor.observe(predictor.start(some.length), some);
		for (const start of some) yield { ...start, memory };
	}
}
