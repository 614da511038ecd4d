import { describe, expect, test } from "vitest";
import { nodeRuntime } from "../../src/engine/runtime/node.js";
import { weightCount } from "../../src/model/index.js";
import { chromiumIsThere } from "../../src/predict/browser/testing/page.js";
import { hazardModel, incidences } from "../../src/predict/index.js";
import { explainRisk } from "../../src/predict/reasons.js";
import { dateOf, explorerInBrowser, ready } from "../testing/explorer-page.js";

describe.skipIf(!chromiumIsThere)("why, what may come and to whom it came, in Chromium", () => {
	const { explorer, opened, sampleHistory } = explorerInBrowser();

	test("reasons are Node's and add up; futures and people like this one are shown, and repeat", async () => {
		const { page, faults } = await opened("patient");
		await ready(page);
		await page.getByRole("button", { name: "Explain" }).click();
		await page.waitForSelector(".reasons-total", { timeout: 60_000 });
		const numbers = (selector: string, name: string) =>
			page.$$eval(
				selector,
				(found, own) => found.map((one) => Number(one.getAttribute(own))),
				name,
			);
		const effects = await numbers(".reasons [data-effect]", "data-effect");
		const [start = Number.NaN] = await numbers(".reasons [data-start]", "data-start");
		const code = Number(await page.getByLabel("Condition to explain").inputValue());
		const { trained } = explorer();
		const model = hazardModel(nodeRuntime({ threads: 1, purpose: "inference" }), trained);
		const date = await dateOf(page);
		const expected = await explainRisk(
			async (histories) => {
				const days = histories.map(() => [date]);
				const found = await incidences(...([model, histories, [[code]], days] as const), [
					Math.min(5 * 365.25, model.longestDays),
				]);
				return found.map(([own]) => own?.probabilities[0] ?? Number.NaN);
			},
			await sampleHistory("s1"),
			{ of: [code], day: date, parameters: weightCount(trained.weights) },
		);
		await model.dispose();
		const all = [...expected.listed, ...(expected.others ? [expected.others] : [])];
		expect(effects).toHaveLength(all.length);
		for (const [at, { effect }] of all.entries())
			expect(Math.abs((effects[at] as number) - effect)).toBeLessThan(1e-4);
		const sum = effects.reduce((total, effect) => total + effect, start);
		expect(Math.abs(sum - expected.risk)).toBeLessThan(1e-4);

		const shares = async () => {
			await page.getByLabel("50 sampled futures").check();
			await page.waitForSelector(".future-marks", { timeout: 60_000 });
			return page.locator(".future-shares li").allInnerTexts();
		};
		const first = await shares();
		expect(first.length).toBeGreaterThan(0);
		await page.getByLabel("50 sampled futures").uncheck();
		await expect.poll(() => page.locator(".future-marks").count()).toBe(0);
		expect(await shares()).toEqual(first);

		await page.getByRole("button", { name: "Find people like this one" }).click();
		await page.waitForSelector(".people-panel, .panel code", { timeout: 60_000 });
		// What an edit adds is the difference that the table of risks shows.
		await page.getByRole("link", { name: "What if" }).click();
		await page.getByRole("combobox", { name: "Add an event" }).fill("401");
		await page.keyboard.press("Enter");
		await page.getByRole("button", { name: "Add", exact: true }).click();
		await page.locator(".reasons").getByText("before the edits").waitFor({ timeout: 60_000 });
		const [before, effect, after] = await Promise.all(
			["start", "effect", "total"].map((name) =>
				numbers(`.reasons [data-${name}]`, `data-${name}`),
			),
		);
		const row = `.risk-panel tr[data-token="${code}"]`;
		const [, within5 = Number.NaN] = await numbers(`${row} td[data-risk]`, "data-risk");
		expect(before).toEqual([expect.closeTo(expected.risk, 4)]);
		expect(after).toEqual([expect.closeTo(within5, 6)]);
		expect(effect).toEqual([expect.closeTo(within5 - (before?.[0] as number), 6)]);
		expect(faults).toEqual([]);
		await page.close();
	}, 240_000);
});
