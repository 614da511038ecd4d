import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import axe from "axe-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pageKilobytes } from "../../scripts/build-web.mjs";
import { nodeRuntime } from "../../src/engine/runtime/node.js";
import { chromiumIsThere } from "../../src/predict/browser/testing/page.js";
import { hazardModel, incidences } from "../../src/predict/index.js";
import {
	alert,
	dateOf,
	drop,
	explorerInBrowser,
	likely,
	ready,
	shown,
	timeOfDate,
	updated,
} from "../testing/explorer-page.js";
import { endOfDay } from "./engine/index-day.js";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
/** A run to take the pictures of the documents from; otherwise they are taken and thrown away. */
const pictured = process.env.TRAJGPT_SCREENSHOTS;

describe.skipIf(!chromiumIsThere)("the explorer in Chromium", () => {
	const { explorer, opened, expectNodes, sampleHistory } = explorerInBrowser(pictured);
	let pictures: string;
	beforeAll(async () => {
		pictures = pictured ? docs : await mkdtemp(join(tmpdir(), "trajgpt-pictures-"));
	});
	afterAll(async () => {
		if (pictures && !pictured) await rm(pictures, { recursive: true });
	});

	test("predicts as Node does after choosing a patient, dragging the date and adding an event", async () => {
		const { page, faults } = await opened("patient");
		await updated(page);
		await page.getByRole("combobox", { name: "Patient" }).selectOption({ index: 1 });
		await updated(page);
		const history = await sampleHistory("s2");
		const first = await expectNodes(page, history);

		const before = await dateOf(page);
		const grip = (await page.locator(".date-grip").boundingBox()) as { x: number; y: number };
		await page.mouse.move(grip.x + 9, grip.y + 9);
		await page.mouse.down();
		await page.mouse.move(grip.x + 70, grip.y + 9, { steps: 6 });
		await page.mouse.up();
		expect(await dateOf(page)).toBeGreaterThan(before);
		await updated(page);
		const dragged = await expectNodes(page, history);
		expect(dragged).not.toEqual(first);

		await page.getByRole("slider").focus();
		await page.keyboard.press("ArrowLeft");
		await updated(page);
		await expectNodes(page, history);

		await page.getByRole("link", { name: "What if" }).click();
		await updated(page);
		const plain = await shown(page);
		const date = await dateOf(page);
		await page.getByRole("combobox", { name: "Add an event" }).fill("428");
		await page.keyboard.press("Enter");
		await page.getByRole("button", { name: "Add", exact: true }).click();
		await page.waitForSelector(".edits li");
		await updated(page);
		const token = explorer().trained.vocabulary.find("428") as number;
		const known = history.times.filter((time) => time < endOfDay(date)).length;
		const edited = await expectNodes(page, {
			tokens: history.tokens.toSpliced(known, 0, token),
			times: history.times.toSpliced(known, 0, Math.floor(date)),
		});
		expect(edited).not.toEqual(plain);

		await page.getByRole("button", { name: "Reset to original" }).click();
		await updated(page);
		expect(await shown(page)).toEqual(plain);
		expect(faults).toEqual([]);
		await page.close();
	});

	test("gives the risks that Node gives", async () => {
		const { page, faults } = await opened("patient");
		await updated(page);
		await page.waitForSelector(".risk-panel td[data-risk]");
		const rows = await page.locator(".risk-panel tbody tr").evaluateAll((found) =>
			found.map((row) => ({
				token: Number(row.getAttribute("data-token")),
				risks: [...row.querySelectorAll("td[data-risk]")].map((cell) =>
					Number(cell.getAttribute("data-risk")),
				),
			})),
		);
		const model = hazardModel(nodeRuntime({ threads: 1 }), explorer().trained);
		const [nodes = []] = await incidences(
			...([model, [await sampleHistory("s1")], rows.map(({ token }) => [token])] as const),
			...([[[await dateOf(page)]], [365.25, 1826.25, 3652]] as const),
		);
		await model.dispose();
		const first = rows.filter(({ risks }) => risks.length === 3);
		expect(first.length).toBeGreaterThan(0);
		for (const [at, { risks }] of rows.entries())
			for (const [i, risk] of risks.entries())
				expect(Math.abs(risk - (nodes[at]?.probabilities[i] as number))).toBeLessThan(1e-4);

		const recorded = rows.length - first.length;
		expect(await page.getByText(/^already recorded, age \d/).count()).toBe(recorded);
		expect(await page.locator(".risk-panel .truth-number").count()).toBe(0);
		await page.getByLabel("true risk, from the simulation").check();
		await page.waitForSelector(".risk-panel .truth-number");
		expect(await page.locator(".risk-panel .truth-number").count()).toBe(3 * first.length);
		expect(await page.locator(".risk-panel .same-age-number").count()).toBe(3 * first.length);
		expect(faults).toEqual([]);
		await page.close();
	});

	test("the answer fits on one screen, and a category opens into its codes", async () => {
		const { page, faults } = await opened("patient");
		await page.setViewportSize({ width: 1440, height: 900 });
		await page.waitForSelector(".risk-panel td[data-risk]");
		for (const panel of [".timeline-panel", ".new-diagnoses", ".risk-panel"]) {
			const { x, y, width, height } = (await page.locator(panel).boundingBox()) as DOMRect;
			expect(y + height).toBeLessThanOrEqual(900);
			expect(x + width).toBeLessThanOrEqual(1440);
		}
		expect(await page.locator(".on-date").textContent()).toContain(await timeOfDate(page));
		const names = page.locator(".timeline .row-name");
		const before = await names.count();
		const category = page.getByRole("button", { name: /^Codes of / }).first();
		await category.focus();
		await page.keyboard.press("Enter");
		expect(await names.count()).toBeGreaterThan(before);
		await page.keyboard.press("Enter");
		expect(await names.count()).toBe(before);
		expect(faults).toEqual([]);
		await page.close();
	});

	test("moves and removes events with the keyboard and by dragging", async () => {
		const { page, faults } = await opened("what-if");
		await updated(page);
		const history = await sampleHistory("s1");
		const plain = await shown(page);
		const date = await dateOf(page);
		const known = history.times.filter((time) => time < date).length;
		await page.getByRole("listbox", { name: /^Events/ }).focus();
		for (let at = 1; at < known - 1; at++) await page.keyboard.press("ArrowRight");
		await page.keyboard.press("Delete");
		await page.waitForSelector(".edits li");
		await updated(page);
		// Events of one time stand in rows: which of them is chosen shows in the words of the edit.
		expect(await page.locator(".edits li").textContent()).toMatch(/ removed, /);
		expect(await shown(page)).not.toEqual(plain);
		await page.keyboard.press("Control+z");
		await updated(page);
		expect(await shown(page)).toEqual(plain);

		await page.locator(".event-dot").first().scrollIntoViewIfNeeded();
		const mark = (await page.locator(".event-dot").first().boundingBox()) as {
			x: number;
			y: number;
		};
		await page.mouse.move(mark.x + 5, mark.y + 5);
		await page.mouse.down();
		await page.mouse.move(mark.x + 25, mark.y + 5, { steps: 4 });
		await page.mouse.up();
		await page.waitForSelector(".edits li");
		await updated(page);
		expect(await page.locator(".edits li").textContent()).toMatch(/ moved from .* to /);
		expect(await shown(page)).not.toEqual(plain);
		await page.getByRole("button", { name: "Reset to original" }).click();

		await page.getByRole("listbox", { name: /^Events/ }).focus();
		await page.keyboard.press("ArrowRight");
		await page.keyboard.press("Alt+ArrowRight");
		await page.waitForSelector(".edits li");
		expect(await page.locator(".edits li").textContent()).toMatch(/ moved from .* to /);
		await updated(page);
		expect(faults).toEqual([]);
		await page.close();
	});

	test("numbers keep their date while the model computes and when it fails", async () => {
		const { page } = await opened("patient", (page) =>
			page.addInitScript(() => {
				const worker = globalThis as unknown as { mode: string; held: (() => void)[] };
				worker.mode = "plain";
				worker.held = [];
				const send = Worker.prototype.postMessage;
				Worker.prototype.postMessage = function (this: Worker, ...values: unknown[]) {
					const sent = () => send.apply(this, values as Parameters<typeof send>);
					if (worker.mode === "failing") throw new Error("the worker has ended");
					if (worker.mode === "slow") worker.held.push(sent);
					else sent();
				} as typeof send;
			}),
		);
		const turn = (mode: string) =>
			page.evaluate((mode) => {
				const worker = globalThis as unknown as { mode: string; held: (() => void)[] };
				worker.mode = mode;
				if (mode === "plain") for (const send of worker.held.splice(0)) send();
			}, mode);
		await ready(page);
		const [first, numbers] = [await timeOfDate(page), await shown(page)];
		expect(await likely(page).textContent()).toContain(first);

		await turn("slow");
		const explain = page.getByRole("button", { name: /^What drives these probabilities/ });
		expect(await explain.textContent()).toContain(first);
		await explain.click();
		await page.getByRole("slider").focus();
		await page.keyboard.press("PageUp");
		await page.waitForSelector('.panel[aria-busy="true"]');
		expect(await timeOfDate(page)).not.toBe(first);
		expect(await likely(page).textContent()).toContain(first);
		expect(await shown(page)).toEqual(numbers);
		await turn("plain");
		await updated(page);
		const [second, then] = [await timeOfDate(page), await shown(page)];
		expect(await likely(page).textContent()).toContain(second);
		expect(then).not.toEqual(numbers);
		// The drivers requested for the previous date are discarded.
		await explain.click();
		await page.waitForSelector(".drivers");
		const drivers = await page.locator(".drivers").textContent();
		expect(drivers).toContain(`The probability at ${second} minus`);
		expect(drivers).toMatch(/The last \d+ of \d+ events up to it were left out|All \d+ events/);

		await turn("failing");
		await page.getByRole("slider").focus();
		await page.keyboard.press("PageUp");
		await alert(page).waitFor();
		expect(await alert(page).textContent()).toContain("the worker has ended");
		expect(await alert(page).textContent()).toContain(`still those of ${second}`);
		expect(await likely(page).textContent()).toContain(second);
		expect(await shown(page)).toEqual(then);
		await turn("plain");
		await page.keyboard.press("PageUp");
		await updated(page);
		expect(await alert(page).count()).toBe(0);
		expect(await likely(page).textContent()).toContain(await timeOfDate(page));
		await page.close();
	});

	test("warns of dates beyond training, and announces predictions to screen readers", async () => {
		const { page, faults } = await opened("patient");
		await updated(page);
		const rows = ["2019-02-01,I10", "2019-03-04,E11.9", "2020-01-20,I25.10", "2020-05-06,I10"];
		const table = rows.map((row) => `old,${row},ICD10CM,female,1899-01-01`);
		await drop(page, "old.csv", ["patient,time,code,system,sex,birth", ...table].join("\n"));
		await page.waitForSelector(".read-notes");
		await updated(page);
		const warning = await page.locator(".workbench .notice-warning").textContent();
		expect(warning).toMatch(/at the age of 12\d\.\d years; the oldest patient in training was/);
		const said = page.locator(".announcement").getByText(await timeOfDate(page));
		await said.waitFor({ state: "attached" });
		expect(await said.textContent()).toMatch(
			/^Risks after .* within 1 year, .*Most likely new diagnoses within a year: .* %\. .*the oldest patient in training was/,
		);
		expect(faults).toEqual([]);
		await page.close();
	});

	/** One page for every view, scheme and width: opening a page takes most of the time. */
	let looked: ReturnType<typeof opened> | undefined;

	test.each([
		["patient", "light", 1440],
		["what-if", "dark", 1200],
		["map", "light", 1200],
		["model", "dark", 1200],
		["patient", "dark", 360],
		["what-if", "light", 360],
		["map", "dark", 360],
		["model", "light", 360],
	] as const)(
		"%s, %s, %i px wide: axe finds nothing serious, nothing overflows, no other origin is contacted",
		async (view, scheme, width) => {
			looked ??= opened(view);
			const { page, faults } = await looked;
			await page.emulateMedia({ colorScheme: scheme });
			await page.setViewportSize({ width, height: width === 360 ? 780 : 1160 });
			await page.goto(`${explorer().url}#${view}`);
			if (view === "patient" || view === "what-if") await updated(page);
			else await page.waitForSelector(".panel svg[data-drawing]");
			if (view === "what-if") {
				if (pictured) await ready(page);
				await page.getByRole("combobox", { name: "Add an event" }).fill("428");
				await page.keyboard.press("Enter");
				await page.getByRole("button", { name: "Add", exact: true }).click();
				await page.waitForSelector(".edits li");
				await updated(page);
				// In one column, the edits come first, and the risks that they change are in sight with them.
				const titles = await page.locator(".panel h2").allTextContents();
				expect(titles.slice(0, 2)).toEqual(["Edits", "Risk"]);
				const changed = await page.locator(".was").first().boundingBox();
				const editor = await page.locator(".edit-panel").boundingBox();
				expect((changed?.y ?? 0) - (editor?.y ?? 0)).toBeLessThan(700);
			}
			// The risks have an update of their own, during which their panel fades.
			await page.waitForSelector(".panel-updating", { state: "detached" });
			if (view === "patient" && width > 360) {
				await page.getByLabel("true risk, from the simulation").check();
				await page.waitForSelector(".risk-panel .truth-number");
			}
			if (width > 360)
				await page.screenshot({
					path: join(pictures, `explorer-${view}.png`),
					fullPage: view !== "patient",
				});
			await page.evaluate(axe.source);
			const violations = await page.evaluate(async () => {
				const { axe } = globalThis as unknown as {
					axe: {
						run(options: object): Promise<{
							violations: { id: string; impact: string; nodes: { html: string }[] }[];
						}>;
					};
				};
				const found = await axe.run({ rules: { "target-size": { enabled: true } } });
				return found.violations
					.filter(({ impact }) => impact === "serious" || impact === "critical")
					.map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
			});
			expect(violations).toEqual([]);
			expect(
				await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
			).toBeLessThanOrEqual(0);
			if (view === "what-if") await page.getByRole("button", { name: "Reset to original" }).click();
			expect(faults).toEqual([]);
		},
		pictured ? 180_000 : 60_000,
	);

	test("JavaScript stays below 400 KB gzipped, without the engine's WebAssembly", () => {
		const { page, library } = pageKilobytes(
			fileURLToPath(new URL("../../dist/web/", import.meta.url)),
			fileURLToPath(new URL("../../dist/browser/", import.meta.url)),
		);
		console.log(
			`JavaScript, gzipped: ${Math.round(page + library)} KB (page ${Math.round(page)} KB, model and engine ${Math.round(library)} KB)`,
		);
		expect(page + library).toBeLessThan(400);
	});
});
