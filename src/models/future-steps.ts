import type { Features } from "./hazards/head.js";

/** The states of futures: arrays by name, with as many numbers for every future. */
export type FutureMemory = Readonly<Record<string, Float32Array>>;

/** A time of each future, and the record before it. */
export interface FutureTimes {
	readonly tokens: Int32Array; // [rows]
	/** NaN where there is no record before. */
	readonly last: Float64Array; // [rows]
	readonly times: Float64Array; // [rows]
}

/** Log hazards per day after a landmark. */
export interface WaitingHazards {
	/** Of the next record of any code. */
	readonly visits: Float32Array; // [rows, visit bins]
	readonly death: Float32Array; // [rows, bins]
	/** The share of records whose code is new to the patient. */
	readonly newShare: Float32Array; // [rows, bins]
}

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
		features: { readonly [Field in keyof Features]: Float32Array },
	): Promise<WaitingHazards>;
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
