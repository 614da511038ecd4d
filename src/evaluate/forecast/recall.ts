import type { Ratios } from "../by-patient.js";
import type { Ranks } from "./ranks.js";

const depths = [1, 5, 10, 15] as const;

/** Ranges of later events, counted from 1. */
export const windows = [
	{ window: "1–20", from: 1, to: 20 },
	{ window: "21–50", from: 21, to: 50 },
	{ window: "51–100", from: 51, to: 100 },
] as const;

/** The K of recall@K within a window. */
const windowDepth = 10;

/** The fraction of events among the `depth` most likely codes; NaN if there are no events. */
function recall(ranks: Ranks, depth: number): number {
	let hits = 0;
	for (const rank of ranks) if (rank < depth) hits++;
	return hits / ranks.length;
}

/** The recall@10 of each patient within a window; NaN for patients without events there. */
const recallWithin = (ranks: readonly Ranks[], { from, to }: { from: number; to: number }) =>
	ranks.map((own) => recall(own.subarray(from - 1, to), windowDepth));

/** Recall averaged over patients, for all later events and by window. */
export function recallRatios(ranks: readonly Ranks[]): Ratios {
	const whole = depths.map((depth) => {
		const parts = ranks.map((own) => recall(own, depth));
		return [`recall@${depth}`, { parts, wholes: parts.map(() => 1) }] as const;
	});
	// Windows without any event are left out.
	const reached = windows.filter(({ from }) => reaches(ranks, from));
	const byWindow = reached.map(({ window, ...range }) => {
		const recalls = recallWithin(ranks, range);
		const parts = recalls.map((one) => (Number.isNaN(one) ? 0 : one));
		const wholes = recalls.map((one) => (Number.isNaN(one) ? 0 : 1));
		return [`recall@${windowDepth} ${window}`, { parts, wholes }] as const;
	});
	return Object.fromEntries([...whole, ...byWindow]);
}

const reaches = (ranks: readonly Ranks[], event: number) =>
	ranks.some(({ length }) => length >= event);

/** By window, the recall@10 of every patient with events there. */
export const windowRecalls = (ranks: readonly Ranks[]): number[][] =>
	windows.map((range) => recallWithin(ranks, range).filter((one) => !Number.isNaN(one)));
