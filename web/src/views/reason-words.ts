import type { Vocabulary } from "../../../src/data/cohort/vocabulary.js";
import { counted } from "../../../src/evaluate/charts/numbers.js";
import { type Reason, type Reasons, startText } from "../../../src/predict/reasons.js";
import { reasonYears } from "../engine/reasons.js";
import type { NamedEdit, RiskRequest } from "../engine/risk-source.js";
import type { Rows } from "../parts/copy.js";
import { codeName } from "./code-name.js";

/** Digits after the point of percentages, the same for all rows; `shownEffects` of them add up as shown. */
export const pointDigits = ({ risk, start, listed, others }: Reasons): number =>
	Math.max(risk, start, ...[...listed, ...(others ? [others] : [])].map(sizeOf)) >= 0.0995 ? 1 : 2;

const sizeOf = ({ effect }: Reason): number => Math.abs(effect);

/** A change of a probability in percentage points: +1.20, −0.35, 0.00. */
export function pointsWith(change: number, digits: number): string {
	const size = Math.abs(100 * change).toFixed(digits);
	return Number(size) === 0 ? size : `${change > 0 ? "+" : "−"}${size}`;
}

/** The names in a list of reasons. */
export interface ReasonNames {
	readonly start: string;
	readonly nameOf: (part: number) => string;
	/** The code of a part; empty for an edit. */
	readonly codeOf: (part: number) => string;
	/** `3 records`; empty for an edit, which is of one. */
	readonly recordsOf: (count: number) => string;
	/** Of parts that go together: `3 other codes`. */
	readonly othersOf: (count: number) => string;
	readonly end: string;
}

/** The names in the reasons of a first record: codes or, where a history is edited, edits. */
export function reasonNames(
	{ history, sex, edits }: Pick<RiskRequest, "history" | "sex" | "edits">,
	vocabulary: Vocabulary,
): ReasonNames {
	const isEdited = edits.length > 0;
	const { birthEvents } = history;
	return {
		start: startText({ sex, birthEvents, isRecorded: false, isEdited }),
		nameOf: isEdited
			? (place) => (edits[place] as NamedEdit).name
			: (token) => codeName(vocabulary, token),
		codeOf: isEdited ? () => "" : (token) => vocabulary.tokens[token]?.code ?? "",
		recordsOf: (count) => (isEdited ? "" : counted(count, "record")),
		othersOf: (count) => counted(count, isEdited ? "other edit" : "other code"),
		end: `risk within ${reasonYears} years${isEdited ? " after the edits" : ""}`,
	};
}

/** The reasons as a table to copy. */
export const reasonRows = ({ risk, start, listed, others }: Reasons, names: ReasonNames): Rows => [
	["code", "name", "records", "effect", "standard error"],
	["", names.start, "", start, ""],
	...listed.map(({ parts: [part = 0], records, effect, error }) => [
		...[names.codeOf(part), names.nameOf(part)],
		...[records, effect, error],
	]),
	...(others
		? [["", names.othersOf(others.parts.length), others.records, others.effect, others.error]]
		: []),
	["", names.end, "", risk, ""],
];
