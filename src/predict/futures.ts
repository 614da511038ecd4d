import { InputError } from "../base/errors.js";
import { type Dedup, deathRecord } from "../data/cohort/reading/rules.js";
import type { Vocabulary } from "../data/cohort/vocabulary.js";
import type { Runtime } from "../engine/runtime/index.js";
import type { HazardSettings } from "../model/hazards/settings.js";
import type { CodeConfig } from "../model/heads.js";
import type { Events, Model, ParameterValues } from "../model/index.js";
import { beginDrawing } from "./future-drawing.js";
import { hazardSettingsOf } from "./hazards.js";

/** One way in which a history may go on after an index day. */
export interface Future {
	/** The records after the index day, in order. */
	readonly tokens: Int32Array;
	/** Whole days. */
	readonly times: Float64Array;
	/** The day of death; null if the patient lives on. */
	readonly death: number | null;
}

export interface FutureOptions {
	/** Days after the index day. */
	readonly days: number;
	/** Futures per history. */
	readonly samples: number;
	readonly seed: number;
	/** The number of the first future; 0 by default. Others can be drawn elsewhere. */
	readonly firstSample?: number | undefined;
	/** Tokens that are never drawn, such as one for death. */
	readonly leftOut?: readonly number[] | undefined;
	/** Whether a code may be drawn again on the same day; no by default. */
	readonly repeats?: boolean | undefined;
}

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
	/** The same futures, part by part. */
	begin(
		histories: readonly Events[],
		indexDays: ArrayLike<number>,
		options: FutureOptions,
	): FutureDrawing;
	dispose(): Promise<void>;
}

/** Futures that are being drawn. */
export interface FutureDrawing {
	/** Draws until all are complete, or until `goesOn`, called after each step, returns false. Returns whether all are complete. */
	advance(goesOn: () => boolean): Promise<boolean>;
	/** What is drawn of each future. */
	drawn(): Future[][];
	/** The last day up to which all futures of a history are drawn: [histories]. */
	drawnUntil(): number[];
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
	const begin: FutureModel["begin"] = (histories, indexDays, options) => {
		checkFutureOptions(options, histories.length);
		return beginDrawing(parts, histories, indexDays, options);
	};
	return {
		settings,
		vocab: config.vocab,
		begin,
		async draw(...given) {
			const drawing = begin(...given);
			await drawing.advance(() => true);
			return drawing.drawn();
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
