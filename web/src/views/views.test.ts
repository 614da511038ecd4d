import { expect, test } from "vitest";
import { vocabularyOf } from "../../../src/data/cohort/vocabulary.js";
import { panelsOf, queriesFor } from "../engine/panels.js";
import { dateWarnings } from "./date-warnings.js";
import { attributedText } from "./drivers-list.js";
import { knownText, predictionWords, probabilityWords } from "./prediction-words.js";
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

/** The same probabilities at all times. */
const panelsAt = (date: number, horizon: number) => {
	const row = Float32Array.from(vocabulary.tokens, () => Math.log(0.01));
	row[pressure] = Math.log(0.5);
	row[failure] = Math.log(0.25);
	const queries = queriesFor(events, [10, 40], date, horizon);
	return panelsOf(queries, { date, row: () => row }, history);
};

test("marks follow the predictions shown, not the latest request", () => {
	const panels = panelsAt(25, 8);
	const shown = { events, original: events, edits: [], panels, seenUntil: 25 };
	expect(marksOf(shown, vocabulary).map(({ fate }) => fate)).toEqual([
		"seen",
		"seen",
		"hit",
		"later",
	]);
	// There is no prediction for an event that was moved after the query.
	const edits = [{ kind: "move", id: "e2", time: 31 }] as const;
	const moved = events.with(2, { ...(events[2] as (typeof events)[0]), time: 31 });
	const marks = marksOf({ ...shown, events: moved, edits }, vocabulary);
	expect(marks[2]).toMatchObject({ fate: "later", edit: "moved" });
	expect(markText(marks[2]!, panels, vocabulary, clock)).toBe(
		"Hypertension, day 31, after the date, not compared",
	);
	expect(markText(marksOf(shown, vocabulary)[2]!, panels, vocabulary, clock)).toBe(
		"Hypertension, day 30, predicted: rank 1, 50 %",
	);
});

test.each([
	[9.5, "after 0 of 4 events"],
	[20, "after 2 of 4 events"],
	[40, "after 4 of 4 events"],
])("says how much of a history is known on day %d", (date, words) => {
	expect(knownText(events, date)).toBe(words);
});

test("draws removed events where they were, and marks added ones", () => {
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

test("warns of dates and curves beyond the training data", () => {
	const reach = { longestDays: 730.5, oldestDays: 1461 };
	const monthly = events.map((event) => ({ ...event, time: 30 * event.time }));
	const query = { patient: { birth: 0 }, events: monthly, horizon: 30, reach };
	expect(dateWarnings({ ...query, date: 1350 })).toEqual([]);
	expect(dateWarnings({ ...query, date: 1446 })).toEqual([
		"The curves extend to the age of 4.0 years; the oldest patient in training was 4.0 years old.",
	]);
	expect(dateWarnings({ ...query, date: 2100 })).toEqual([
		"The date is at 2.5 years after the last record before the date, longer than any training history; the longest spans 2.0 years.",
		"The date is at the age of 5.7 years; the oldest patient in training was 4.0 years old.",
	]);
	expect(dateWarnings({ ...query, date: 2100, patient: { birth: null } })).toHaveLength(1);
	expect(dateWarnings({ ...query, date: 2100, reach: null })).toEqual([]);
	expect(dateWarnings({ ...query, date: 270 })[0]).toContain("knows only the birth");
	expect(dateWarnings({ ...query, date: 270, patient: { birth: null } })[0]).toContain(
		"based on an empty history",
	);
});

test("warns of times after the patient's death", () => {
	const query = { patient: { birth: 0, death: 50 }, events, reach: null };
	expect(dateWarnings({ ...query, date: 45, horizon: 5 })).toEqual([]);
	expect(dateWarnings({ ...query, date: 45, horizon: 35 })).toEqual([
		"The curves extend to 30 days after the patient’s death.",
	]);
	expect(dateWarnings({ ...query, date: 51, horizon: 60 })).toEqual([
		"The date is 1 day after the patient’s death.",
	]);
	expect(
		dateWarnings({ ...query, patient: { birth: 0, death: null }, date: 70, horizon: 60 }),
	).toEqual([]);
});

test("the legend lists chosen codes and edits if there are any", () => {
	const words = (edits: Parameters<typeof marksOf>[0]["edits"], chosen: number | null) =>
		legendOf(
			marksOf({ events, original: events, edits, panels: null, seenUntil: 25 }, vocabulary),
			(token) => (token === chosen ? "red" : undefined),
		)
			.slice(3)
			.map(({ words }) => words);
	expect(words([], null)).toEqual(["too far to compare"]);
	expect(words([{ kind: "move", id: "e1", time: 20 }], failure).slice(1)).toEqual([
		"chosen condition",
		"added or moved",
	]);
	expect(words([{ kind: "remove", id: "e1" }], null).slice(1)).toEqual(["removed"]);
});

test("describes new predictions in words", () => {
	const panels = panelsAt(25, 8);
	const curve = { ...panels.curve(failure), name: "Heart failure", colour: "red" };
	expect(predictionWords(panels, [curve], 5, vocabulary, clock)).toBe(
		"Predictions for day 25. Most likely: Hypertension 50 %, Heart failure 25 %. Probability: Heart failure 25 % at the date, 25 % after 5 years. Recorded after this date: 1 of 1 later event among the 10 most likely codes at their time, a recall of 100 %.",
	);
	const base = { ...curve, probability: curve.probability.map(() => 0.125) };
	expect(probabilityWords({ ...curve, base }, panels.queries.until, 1)).toBe(
		"Heart failure 25 % at the date, was 13 %, 25 % after 1 year",
	);
});

test("says how many events were left out, one at a time", () => {
	expect(attributedText(2, history, 25)).toBe("All 2 events up to it were left out in turn.");
	expect(attributedText(1, history, 25)).toBe(
		"The last 1 of 2 events up to it were left out in turn.",
	);
	expect(attributedText(1, history, 11)).toBe("The one event up to it was left out.");
	expect(attributedText(0, history, 9)).toBe("Nothing is recorded up to it.");
});
