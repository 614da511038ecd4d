import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { birthToken } from "../../src/data/cohort/vocabulary.js";
import { openBrowser, watchedPage } from "../../src/predict/browser/testing/page.js";
import type { SamplePatient } from "../src/data/contract.js";
import { endOfDay } from "../src/engine/index-day.js";
import { servedExplorer } from "./explorer.js";

type History = { readonly tokens: ArrayLike<number>; readonly times: ArrayLike<number> };

export const updated = (page: Page) =>
	page.waitForSelector('.workbench[data-current="true"]', { timeout: 60_000 });
export const ready = (page: Page) =>
	page.waitForSelector('.workbench[data-current="true"][data-ready="true"]', { timeout: 120_000 });
export const dateOf = async (page: Page) =>
	Number(await page.getAttribute(".workbench", "data-date"));
export const shown = (page: Page) =>
	page.$$eval(".likely li", (items) =>
		items.map((item) => ({
			token: Number(item.getAttribute("data-token")),
			probability: Number(item.getAttribute("data-probability")),
		})),
	);

export const alert = (page: Page) => page.locator('.workbench [role="alert"]');
export const likely = (page: Page) => page.getByRole("region", { name: "Most likely at the date" });
export const timeOfDate = async (page: Page) =>
	(await page.getByRole("slider").getAttribute("aria-valuetext")) as string;

export async function drop(page: Page, name: string, content: string) {
	const transfer = await page.evaluateHandle(
		([name, content]) => {
			const data = new DataTransfer();
			data.items.add(new File([content as string], name as string));
			return data;
		},
		[name, content],
	);
	await page.dispatchEvent(".chooser", "drop", { dataTransfer: transfer });
}

/** Serves the explorer and opens a browser for the tests of a file; one that `optimizes` is as users have it. */
export function explorerInBrowser(run?: string, { optimizes = false } = {}) {
	let explorer: Awaited<ReturnType<typeof servedExplorer>>;
	let browser: Browser;
	// One context for all pages, so that they share a cache.
	let context: Awaited<ReturnType<Browser["newContext"]>>;
	beforeAll(async () => {
		explorer = await servedExplorer(run);
		browser = await openBrowser({ optimizes });
		context = await browser.newContext();
	}, 240_000);
	afterAll(async () => {
		await browser?.close();
		await explorer?.close();
	});

	async function opened(view: string, before?: (page: Page) => Promise<unknown>) {
		const { page, faults } = await watchedPage(context, explorer.url);
		await page.setViewportSize({ width: 1200, height: 900 });
		await before?.(page);
		await page.goto(`${explorer.url}#${view}`);
		return { page, faults };
	}

	/** Node's prediction at the date, from the events up to that day. */
	async function inNode({ tokens, times }: History, date: number) {
		const until = endOfDay(date);
		const known = Array.from(times).filter((time) => time < until).length;
		const { logProbabilities } = await explorer.predictor.score(
			[{ tokens: Array.from(tokens).slice(0, known), times: Array.from(times).slice(0, known) }],
			[[until]],
		);
		return logProbabilities;
	}

	async function expectNodes(page: Page, history: History) {
		const logs = await inNode(history, await dateOf(page));
		const top = await shown(page);
		expect(top).toHaveLength(10);
		for (const { token, probability } of top)
			expect(Math.abs(probability - Math.exp(logs[token] as number))).toBeLessThan(1e-4);
		const best = Array.from(logs)
			.slice(5)
			.reduce((most, log) => Math.max(most, log), -99);
		expect(top[0]?.probability).toBeCloseTo(Math.exp(best), 4);
		return top;
	}

	async function sampleHistory(id: string) {
		const samples = await (await fetch(`${explorer.url}explorer/samples.json`)).json();
		const { birthTime, sex, events } = samples.patients.find(
			(one: SamplePatient) => one.id === id,
		) as SamplePatient;
		const born = birthTime === null ? [] : [{ token: birthToken(sex), time: birthTime }];
		const all = [...born, ...events];
		return { tokens: all.map(({ token }) => token), times: all.map(({ time }) => time) };
	}

	return { explorer: () => explorer, opened, expectNodes, sampleHistory };
}
