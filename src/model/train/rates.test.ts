import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { incidenceAtRate, incidenceByAgeAndSex } from "../../data/cohort/age-sex-rates.js";
import { historiesDataset } from "../../data/cohort/testing/histories-dataset.js";
import { hazardSettings } from "../hazards/settings.js";
import { historyWith } from "../hazards/testing/histories.js";
import { readRates, writeRates } from "./rates.js";

const folder = mkdtempSync(join(tmpdir(), "trajgpt-rates-"));
afterAll(() => rmSync(folder, { recursive: true }));

const vocab = 8;
const settings = hazardSettings.parse({ groups: [{ name: "either", tokens: [5, 6] }] });
const outputs = vocab + 2;
const people = Array.from({ length: 40 }, (_, i) =>
	historyWith([[3000 + 50 * i, 5 + (i % 2)]], { id: `p${i}`, sex: i % 3 ? "female" : "male" }),
);

test("rates of a run are written with three digits, and read again", async () => {
	await writeRates(folder, historiesDataset(people, vocab), settings);
	const rates = readRates(folder, outputs);
	expect(rates).toMatchObject({ version: 2, patients: 40, bandYears: 5, withinYears: 3 });
	expect([rates?.female.length, rates?.male[0]?.length]).toEqual([22, outputs]);
	for (const rate of rates?.female.flat() ?? []) expect(Number(rate.toPrecision(3))).toBe(rate);
	// Either of two codes is recorded sooner than one of them.
	const [band] = [rates?.female[1] as number[]];
	expect(band[vocab]).toBeGreaterThan(band[5]);
	const text = readFileSync(join(folder, "rates.json"), "utf8");
	await writeRates(folder, historiesDataset(people, vocab), settings);
	expect(readFileSync(join(folder, "rates.json"), "utf8")).toBe(text);
});

test("they give the incidence for an age and a sex", () => {
	const rates = readRates(folder, outputs);
	if (!rates) throw new Error("no rates");
	const [history] = people as [(typeof people)[number]];
	const day = 7 * 365.25; // the middle of a band is half a year later
	const cell = rates.male[1];
	const alone = incidenceAtRate(cell[5], cell.at(-1) as number, 365.25);
	expect(incidenceByAgeAndSex(rates, history, day, [5], 365.25)).toBeCloseTo(alone, 12);
	const other = incidenceAtRate(cell[6], cell.at(-1) as number, 365.25);
	expect(incidenceByAgeAndSex(rates, history, day, [5, 6], 365.25)).toBeCloseTo(
		1 - (1 - alone) * (1 - other),
		12,
	);
	expect(incidenceByAgeAndSex(rates, { ...history, sex: null }, day, [5], 365.25)).toBeUndefined();
	expect(incidenceByAgeAndSex(rates, { ...history, birthEvents: 0 }, day, [5], 365.25)).toBe(
		undefined,
	);
});

test("there are none without births or sexes, and others' are refused", async () => {
	const empty = mkdtempSync(join(folder, "empty-"));
	const unknown = people.map((one) => ({ ...one, sex: null }));
	await writeRates(empty, historiesDataset(unknown, vocab), settings);
	expect(readRates(empty, outputs)).toBeUndefined();
	expect(() => readRates(folder, outputs + 1)).toThrow(
		`rates.json is of another run: ${outputs} rates per age and sex, expected ${outputs + 1}`,
	);
	writeFileSync(join(empty, "rates.json"), "[]");
	expect(() => readRates(empty, outputs)).toThrow("rates.json is damaged");
});
