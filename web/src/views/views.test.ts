import { expect, test } from "vitest";
import { yearDays } from "../../../src/base/time.js";
import { vocabularyOf } from "../../../src/data/cohort/vocabulary.js";
import { dateWarnings, lookAheadYears } from "./date-warnings.js";
import { knownText } from "./patient-chooser.js";
import { legendOf, marksOf, markText } from "./timeline-panel.js";

const token = (code: string, name: string) => ({
	kind: "diagnosis" as const,
	system: "PheCode",
	code,
	name,
	category: "heart",
	count: 1,
});
const vocabulary = vocabularyOf([token("401", "Hypertension"), token("428", "Heart failure")]);
const [pressure, failure] = ["401", "428"].map((code) => vocabulary.find(code)) as [number, number];
const clock = { axis: "days" } as const;
const events = [10, 20, 30, 40].map((time, at) => ({
	id: `e${at}`,
	time,
	token: at === 3 ? failure : pressure,
}));
const original = { events, original: events, edits: [], seenUntil: 25 };

test("marks say what the model has seen, and which events were edited", () => {
	const marks = marksOf(original, vocabulary);
	expect(marks.map(({ fate }) => fate)).toEqual(["seen", "seen", "later", "later"]);
	expect([marks[0], marks[3]].map((mark) => markText(mark!, clock))).toEqual([
		"Hypertension, day 10, seen by the model",
		"Heart failure, day 40, after the date",
	]);
	const added = { id: "n1", token: failure, time: 12 };
	const edited = marksOf(
		{
			...original,
			events: [...events.slice(1), added],
			edits: [
				{ kind: "remove", id: "e0" },
				{ kind: "add", event: added },
				{ kind: "move", id: "e2", time: 31 },
			],
		},
		vocabulary,
	);
	expect(edited.map(({ id, edit }) => `${id} ${edit}`)).toEqual([
		"e1 none",
		"e2 moved",
		"e3 none",
		"n1 added",
		"e0 removed",
	]);
	expect(markText(edited.at(-1)!, clock)).toBe("Hypertension, day 10, removed");
});

test("the legend lists chosen codes and edits if there are any", () => {
	const words = (edits: Parameters<typeof marksOf>[0]["edits"], chosen: number | null) =>
		legendOf(marksOf({ ...original, edits }, vocabulary), (token) =>
			token === chosen ? "red" : undefined,
		).map(({ words }) => words);
	const always = ["up to the date", "after the date"];
	expect(words([], null)).toEqual(always);
	expect(words([{ kind: "move", id: "e1", time: 20 }], failure)).toEqual([
		...always,
		"chosen condition",
		"added or moved",
	]);
	expect(words([{ kind: "remove", id: "e1" }], null)).toEqual([...always, "removed"]);
});

test.each([
	[9.5, "after 0 of 4 events"],
	[20, "after 2 of 4 events"],
	[40, "after 4 of 4 events"],
])("says how much of a history is known on day %d", (date, words) => {
	expect(knownText(events, date)).toBe(words);
});

test("warns of dates and risks beyond the training data", () => {
	const ahead = lookAheadYears * yearDays;
	const reach = { longestDays: 730.5 + ahead, oldestDays: 1461 + ahead };
	const monthly = events.map((event) => ({ ...event, time: 30 * event.time }));
	const query = { patient: { birth: 0 }, events: monthly, reach };
	expect(dateWarnings({ ...query, date: 1350 })).toEqual([]);
	expect(dateWarnings({ ...query, date: 1476 })).toEqual([
		"The risks within 5 years extend to the age of 9.0 years; the oldest patient in training was 9.0 years old.",
	]);
	expect(dateWarnings({ ...query, date: 2100 + ahead })).toEqual([
		"The date is at 7.5 years after the last record before the date, longer than any training history; the longest spans 7.0 years.",
		"The date is at the age of 10.7 years; the oldest patient in training was 9.0 years old.",
	]);
	const later = { ...query, date: 2100 + ahead };
	expect(dateWarnings({ ...later, patient: { birth: null } })).toHaveLength(1);
	expect(dateWarnings({ ...later, reach: null })).toEqual([]);
	expect(dateWarnings({ ...query, date: 270 })[0]).toContain("knows only the birth");
	expect(dateWarnings({ ...query, date: 270, patient: { birth: null } })[0]).toContain(
		"based on an empty history",
	);
});

test("warns of times after the patient's death", () => {
	const death = 50 + lookAheadYears * yearDays;
	const query = { patient: { birth: 0, death }, events, reach: null };
	expect(dateWarnings({ ...query, date: 50 })).toEqual([]);
	expect(dateWarnings({ ...query, date: 80 })).toEqual([
		"The risks within 5 years extend to 30 days after the patient’s death.",
	]);
	expect(dateWarnings({ ...query, date: death + 1 })).toEqual([
		"The date is 1 day after the patient’s death.",
	]);
	expect(dateWarnings({ ...query, patient: { birth: 0, death: null }, date: 80 })).toEqual([]);
});
