import { cp } from "node:fs/promises";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { serve } from "../../src/app/commands/serve.js";
import { simulatedRun } from "../../src/app/commands/testing/simulated-run.js";
import { noLog } from "../../src/app/server/index.js";
import { sharedFixture } from "../../src/base/files/testing/shared-fixture.js";
import { birthToken } from "../../src/data/cohort/vocabulary.js";
import { nodeRuntime } from "../../src/engine/runtime/node.js";
import { readTrained } from "../../src/model/train/index.js";
import { useWholeNetwork } from "../../src/model/train/testing/whole-network.js";
import { openBrowser, watchedPage } from "../../src/predict/browser/testing/page.js";
import { hazardModel, incidences } from "../../src/predict/index.js";
import type { SamplePatient } from "../src/data/contract.js";
import { endOfDay } from "../src/data/patient.js";

export type History = { readonly tokens: readonly number[]; readonly times: readonly number[] };

/** The horizons of the table of risks, in days. */
const horizonDays = [365.25, 1826.25, 3652];

/** Waits until the risks are those of the current patient, date and edits. */
export const updated = (page: Page) =>
	page.waitForSelector('.workbench[data-current="true"]', { timeout: 60_000 });
/** Waits until the states along the history are cached, too. */
export const ready = (page: Page) =>
	page.waitForSelector('.workbench[data-current="true"][data-ready="true"]', { timeout: 120_000 });
export const dateOf = async (page: Page) =>
	Number(await page.getAttribute(".workbench", "data-date"));
export const timeOfDate = async (page: Page) =>
	(await page.getByRole("slider").getAttribute("aria-valuetext")) as string;
export const alert = (page: Page) => page.locator('.workbench [role="alert"]');
export const numbersIn = (page: Page, selector: string, attribute: string) =>
	page.$$eval(
		selector,
		(elements, name) => elements.map((element) => Number(element.getAttribute(name))),
		attribute,
	);

/** The risks in the table by token; none for a code that is recorded. */
export async function risksIn(page: Page): Promise<ReadonlyMap<number, readonly number[]>> {
	await page.waitForSelector(".risk-panel td[data-risk]", { timeout: 60_000 });
	const rows = await page
		.locator(".risk-panel tbody tr")
		.evaluateAll((elements) =>
			elements.map((row): [number, number[]] => [
				Number(row.getAttribute("data-token")),
				[...row.querySelectorAll("td[data-risk]")].map((cell) =>
					Number(cell.getAttribute("data-risk")),
				),
			]),
		);
	return new Map(rows);
}

/** Adds an event on the date of prediction. */
export async function addEvent(page: Page, words: string) {
	await page.getByRole("combobox", { name: "Add an event" }).fill(words);
	await page.keyboard.press("Enter");
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await page.waitForSelector(".edits li");
}

/** A history with an event added on the day of a date. */
export function withEvent({ tokens, times }: History, token: number, date: number): History {
	const known = times.filter((time) => time < endOfDay(date)).length;
	return {
		tokens: tokens.toSpliced(known, 0, token),
		times: times.toSpliced(known, 0, Math.floor(date)),
	};
}

export async function drop(page: Page, name: string, content: string) {
	await page.waitForSelector(".chooser button:not(:disabled)");
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

/** The serious findings of axe. */
export async function seriousIn(page: Page): Promise<string[]> {
	await page.evaluate(axe.source);
	const { violations } = (await page.evaluate(
		'axe.run({ rules: { "target-size": { enabled: true } } })',
	)) as { violations: { id: string; impact: string; nodes: { html: string }[] }[] };
	return violations
		.filter(({ impact }) => impact === "serious" || impact === "critical")
		.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

const serving = (run: string) =>
	serve(readTrained(run), { host: "127.0.0.1", port: 0, explorer: true, log: noLog });

/** A copy of the simulated run that was served before, with all that the explorer shows. */
const exploredRun = () =>
	sharedFixture("explored", async (root) => {
		await cp(await simulatedRun(), root, { recursive: true });
		const run = join(root, "run");
		useWholeNetwork(run);
		await (await serving(run)).close();
	});

/** The explorer of a run, as served by `trajgpt serve`, and the same model in Node. */
async function servedExplorer(folder?: string) {
	const run = folder ?? join(await exploredRun(), "run");
	const service = await serving(run);
	return { run, trained: readTrained(run), url: service.url, close: () => service.close() };
}

/** Serves the explorer and opens a browser for the tests of a file; one that `optimizes` is as users have it. */
export function explorerInBrowser(run?: string, { optimizes = false } = {}) {
	let explorer: Awaited<ReturnType<typeof servedExplorer>>;
	let browser: Browser;
	// One context for all pages, so that they share a cache; what a page keeps, it keeps in its own tab.
	let context: Awaited<ReturnType<Browser["newContext"]>>;
	let hazards: ReturnType<typeof hazardModel>;
	beforeAll(async () => {
		explorer = await servedExplorer(run);
		hazards = hazardModel(nodeRuntime({ threads: 1, purpose: "inference" }), explorer.trained);
		browser = await openBrowser({ optimizes });
		context = await browser.newContext();
	}, 240_000);
	afterAll(async () => {
		await browser?.close();
		await hazards?.dispose();
		await explorer?.close();
	});

	async function opened(view: string, before?: (page: Page) => Promise<unknown>) {
		const { page, faults } = await watchedPage(context, explorer.url);
		await page.setViewportSize({ width: 1440, height: 900 });
		await before?.(page);
		await page.goto(`${explorer.url}#${view}`);
		return { page, faults };
	}

	/** Expects that the table shows the risks that Node computes from a history. */
	async function expectNodes(page: Page, history: History) {
		await updated(page);
		const risks = await risksIn(page);
		const codes = [...risks.keys()].map((token) => [token]);
		const [nodes = []] = await incidences(
			hazards,
			[history],
			codes,
			[[await dateOf(page)]],
			horizonDays,
		);
		for (const [row, shown] of [...risks.values()].entries())
			for (const [column, risk] of shown.entries())
				expect(Math.abs(risk - (nodes[row]?.probabilities[column] as number))).toBeLessThan(1e-4);
		expect([...risks.values()].flat().length).toBeGreaterThan(0);
		return risks;
	}

	async function sample(id: string): Promise<SamplePatient> {
		const { patients } = await (await fetch(`${explorer.url}explorer/samples.json`)).json();
		return patients.find((one: SamplePatient) => one.id === id);
	}

	async function sampleHistory(id: string): Promise<History> {
		const { birthTime, sex, events } = await sample(id);
		const born = birthTime === null ? [] : [{ token: birthToken(sex), time: birthTime }];
		const all = [...born, ...events];
		return { tokens: all.map(({ token }) => token), times: all.map(({ time }) => time) };
	}

	return { explorer: () => explorer, hazards: () => hazards, opened, expectNodes, sampleHistory };
}
