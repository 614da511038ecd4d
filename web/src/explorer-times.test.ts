import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { drop, explorerInBrowser, ready, updated } from "../testing/explorer-page.js";
import { longHistory } from "../testing/patients.js";

/** A run whose times are measured; docs/results.md says how it is made. */
const run = process.env.TRAJGPT_MEASURE;

const summary = (values: readonly number[]) => {
	const sorted = values.map(Math.round).sort((a, b) => a - b);
	return [sorted[0], sorted[sorted.length >> 1], sorted.at(-1)].join(", ");
};

// A measurement, not a check: its browser compiles as that of users does.
describe.skipIf(run === undefined)("explorer", () => {
	const { explorer, opened } = explorerInBrowser(run ?? "", { optimizes: true });

	test("times of the explorer, with a history of 200 events (printed)", async () => {
		const codes = explorer()
			.trained.vocabulary.tokens.slice(5, 65)
			.map(({ code }) => code);
		const { page, faults } = await opened("patient");
		const since = await page.evaluate(() => performance.timeOrigin);
		const age = () => Math.round(Date.now() - since);
		await page.waitForSelector(".event");
		const timeline = age();
		await page.waitForSelector('.risk-panel:not([aria-busy="true"]) tbody tr');
		const risks = age();
		await updated(page);
		console.log(
			`cold start: timeline after ${timeline} ms, risks after ${risks} ms, all panels after ${age()} ms`,
		);

		await page.waitForSelector(".chooser button:not(:disabled)");
		await drop(page, "long.csv", longHistory(200, codes));
		await page.waitForSelector(".read-notes");
		// The date goes to the end: everything recorded is known.
		await page.getByRole("slider").focus();
		await page.keyboard.press("End");
		await ready(page);
		for (const at of [190, 150, 100, 20, 1]) {
			const times: number[] = [];
			for (let turn = 0; turn < 15; turn++) times.push(await editTime(page, at, turn));
			console.log(
				`edit after event ${at}, to risks and new diagnoses drawn, least, median and most of 15: ${summary(times)} ms`,
			);
		}

		const explained = performance.now();
		await page.getByRole("button", { name: "Explain" }).click();
		await page.waitForSelector(".reasons li", { timeout: 120_000 });
		console.log(`why: after ${Math.round(performance.now() - explained)} ms`);
		expect(faults).toEqual([]);
		await page.close();
	}, 600_000);
});

/** The time of an edit after an event, which is then taken back. */
async function editTime(page: Page, event: number, turn: number): Promise<number> {
	await page.getByRole("combobox", { name: "Add an event" }).fill("428");
	await page.keyboard.press("Enter");
	const date = new Date(Date.UTC(2000, 0, 1) + (event * 26 + 3 + turn) * 86_400_000);
	await page.getByLabel("on", { exact: true }).fill(date.toISOString().slice(0, 10));
	const time = await page.evaluate(untilUpdated);
	await page.getByRole("button", { name: "Reset to original" }).click();
	await ready(page);
	return time;
}

/** In the page: clicks Add, and waits until the risks and new diagnoses of the edited history are drawn. */
async function untilUpdated(): Promise<number> {
	const button = document.querySelector<HTMLButtonElement>(".edit-form button.primary");
	const bench = document.querySelector<HTMLElement>(".workbench");
	const started = performance.now();
	button?.click();
	await new Promise<void>((resolve) => {
		const look = () => {
			const busy = document.querySelector('.risk-panel[aria-busy="true"]');
			if (document.querySelector(".risk-panel .was") && !busy) resolve();
		};
		new MutationObserver(look).observe(bench as Node, {
			subtree: true,
			attributes: true,
			childList: true,
		});
	});
	await new Promise(requestAnimationFrame);
	return performance.now() - started;
}
