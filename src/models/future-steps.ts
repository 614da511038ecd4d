import type { LandmarkFeatures } from "./hazards/landmarks.js";
import type { NextVisit } from "./hazards/next-visit.js";

/** The states of futures: arrays by name, with as many numbers for every future. */
export type FutureMemory = Readonly<Record<string, Float32Array>>;

/** A time of each future, and the record before it. */
export interface FutureTimes {
	readonly tokens: Int32Array; // [rows]
	/** NaN where there is no record before. */
	readonly last: Float64Array; // [rows]
	readonly times: Float64Array; // [rows]
}

/** What comes first after a landmark: see `NextVisit`. */
export type Waiting = { readonly [Field in keyof NextVisit]: Float32Array }; // [rows, visit bins]

export interface RecordStep {
	/** Of the record at this time, given that there is one. */
	readonly logits: Float32Array; // [rows, vocab]
	/** Log-odds that the record before was the last one of its day. */
	readonly visitEnd: Float32Array; // [rows]
	/**
	 * Moves the state at a place of a memory on to the time of a row. The record itself enters with the next step, as
	 * the token before.
	 */
	keep(row: number, memory: FutureMemory, place: number): void;
}

/** Queries the states of many futures, a fixed number of them per call. */
export interface FutureSteps {
	/** Futures per call. */
	readonly rows: number;
	/** Numbers per future in each part of its state. */
	readonly widths: Readonly<Record<string, number>>;
	/** How many bins a wait covers, from the first. */
	readonly bins: number;
	/** What happens after landmarks, whose times these are. */
	wait(
		memory: FutureMemory,
		landmarks: FutureTimes,
		features: Pick<LandmarkFeatures, "ages" | "sinceAny" | "past">,
	): Promise<Waiting>;
	/** What is recorded at these times. */
	record(
		memory: FutureMemory,
		at: FutureTimes,
		before: {
			/** How many records of the same day came before. */
			readonly records: Float32Array; // [rows]
			/** See `writePast`. */
			readonly past: Float32Array; // [rows, pastFeatures]
		},
	): Promise<RecordStep>;
	dispose(): Promise<void>;
}
