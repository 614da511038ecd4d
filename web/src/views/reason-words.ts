import type { Vocabulary } from "../../../src/cohort/vocabulary.js";
import type { Reason, Reasons } from "../../../src/infer/reasons.js";
import { reasonYears } from "../engine/reasons.js";
import type { Rows } from "../parts/copy.js";
import { codeName } from "./code-name.js";

/** Digits after the point of percentages, the same for all rows, so that they add up as shown. */
export const pointDigits = ({ risk, unrecorded, codes, others }: Reasons): number =>
	Math.max(risk, unrecorded, ...[...codes, ...(others ? [others] : [])].map(sizeOf)) >= 0.0995
		? 1
		: 2;

const sizeOf = ({ effect }: Reason): number => Math.abs(effect);

/** A change of a probability in percentage points: +1.20, −0.35, 0.00. */
export function pointsWith(change: number, digits: number): string {
	const size = Math.abs(100 * change).toFixed(digits);
	return Number(size) === 0 ? size : `${change > 0 ? "+" : "−"}${size}`;
}

/** The reasons as a table to copy. */
export const reasonRows = (
	{ risk, unrecorded, codes, others }: Reasons,
	vocabulary: Vocabulary,
	hasBirth: boolean,
): Rows => [
	["code", "name", "records", "effect", "standard error"],
	["", hasBirth ? "with age and sex alone" : "with nothing recorded", "", unrecorded, ""],
	...codes.map(({ tokens: [token = 0], records, effect, error }) => [
		...[vocabulary.tokens[token]?.code ?? "", codeName(vocabulary, token)],
		...[records, effect, error],
	]),
	...(others
		? [["", `${others.tokens.length} other codes`, others.records, others.effect, others.error]]
		: []),
	["", `risk within ${reasonYears} years`, "", risk, ""],
];
