import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { nodeRuntime } from "../../src/engine/runtime/node.js";
import { chromiumIsThere } from "../../src/predict/browser/testing/page.js";
import { hazardModel, incidences } from "../../src/predict/index.js";
import { searchCodes } from "../../src/predict/user-input/search-codes.js";
import { dateOf, explorerInBrowser, updated } from "../testing/explorer-page.js";
import type { SamplePatient } from "./data/contract.js";
import { codeName } from "./views/code-name.js";

type History = { readonly tokens: readonly number[]; readonly times: readonly number[] };

/** Expects that a person sees it without scrolling. */
async function expectInSight(page: Page, what: Locator) {
	const { y, height } = (await what.boundingBox()) as DOMRect;
	expect(y).toBeGreaterThanOrEqual(0);
	expect(y + height).toBeLessThanOrEqual(900);
	expect(await page.evaluate(() => scrollY)).toBe(0);
}

const isSettled = (page: Page) =>
	page.waitForSelector('.risk-panel[aria-busy="false"] td[data-risk]', { timeout: 60_000 });

describe.skipIf(!chromiumIsThere)("a clinician's task in Chromium", () => {
	const { explorer, opened, sampleHistory } = explorerInBrowser();

	/** Node's risk of a code within five years of a date. */
	async function risk(history: History, token: number, date: number) {
		const model = hazardModel(nodeRuntime({ threads: 1 }), explorer().trained);
		const [[found] = []] = await incidences(
			...([model, [history], [[token]], [[date]], [5 * 365.25]] as const),
		);
		await model.dispose();
		return found?.probabilities[0] as number;
	}

	/** A sample with a record of the first code, and the time before which neither code is recorded. */
	async function sampleBefore(code: number, other: number) {
		const { patients } = await (await fetch(`${explorer().url}explorer/samples.json`)).json();
		const isOf = (wanted: number) => (event: { readonly token: number }) => event.token === wanted;
		const place = (patients as SamplePatient[]).findIndex(({ events }) => events.some(isOf(code)));
		const { id, events } = patients[place] as SamplePatient;
		const times = [code, other].flatMap((wanted) => events.find(isOf(wanted))?.time ?? []);
		return { place, id, first: Math.min(...times) };
	}

	test("finds stroke before its diagnosis, adds atrial fibrillation, sees why, undoes, takes the picture", async () => {
		const { page, faults } = await opened("patient");
		await page.setViewportSize({ width: 1440, height: 900 });
		await updated(page);
		const { vocabulary } = explorer().trained;
		const [stroke, fibrillation] = ["stroke", "atrial fibrillation"].map(
			(words) => searchCodes(words, { vocabulary })[0]?.at as number,
		) as [number, number];
		const { place, id, first } = await sampleBefore(stroke, fibrillation);
		await page.getByRole("combobox", { name: "Patient" }).selectOption({ index: place });
		await updated(page);
		await page.getByRole("slider").focus();
		await page.keyboard.press("End");
		while ((await dateOf(page)) >= Math.floor(first)) await page.keyboard.press("PageDown");
		const date = await dateOf(page);
		expect(first - date).toBeLessThanOrEqual(366);

		await page.getByRole("combobox", { name: "Add a condition" }).fill("stroke");
		await page.keyboard.press("Enter");
		const cell = page.locator(`.risk-panel tr[data-token="${stroke}"] td[data-label="5 y"]`);
		await cell.waitFor();
		await isSettled(page);
		const shown = async () => Number(await cell.getAttribute("data-risk"));
		const history = await sampleHistory(id);
		const before = await shown();
		expect(Math.abs(before - (await risk(history, stroke, date)))).toBeLessThan(1e-4);
		await expectInSight(page, cell);

		await page.getByRole("link", { name: "What if" }).click();
		await page.getByRole("combobox", { name: "Add an event" }).fill("atrial fibrillation");
		await page.keyboard.press("Enter");
		await page.getByRole("button", { name: "Add", exact: true }).click();
		await cell.locator(".was").waitFor();
		await isSettled(page);
		const known = history.times.filter((time) => time < Math.floor(date) + 1).length;
		const edited = {
			tokens: history.tokens.toSpliced(known, 0, fibrillation),
			times: history.times.toSpliced(known, 0, Math.floor(date)),
		};
		const after = await shown();
		expect(Math.abs(after - (await risk(edited, stroke, date)))).toBeLessThan(1e-4);
		expect(after).not.toBe(before);
		await expectInSight(page, cell.locator(".was"));
		await expectInSight(page, page.locator(".edits li"));
		await expectInSight(page, page.locator(".new-diagnoses"));

		const why = page.getByRole("region", { name: "Why" });
		await why.getByRole("combobox").selectOption({ label: codeName(vocabulary, stroke) });
		await why.getByRole("button", { name: "Explain" }).click();
		const reason = why
			.locator(".reasons li")
			.filter({ hasText: codeName(vocabulary, fibrillation) });
		await reason.waitFor({ timeout: 60_000 });
		await expectInSight(page, reason);

		await page.keyboard.press("Control+z");
		await cell.locator(".was").waitFor({ state: "detached" });
		await isSettled(page);
		expect(await shown()).toBe(before);

		const save = async (kind: string) => {
			const panel = page.getByRole("region", { name: "Risk", exact: true });
			await panel.locator(".save summary").click();
			const [file] = await Promise.all([
				page.waitForEvent("download"),
				panel.getByRole("button", { name: `Download ${kind}` }).click(),
			]);
			return { name: file.suggestedFilename(), content: await readFile(await file.path()) };
		};
		const picture = await save("PNG");
		expect(picture.name).toBe("risk.png");
		expect(picture.content.subarray(1, 4).toString()).toBe("PNG");
		const drawing = (await save("SVG")).content.toString();
		expect(drawing).toMatch(
			/>Risk<.*>risk of a first record after \d{4}-\d\d-\d\d, before death</s,
		);
		expect(drawing).toMatch(/simulated population, not real people · Sample .* · run [0-9a-f]{8}/);
		const table = (await save("CSV")).content.toString().split("\n");
		expect(table[0]).toMatch(
			/^time_days,date,age_years,code,name,recorded,risk_1y,.*,population,run$/,
		);
		expect(table).toHaveLength(1 + (await page.locator(".risk-panel tbody tr").count()));
		expect(await page.evaluate(() => scrollY)).toBe(0);
		expect(faults).toEqual([]);
		await page.close();
	}, 240_000);
});
