import { expect, test } from "vitest";
import { yearDays } from "../../../src/base/time.js";
import { vocabularyOf } from "../../../src/data/cohort/vocabulary.js";
import type { Reasons } from "../../../src/predict/reasons.js";
import { phecode } from "../../testing/patients.js";
import { lookAheadYears, markText } from "../charts/timeline-layout.js";
import { codeWords } from "../state/patient-context.js";
import { dateWarnings } from "./date-warnings.js";
import { knownText } from "./patient-chooser.js";
import { afterText, knownText as knownCodes, personText } from "./people-panel.js";
import { pointDigits, pointsWith, reasonNames, reasonRows } from "./reasons-panel.js";
import { riskRows, riskWords } from "./risk-words.js";
import { legendOf, marksOf } from "./timeline-panel.js";
import { editWords, stepOf } from "./what-if-panel.js";

const vocabulary = vocabularyOf([
	phecode("401", "Hypertension", "heart"),
	phecode("428", "Heart failure", "heart"),
]);
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

const strokeAndGout = vocabularyOf([phecode("433", "Stroke"), phecode("274", "Gout")]);
const rising = (most: number) => Array.from({ length: 40 }, (_, at) => (most * (at + 1)) / 40);

test("edits are said in words", () => {
	const patient = { events: [{ id: "e0", token: 6, time: 30 }] };
	const words = (edit: Parameters<typeof editWords>[0]) =>
		editWords(edit, patient, strokeAndGout, { axis: "dates", birth: 0 });
	expect(words({ kind: "add", event: { id: "n1", token: 5, time: 31 } })).toBe(
		"Stroke added, 1970-02-01",
	);
	expect(words({ kind: "remove", id: "e0" })).toBe("Gout removed, 1970-01-31");
	expect(words({ kind: "move", id: "e0", time: 31 })).toBe(
		"Gout moved from 1970-01-31 to 1970-02-01",
	);
});

test("Ctrl or ⌘ with Z undoes, with Shift or as Ctrl+Y it redoes", () => {
	const press = (key: string, held: object) =>
		stepOf({ key, ctrlKey: false, metaKey: false, shiftKey: false, altKey: false, ...held });
	expect(press("z", { ctrlKey: true })).toBe("undo");
	expect(press("Z", { metaKey: true, shiftKey: true })).toBe("redo");
	expect(press("y", { ctrlKey: true })).toBe("redo");
	expect(press("z", {})).toBeNull();
	expect(press("z", { ctrlKey: true, altKey: true })).toBeNull();
	expect(press("a", { ctrlKey: true })).toBeNull();
});

test("the table of risks has date, age, the values to compare with, and where it comes from", () => {
	const risk = { token: 5, recordedAt: null, curve: rising(0.4), sameAgeAndSex: rising(0.2) };
	const gout = { ...risk, token: 6, recordedAt: 3 };
	const [first, second] = riskRows(
		[
			{ risk, before: { ...risk, curve: rising(0.8) }, truth: rising(1) },
			{ risk: gout, before: gout, truth: null },
		],
		730.5,
		{ population: "simulated", patient: null, date: null, run: "1a" },
		strokeAndGout,
		{ axis: "dates", birth: 0 },
	);
	expect(first).toMatchObject({ time_days: 730.5, date: "1972-01-01", age_years: 2, code: "433" });
	expect(first).toMatchObject({ recorded: "no", population: "simulated", run: "1a" });
	const cells = new Map(Object.entries(first ?? {}));
	for (const [name, most] of [
		["risk", 0.4] as const,
		["before_edits", 0.8] as const,
		["same_age_and_sex", 0.2] as const,
		["true_risk", 1] as const,
	]) {
		expect(cells.get(`${name}_5y`)).toBeCloseTo(most / 2, 12);
		expect(cells.get(`${name}_10y`)).toBeCloseTo(most, 12);
	}
	expect(Object.values(second ?? {}).slice(5)).toEqual([
		"yes",
		...Array(12).fill(null),
		"simulated",
		"1a",
	]);
});

