import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { chromiumIsThere } from "../../src/predict/browser/testing/page.js";
import { drop, explorerInBrowser, updated } from "../testing/explorer-page.js";

const seriousIn = async (page: Page) => {
	await page.evaluate(axe.source);
	const { violations } = (await page.evaluate("axe.run()")) as {
		violations: { id: string; impact: string }[];
	};
	return violations.filter(({ impact }) => /serious|critical/.test(impact)).map(({ id }) => id);
};
const notes = (page: Page) => page.locator(".read-notes");

describe.skipIf(!chromiumIsThere)("files in the explorer", () => {
	const { opened } = explorerInBrowser();

	test("asks how dates are to be read, and lists bad rows", async () => {
		const { page, faults } = await opened("patient");
		await updated(page);
		const rows = Array.from({ length: 9 }, (_, at) => `a,0${at + 1}/02/2015,I10,ICD10CM`);
		const table = ["patient,date,code,system", ...rows, "a,soon,I10,ICD10CM"].join("\n");
		await drop(page, "dates.csv", table);
		const question = page.locator(".notice-warning").filter({ hasText: "Which number is the day" });
		await question.waitFor();
		expect(await question.textContent()).toContain("01/02/2015");
		await page.getByRole("button", { name: "Month first: 01/02/2015 is 2 January 2015" }).click();
		await notes(page).waitFor();
		await notes(page).getByText("How it was read").click();
		const read = (await notes(page).textContent()) as string;
		expect(read).toContain("1 row that cannot be read");
		expect(await notes(page).locator("tr", { hasText: "line 11" }).textContent()).toMatch(
			/line 11date"soon"a date such as 01\/31\/2020 \(the month first/,
		);
		expect(await notes(page).locator("tr", { hasText: "01/02/2015" }).textContent()).toContain(
			"2 January 2015I10",
		);
		await notes(page).getByLabel("Dates").selectOption("day first");
		await expect.poll(() => notes(page).textContent()).toContain("1 February 2015I10");
		await page.setViewportSize({ width: 360, height: 780 });
		await notes(page).getByText("How it was read").click();
		expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
		expect(await seriousIn(page)).toEqual([]);
		await drop(page, "other.csv", "name,when\nx,y");
		const refused = page.locator(".notice-error").filter({ hasText: "other.csv cannot be used" });
		await refused.waitFor();
		expect(await refused.textContent()).toContain("dates.csv stays open.");
		expect(faults).toEqual([]);
		await page.close();
	}, 60_000);

	test("asks which column is which, and remembers it", async () => {
		const { page, faults } = await opened("patient");
		await updated(page);
		const first = "case;number;admitted;discharged;diagnosis;gender;born";
		const rows = [
			"1;4711;2012-02-03;2012-09-09;I10;f;1950-05-12",
			"2;4711;2013-08-17;2013-08-19;E11.9;f;1950-05-12",
		];
		await drop(page, "ward.csv", [first, ...rows].join("\n"));
		const question = page.locator(".column-question");
		await question.waitFor();
		expect(await question.locator("tbody tr").allTextContents()).toEqual(
			rows.map((row) => row.replaceAll(";", "")),
		);
		const button = question.getByRole("button", { name: "Read the file" });
		expect(await question.textContent()).toContain("Still to choose: patient id, date.");
		expect(await button.isDisabled()).toBe(true);
		const choose = (role: string, column: string) =>
			question.getByLabel(role, { exact: true }).selectOption(column);
		// The only column of ICD codes is proposed, and so is one with a usual name.
		expect(await question.getByLabel("Code", { exact: true }).inputValue()).toBe("diagnosis");
		expect(await question.getByLabel("Sex").inputValue()).toBe("gender");
		await choose("Patient id", "number");
		await choose("Date", "admitted");
		await choose("Date of birth", "born");
		await page.setViewportSize({ width: 360, height: 780 });
		await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(360);
		expect(await seriousIn(page)).toEqual([]);
		await button.click();
		await expect.poll(() => notes(page).textContent()).toContain("1 patient, 2 events");
		await updated(page);
		expect(await page.locator(".person").textContent()).toMatch(/^female · age 61\.7 to 63\.3 ·/);
		expect(await page.locator(".on-date").textContent()).toBe(
			"predicted on 2013-08-17, age 63.3 after 2 of 2 events",
		);
		await drop(page, "next.csv", [first, rows[0], rows[1]?.replace("4711", "12")].join("\n"));
		await expect.poll(() => notes(page).textContent()).toContain("next.csv: 2 patients, 2 events");
		await notes(page).getByText("How it was read").click();
		await notes(page).getByText("Choose others").click();
		expect(await question.getByLabel("Date", { exact: true }).inputValue()).toBe("admitted");
		await choose("Date", "discharged");
		await button.click();
		await expect.poll(() => page.locator(".person").textContent()).toContain("62.3");
		await notes(page).getByText("How it was read").click();
		expect(await notes(page).textContent()).toContain("date from discharged (dates)");
		expect(faults).toEqual([]);
		await page.close();
	}, 60_000);

	test("finds one of many patients by id with the keyboard, and asks for the file after a reload", async () => {
		const { page, faults } = await opened("patient");
		await updated(page);
		const rows = Array.from({ length: 400 }, (_, at) => `MRN${1000 + at},2015-01-01,I10,ICD10CM`);
		await drop(page, "ward.csv", ["patient,date,code,system", ...rows].join("\n"));
		await notes(page).waitFor();
		const search = page.getByRole("combobox", { name: "of 400 patients" });
		await search.fill("1234");
		expect(await page.locator(".patient-search [role=option]").allTextContents()).toEqual([
			"MRN12341 event",
		]);
		await search.press("Enter");
		await updated(page);
		expect(await search.inputValue()).toBe("MRN1234");
		await search.fill("nobody");
		expect(await page.locator(".picker-none").textContent()).toBe("No id contains “nobody”.");
		expect(await seriousIn(page)).toEqual([]);
		const kept = () =>
			page.evaluate(() => [
				JSON.stringify({ ...sessionStorage }),
				JSON.stringify({ ...localStorage }),
				location.href,
			]);
		expect((await kept()).join()).not.toMatch(/MRN|2015|I10/);
		await page.reload();
		const lost = page.locator(".notice-warning").filter({ hasText: "The page keeps no file" });
		expect(await lost.textContent()).toContain("choose ward.csv again");
		await lost.getByRole("button", { name: "Go on without it" }).click();
		expect(await lost.count()).toBe(0);
		await expect.poll(kept).not.toContainEqual(expect.stringContaining("ward.csv"));
		expect(faults).toEqual([]);
		await page.close();
	}, 60_000);

	test("reads SNOMED codes with a map that is dropped later", async () => {
		const { page, faults } = await opened("patient");
		await updated(page);
		const rows = ["44054006,SNOMED", "I10,ICD10CM"].map((code) => `a,2015-01-01,${code}`);
		await drop(page, "a.csv", ["patient,date,code,system", ...rows].join("\n"));
		await expect.poll(() => notes(page).textContent()).toContain("1 patient, 1 event");
		expect(await page.locator(".notice-warning").allTextContents()).toContainEqual(
			expect.stringContaining("1 of 2 records (50 %) have codes that the model does not know"),
		);
		await drop(page, "map.csv", "SNOMED,PheCode\n44054006,250.2\n");
		await expect.poll(() => notes(page).textContent()).toContain("1 patient, 2 events");
		expect(await notes(page).textContent()).toContain("mapped with map.csv: 1 SNOMED concept");
		expect(faults).toEqual([]);
		await page.close();
	}, 60_000);
});
