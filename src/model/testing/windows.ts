import { observedInputs, type Queries, queryInputs } from "../kinds/observed.js";
import type { Window } from "../kinds/window.js";
import { plainWeights } from "../nn/testing/plain.js";
import { normal, type WeightSpecs } from "../nn/weights.js";
import { vocab } from "./histories.js";

/** A network's weights, the embedding among them, of which none is exactly 0. */
export const drawnWeights = (network: WeightSpecs, dim: number) =>
	plainWeights({ embedding: normal([vocab, dim], 1), ...network });

/** Inputs of one window and of queries after it. */
export function oneWindow(
	places: number,
	questions: number,
): { readonly window: Window; readonly queries: Queries } {
	const observed = observedInputs("seen", 1, places, "float32");
	return {
		window: { ...observed, shown: observed.mask },
		queries: queryInputs("seen", 1, questions, "float32"),
	};
}

/** Values of these inputs: one event per day, then one query per day; the days of the first `padding` positions are junk. */
export function windowFeeds(
	tokens: readonly number[],
	questions: number,
	padding: number,
	junk = 0,
): Record<string, number[]> {
	const places = tokens.length;
	const days = tokens.map((_, i) => (i < padding ? junk : i - padding));
	const ahead = Array.from({ length: questions }, (_, i) => i + 1);
	return {
		"seen.tokens": [...tokens],
		"seen.days": days,
		"seen.gaps": tokens.map((_, i) => (i < padding ? junk : Number(i > padding))),
		"seen.mask": tokens.map((_, i) => Number(i >= padding)),
		"seen.queryDays": ahead.map((gap) => places - 1 - padding + gap),
		"seen.queryGaps": ahead,
	};
}
