import type { Events } from "../model/index.js";
import type { Scoring } from "../model/train/finetune/classifier.js";
import type { ViewedHistory } from "./represent.js";

// The page imports this file without the tensors that scores are computed with.

/** What is known of a history on a day: its records and those before. */
export function knownOn({ tokens, times }: Events, day: number): ViewedHistory {
	let seen = 0;
	while (seen < times.length && Math.floor(times[seen] as number) <= Math.floor(day)) seen++;
	return {
		tokens: Array.prototype.slice.call(tokens, 0, seen),
		times: Array.prototype.slice.call(times, 0, seen),
		at: seen === 0 ? day : Math.max(day, times[seen - 1] as number),
	};
}

/** Why a task is not about a patient with these known records; undefined if they do not say so. */
export function outsideReason(
	{ task, outside }: Scoring,
	{ tokens, times, at }: ViewedHistory,
): string | undefined {
	if (!outside) return undefined;
	const { what, withinDays = Number.POSITIVE_INFINITY } = outside;
	const wanted = new Set(outside.tokens);
	const end = at ?? times[times.length - 1] ?? 0;
	const isRecorded = Array.prototype.some.call(
		tokens,
		(token: number, i) => wanted.has(token) && end - (times[i] as number) <= withinDays,
	);
	if (isRecorded !== (outside.if === "recorded")) return undefined;
	return `outside the definition of ${task}: ${isRecorded ? "has a" : "has no"} record of ${what}`;
}
