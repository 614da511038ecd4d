import { meanOf, ratioOf, type Statistic } from "../bootstrap.js";
import type { Ranks } from "./ranks.js";

const depths = [1, 5, 10, 15] as const;

/** Stretches of later events, counted from 1 on. */
export const windows = [
	{ window: "1–20", from: 1, to: 20 },
	{ window: "21–50", from: 21, to: 50 },
	{ window: "51–100", from: 51, to: 100 },
] as const;

/** Depth of the recall within a window. */
const windowDepth = 10;

/** The part of these events that was among the `depth` likeliest codes; NaN of no events. */
function recall(ranks: Ranks, depth: number): number {
	let hits = 0;
	for (const rank of ranks) if (rank < depth) hits++;
	return hits / ranks.length;
}

/** The recall@10 of each patient within a window; NaN for those without events there. */
const recallWithin = (ranks: readonly Ranks[], { from, to }: { from: number; to: number }) =>
	ranks.map((own) => recall(own.subarray(from - 1, to), windowDepth));

/** Recall averaged over patients, of all later events and by window. */
export function recallStatistics(ranks: readonly Ranks[]): Record<string, Statistic> {
	const whole = depths.map((depth): [string, Statistic] => [
		`recall@${depth}`,
		meanOf(ranks.map((own) => recall(own, depth))),
	]);
	const parts = windows.map(({ window, ...range }): [string, Statistic] => {
		const recalls = recallWithin(ranks, range);
		return [
			`recall@${windowDepth} ${window}`,
			ratioOf(
				recalls.map((one) => (Number.isNaN(one) ? 0 : one)),
				recalls.map((one) => (Number.isNaN(one) ? 0 : 1)),
			),
		];
	});
	// Where nobody has events so far ahead there is nothing to tell.
	return Object.fromEntries([
		...whole,
		...parts.filter((_, i) => reaches(ranks, windows[i]!.from)),
	]);
}

const reaches = (ranks: readonly Ranks[], event: number) =>
	ranks.some(({ length }) => length >= event);

/** By window, the recall@10 of every patient who has events there. */
export const windowRecalls = (ranks: readonly Ranks[]): number[][] =>
	windows.map((range) => recallWithin(ranks, range).filter((one) => !Number.isNaN(one)));
