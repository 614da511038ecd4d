import { expect, test } from "vitest";
import { type Token, vocabularyOf } from "../../../src/data/cohort/vocabulary.js";
import { riskRows } from "./risk-words.js";
import { editWords, stepOf } from "./what-if-panel.js";

const vocabulary = vocabularyOf(
	["Stroke", "Gout"].map(
		(name): Token => ({
			...{ kind: "diagnosis", code: name[0] as string, name, category: null, count: 1 },
			system: "PheCode",
		}),
	),
);

test("edits are said in words", () => {
	const patient = { events: [{ id: "e0", token: 6, time: 30 }] };
	const words = (edit: Parameters<typeof editWords>[0]) =>
		editWords(edit, patient, vocabulary, { axis: "dates", birth: 0 });
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
	const rising = (most: number) => Array.from({ length: 40 }, (_, at) => (most * (at + 1)) / 40);
	const risk = { token: 5, recordedAt: null, curve: rising(0.4), sameAgeAndSex: rising(0.2) };
	const gout = { ...risk, token: 6, recordedAt: 3 };
	const [first, second] = riskRows(
		[
			{ risk, before: { ...risk, curve: rising(0.8) }, truth: rising(1) },
			{ risk: gout, before: gout, truth: null },
		],
		730.5,
		{ population: "simulated", patient: null, date: null, run: "1a" },
		...([vocabulary, { axis: "dates", birth: 0 }] as const),
	);
	expect(first).toMatchObject({ time_days: 730.5, date: "1972-01-01", age_years: 2, code: "S" });
	expect(first).toMatchObject({ recorded: "no", population: "simulated", run: "1a" });
	const cells = new Map(Object.entries(first ?? {}));
	for (const [name, most] of [
		...[["risk", 0.4] as const, ["before_edits", 0.8] as const],
		...[["same_age_and_sex", 0.2] as const, ["true_risk", 1] as const],
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
