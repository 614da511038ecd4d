import { expect, test } from "vitest";
import { yearDays } from "../../../src/base/time.js";
import { unlikeTraining } from "./patient-list.js";
import { lostFile, noteFile } from "./use-opened-file.js";

const usual = { eventsPerYear: [1, 30], ages: [18, 90] } as const;
const history = (count: number, years: number, birth: number | null = -50 * yearDays) => ({
	birth,
	events: Array.from({ length: count }, (_, at) => ({
		...{ id: `e${at}`, token: 5, time: (years * yearDays * at) / Math.max(1, count - 1) },
	})),
});
const known = { records: 100, unknown: 0 };

test("an ordinary history gets no warning", () => {
	expect(unlikeTraining(history(100, 10), known, usual)).toEqual([]);
	expect(unlikeTraining(history(20, 0.1), known, usual)).toEqual([]);
	expect(unlikeTraining(history(100, 10), { records: 100, unknown: 20 }, usual)).toEqual([]);
});

test("unknown codes, rates and ages are named with their numbers", () => {
	expect(unlikeTraining(history(700, 10), { records: 1000, unknown: 300 }, usual)).toEqual([
		"300 of 1,000 records (30 %) have codes that the model does not know",
		"70 events per year; 98 % of the training patients have 1 to 30",
	]);
	expect(unlikeTraining(history(4, 10), known, usual)).toEqual([
		"0.4 events per year; 98 % of the training patients have 1 to 30",
	]);
	expect(unlikeTraining(history(100, 10, -85 * yearDays), known, usual)).toEqual([
		"records from age 85 to 95; 98 % of the training patients have theirs from 18 to 90",
	]);
	expect(unlikeTraining(history(100, 10, -10 * yearDays), known, usual)).toHaveLength(1);
});

test("a history without a date of birth has no age, unlike those of the training patients", () => {
	expect(unlikeTraining(history(100, 10, null), known, usual)).toEqual([
		expect.stringMatching(/^no date of birth: the model was trained with age and sex/),
	]);
	expect(unlikeTraining(history(100, 10, null), known, { ...usual, ages: null })).toEqual([]);
});

test("without births or numbers of the training data, less is said", () => {
	expect(unlikeTraining(history(100, 10, -200), known, { ...usual, ages: null })).toEqual([]);
	expect(unlikeTraining(history(7000, 10), { records: 10, unknown: 5 }, null)).toHaveLength(1);
});

test("only the name of a file is kept, and only where the browser allows it", () => {
	const kept = new Map<string, string>();
	const store = () => ({
		getItem: (key: string) => kept.get(key) ?? null,
		setItem: (key: string, value: string) => void kept.set(key, value),
		removeItem: (key: string) => void kept.delete(key),
	});
	expect(lostFile(store)).toBeNull();
	noteFile("records.csv", store);
	expect([...kept.values()]).toEqual(["records.csv"]);
	expect(lostFile(store)).toBe("records.csv");
	noteFile(null, store);
	expect(kept.size).toBe(0);
	const refusing = () => {
		throw new DOMException("no storage", "SecurityError");
	};
	noteFile("records.csv", refusing);
	expect(lostFile(refusing)).toBeNull();
});
