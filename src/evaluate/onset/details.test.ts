import { expect, test } from "vitest";
import type { Vocabulary } from "../../data/cohort/vocabulary.js";
import { sortFollowUp } from "../survival/follow-up.js";
import { chosenConditions, conditionDetails, incidenceByFifth } from "./details.js";

const token = (code: string, system = "PheCode") =>
	({ kind: "diagnosis", code, system, name: code, category: null, count: 9 }) as const;
const vocabularyOf = (...codes: readonly string[]) =>
	({ tokens: codes.map((code) => token(code)) }) as unknown as Vocabulary;

/** Follow-up with so many onsets on day 10, and everybody else observed for 100 days. */
const followUp = (place: number, onsets: number, people = 50) => ({
	token: place,
	time: Float64Array.from({ length: people }, (_, i) => (i < onsets ? 10 : 100)),
	status: Uint8Array.from({ length: people }, (_, i) => Number(i < onsets)),
	patient: Int32Array.from({ length: people }, (_, i) => i),
	expected: new Map<number, number>(),
});

test("chronic diseases come first, in their own order", () => {
	const codes = [followUp(0, 40), followUp(1, 20), followUp(2, 30)];
	const chosen = chosenConditions(codes, vocabularyOf("465", "250", "428"), 50);
	expect(chosen.map(({ token }) => token)).toEqual([2, 1]);
});

test("without any of them, the codes with the most onsets", () => {
	const codes = [20, 25, 22, 30, 21].map((onsets, place) => followUp(place, onsets));
	const chosen = chosenConditions(codes, vocabularyOf("1", "2", "3", "4", "5"), 50);
	expect(chosen.map(({ token }) => token)).toEqual([3, 1, 2, 4]);
});

test("fifths by predicted risk: all onsets are in the highest", () => {
	const ofCode = followUp(0, 5, 25);
	const risks = Float64Array.from({ length: 25 }, (_, i) => (i < 5 ? 0.5 : i / 1000));
	const { days, fifths } = incidenceByFifth(sortFollowUp(ofCode), 60, risks);
	expect(days).toHaveLength(61);
	expect(fifths.map(({ count }) => count)).toEqual([5, 5, 5, 5, 5]);
	expect(fifths.map(({ observed }) => observed.at(-1))).toEqual([0, 0, 0, 0, 1]);
	expect(fifths.at(-1)?.observed.slice(8, 12)).toEqual([0, 0, 1, 1]);
	expect(fifths.at(-1)?.predicted).toBe(0.5);
});

test("net benefit by row, beside treating all", () => {
	const ofCode = followUp(0, 10, 50);
	const perfect = Float64Array.from({ length: 50 }, (_, i) => (i < 10 ? 0.9 : 0));
	const none = new Float64Array(50);
	const { decisions, onsets, atRisk } = conditionDetails(
		ofCode,
		{ years: 1, days: 50 },
		[
			{ label: "perfect", risks: perfect },
			{ label: "none", risks: none },
		],
		vocabularyOf("428"),
	);
	expect({ onsets, atRisk }).toEqual({ onsets: 10, atRisk: 50 });
	const at = decisions.find(({ threshold }) => threshold === 0.2);
	expect(at?.all).toBeCloseTo(0.2 - 0.8 / 4, 10);
	expect(at?.rows.map(({ netBenefit }) => netBenefit)).toEqual([0.2, 0]);
});
