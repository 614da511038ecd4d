import { expect, test } from "vitest";
import { vocabularyOf } from "../../../src/cohort/vocabulary.js";
import { panelsOf, queriesFor } from "../engine/panels.js";
import { dateWarnings } from "./date-warnings.js";
import { attributedText } from "./drivers-list.js";
import { predictionWords, riskWords } from "./prediction-words.js";
import { legendOf } from "./timeline-legend.js";
import { marksOf, markText } from "./timeline-marks.js";

const token = (code: string, name: string) => ({
	...{ kind: "diagnosis" as const, system: "PheCode", code, name, category: "heart", count: 1 },
});
const vocabulary = vocabularyOf([token("401", "Hypertension"), token("428", "Heart failure")]);
const [pressure, failure] = ["401", "428"].map((code) => vocabulary.find(code)) as [number, number];
const clock = { axis: "days" } as const;
const events = [10, 20, 30, 40].map((time, at) => ({
	...{ id: `e${at}`, time, token: at === 3 ? failure : pressure },
}));
const history = { tokens: [3, 5, 5, 5, 6], times: [0, 10, 20, 30, 40], birthEvents: 1 } as const;

/** Answers of one model for all times. */
const panelsAt = (date: number, horizon: number) => {
	const row = Float32Array.from(vocabulary.tokens, () => Math.log(0.01));
	row[pressure] = Math.log(0.5);
	row[failure] = Math.log(0.25);
	const queries = queriesFor(events, [10, 40], date, horizon);
	return panelsOf(queries, { date, row: () => row }, history);
};

test("marks are of the answers that are shown, not of what is asked since", () => {
	const panels = panelsAt(25, 8);
	const shown = { events, original: events, edits: [], panels, seenUntil: 25 };
	expect(marksOf(shown, vocabulary).map(({ fate }) => fate)).toEqual([
		"seen",
		"seen",
		"hit",
		"later",
	]);
	// An event that has gone elsewhere since it was asked about is not answered there.
	const edits = [{ kind: "move", id: "e2", time: 31 }] as const;
	const moved = events.with(2, { ...(events[2] as (typeof events)[0]), time: 31 });
	const marks = marksOf({ ...shown, events: moved, edits }, vocabulary);
	expect(marks[2]).toMatchObject({ fate: "later", edit: "moved" });
	expect(markText(marks[2]!, panels, vocabulary, clock)).toBe(
		"Hypertension, day 31, after the date, not asked about",
	);
	expect(markText(marksOf(shown, vocabulary)[2]!, panels, vocabulary, clock)).toBe(
		"Hypertension, day 30, foreseen: rank 1, 50 %",
	);
});

test("an event that was removed is drawn where it was, one that was added as added", () => {
	const edits = [
		{ kind: "remove", id: "e0" },
		{ kind: "add", event: { id: "n1", token: failure, time: 12 } },
	] as const;
	const left = [...events.slice(1), { id: "n1", token: failure, time: 12 }];
	const marks = marksOf(
		{ events: left, original: events, edits, panels: null, seenUntil: 25 },
		vocabulary,
	);
	expect(marks.map(({ id, edit }) => [id, edit]).slice(-2)).toEqual([
		["n1", "added"],
		["e0", "removed"],
	]);
	expect(markText(marks.at(-1)!, null, vocabulary, clock)).toBe("Hypertension, day 10, removed");
});

test("dates beyond what the model has learned from are warned of, and curves that go there", () => {
	const reach = { longestDays: 730.5, oldestDays: 1461 };
	const monthly = events.map((event) => ({ ...event, time: 30 * event.time }));
	const asked = { patient: { birth: 0 }, events: monthly, horizon: 30, reach };
	expect(dateWarnings({ ...asked, date: 1350 })).toEqual([]);
	expect(dateWarnings({ ...asked, date: 1446 })).toEqual([
		"The curves go on to the age of 4.0 years; the oldest the model learned from is 4.0 years.",
	]);
	expect(dateWarnings({ ...asked, date: 2100 })).toEqual([
		"The date is at 2.5 years after the last record before the date, longer than any history the model was trained on; the longest spans 2.0 years.",
		"The date is at the age of 5.7 years; the oldest the model learned from is 4.0 years.",
	]);
	expect(dateWarnings({ ...asked, date: 2100, patient: { birth: null } })).toHaveLength(1);
	expect(dateWarnings({ ...asked, date: 2100, reach: null })).toEqual([]);
	expect(dateWarnings({ ...asked, date: 270 })[0]).toContain("no more than the birth");
	expect(dateWarnings({ ...asked, date: 270, patient: { birth: null } })[0]).toContain(
		"nothing in training resembles",
	);
});

test("times after the death are warned of, whatever else is known", () => {
	const asked = { patient: { birth: 0, death: 50 }, events, reach: null };
	expect(dateWarnings({ ...asked, date: 45, horizon: 5 })).toEqual([]);
	expect(dateWarnings({ ...asked, date: 45, horizon: 35 })).toEqual([
		"The curves go on to 30 days after the patient’s death.",
	]);
	expect(dateWarnings({ ...asked, date: 51, horizon: 60 })).toEqual([
		"The date is 1 day after the patient’s death.",
	]);
	expect(
		dateWarnings({ ...asked, patient: { birth: 0, death: null }, date: 70, horizon: 60 }),
	).toEqual([]);
});

test("the legend tells of chosen codes and of edits where there are any", () => {
	const words = (edits: Parameters<typeof marksOf>[0]["edits"], chosen: number | null) =>
		legendOf(
			marksOf({ events, original: events, edits, panels: null, seenUntil: 25 }, vocabulary),
			(token) => (token === chosen ? "red" : undefined),
		)
			.slice(3)
			.map(({ words }) => words);
	expect(words([], null)).toEqual(["later, not asked about"]);
	expect(words([{ kind: "move", id: "e1", time: 20 }], failure).slice(1)).toEqual([
		"code whose risk is drawn",
		"added or moved",
	]);
	expect(words([{ kind: "remove", id: "e1" }], null).slice(1)).toEqual(["removed"]);
});

test("new answers in words", () => {
	const panels = panelsAt(25, 8);
	const curve = { ...panels.curve(failure), name: "Heart failure", colour: "red" };
	expect(predictionWords(panels, [curve], 5, vocabulary, clock)).toBe(
		"Answers for day 25. Likeliest: Hypertension 50 %, Heart failure 25 %. Risk: Heart failure 25 % at the date, 25 % after 5 years. Later events: 1 of 1 later event among the 10 likeliest codes at their time, a recall of 100 %.",
	);
	const base = { ...curve, risk: curve.risk.map(() => 0.125) };
	expect(riskWords({ ...curve, base }, 25, 1)).toBe(
		"Heart failure 25 % at the date, was 13 %, 25 % after 1 year",
	);
});

test("how many events were left out, one at a time, is told as it was", () => {
	expect(attributedText(2, history, 25)).toBe("All 2 events before it were tried.");
	expect(attributedText(1, history, 25)).toBe("The last 1 of 2 events before it were tried.");
	expect(attributedText(1, history, 11)).toBe("The one event before it was tried.");
	expect(attributedText(0, history, 10)).toBe("Nothing is recorded before it.");
});