test("announces risks with what they were, and the likely new diagnoses", () => {
	const stroke = { token: 5, recordedAt: null, curve: rising(0.1), sameAgeAndSex: rising(0.05) };
	const gout = { token: 6, recordedAt: 3, curve: rising(0.1), sameAgeAndSex: null };
	const before = [{ ...stroke, curve: rising(0.08) }, gout];
	const likely = [{ token: 5, probability: 0.01, sameAgeAndSex: 0.005 }];
	const said = (was: typeof before | null) =>
		riskWords({ risks: [stroke, gout], before: was, likely, above: [] }, 25, strokeAndGout, {
			axis: "days",
			birth: null,
		});
	expect(said(null)).toBe(
		"Risks after day 25. Stroke 1.0 % within 1 year, people of this age and sex 0.50 %, 5.0 % within 5 years, people of this age and sex 2.5 %, 10 % within 10 years, people of this age and sex 5.0 %. Gout already recorded. Most likely new diagnoses within a year: Stroke 1.0 %.",
	);
	expect(said(before)).toContain(
		"5.0 % within 5 years, was 4.0 %, people of this age and sex 2.5 %",
	);
});

const reason = (effect: number) => ({ parts: [6], records: 1, effect, error: 0 });
const reasons: Reasons = {
	risk: 0.034,
	start: 0.02,
	error: 0,
	listed: [reason(0.015)],
	others: reason(-0.001),
};

test("all rows have the same digits: one more where all are small", () => {
	expect(pointDigits(reasons)).toBe(2);
	expect(pointDigits({ ...reasons, risk: 0.31 })).toBe(1);
	expect(pointDigits({ ...reasons, others: reason(-0.2) })).toBe(1);
});

test("changes are signed, unless nothing is left of them", () => {
	expect([0.015, -0.001, 0.00001].map((own) => pointsWith(own, 2))).toEqual([
		"+1.50",
		"−0.10",
		"0.00",
	]);
});

test("the rows are codes or, of an edited history, edits", () => {
	const history = { tokens: [3, 6], times: [0, 1], birthEvents: 1 } as const;
	const rowsOf = (edits: Parameters<typeof reasonNames>[0]["edits"], part: number) =>
		reasonRows(
			{ ...reasons, listed: [{ ...reason(0.014), parts: [part] }], others: null },
			reasonNames({ history, sex: "male", edits }, codeWords(strokeAndGout)),
		).map(({ code, name }) => `${code},${name}`);
	expect(rowsOf([], 5)).toEqual([
		",the model without records, age and sex known",
		"433,Stroke",
		",risk within 5 years",
	]);
	expect(rowsOf([{ edit: { remove: 1 }, name: "Stroke removed, 2012-03-14" }], 0)).toEqual([
		",before the edits",
		",Stroke removed, 2012-03-14",
		",risk within 5 years after the edits",
	]);
});

const person = {
	person: 0,
	ageYears: 57,
	sex: "female" as const,
	known: [5, 6],
	after: [7, 8],
	afterDays: [146, 438],
	death: 700,
};
const nameOf = (token: number) => `code ${token}`;

test("a person in words: who, what was known, and what followed", () => {
	expect(personText(person)).toBe("Female, age 57.0");
	expect(personText({ ...person, sex: null })).toBe("Person, age 57.0");
	expect(knownCodes(person, nameOf)).toBe("code 5, code 6");
	expect(knownCodes({ ...person, known: [] }, nameOf)).toBe("nothing recorded");
	expect(afterText(person, nameOf)).toBe(
		"code 7 (0.4 years), code 8 (1.2 years), death (1.9 years)",
	);
	expect(afterText(person, nameOf, 1)).toBe("code 7 (0.4 years), and 2 more");
	expect(afterText({ ...person, afterDays: [1, 36] }, nameOf, 2)).toBe(
		"code 7 (1 day), code 8 (36 days), and 1 more",
	);
	expect(afterText({ ...person, after: [], afterDays: [], death: null }, nameOf)).toContain(
		"nothing new",
	);
});
