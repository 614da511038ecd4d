import type { LandmarkFeatures } from "./hazards/landmarks.js";
import type { NextVisit } from "./hazards/next-visit.js";
import type { State } from "./predictor.js";

/** What a step asks of each future: a time, the record before it, and what else predictions there depend on. */
export interface FutureQueries extends Pick<LandmarkFeatures, "ages" | "sinceAny" | "past"> {
	readonly tokens: Int32Array; // [rows]
	/** NaN where there is no record before. */
	readonly last: Float64Array; // [rows]
	readonly times: Float64Array; // [rows]
}

/** What comes first after a landmark, in the visit bins that lie in the bin of a query. */
type WaitStep = { readonly [Field in keyof NextVisit]: Float32Array }; // [rows, visit bins]

/**
 * What is predicted at the times of a step, until the next one. A query is either at the time of a record or in the
 * middle of a bin after a landmark, and only what is predicted for its kind is of use.
 */
export interface FutureStep extends WaitStep {
	/** Of the record at this time, given that there is one. */
	readonly logits: Float32Array; // [rows, vocab]
}

/** Futures side by side, each with its state in a row. */
export interface FutureRows {
	/** How many there can be. */
	readonly capacity: number;
	/** The queries of the next step, to be filled in. */
	readonly queries: FutureQueries;
	/** Puts the state of a patient in a predictor's memory into a row. */
	start(row: number, memory: State["memory"], patient: number): void;
	/** Copies a row's state to another row. */
	copy(from: number, to: number): void;
	/** Predicts at the queries of the first rows. */
	step(count: number): Promise<FutureStep>;
	/**
	 * Moves a row's state on to the time of the last step. The record of that time enters with the next step, as the
	 * token before.
	 */
	keep(row: number): void;
}

/** Predicts step by step from the states of many futures. */
export interface FutureSteps {
	/** How many bins and visit bins have predictions, from the first. */
	readonly bins: number;
	readonly visitBins: number;
	/** Rows for up to so many futures; fewer if that is faster. */
	rows(futures: number): FutureRows;
	dispose(): Promise<void>;
}
