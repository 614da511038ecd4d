import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pageKilobytes } from "../../scripts/build-web.mjs";
import { newPatients } from "../../src/data/cohort/index.js";
import { openFhir } from "../../src/data/records/index.js";
import { type Evaluation, readEvaluation } from "../../src/evaluate/index.js";
import { weightCount } from "../../src/model/index.js";
import { chromiumIsThere } from "../../src/predict/browser/testing/page.js";
import { incidences } from "../../src/predict/index.js";
import { explainRisk } from "../../src/predict/reasons.js";
import { searchCodes } from "../../src/predict/user-input/find-code.js";
import {
	addEvent,
	alert,
	dateOf,
	drop,
	explorerInBrowser,
	numbersIn,
	ready,
	risksIn,
	seriousIn,
	timeOfDate,
	updated,
	withEvent,
} from "../testing/explorer-page.js";
import { fhirBundle } from "../testing/patients.js";
import type { Memory, SamplePatient } from "./data/contract.js";
import { codeName } from "./state/patient-context.js";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
/** A run to take the pictures of the documents from; otherwise they are taken and thrown away. */
const pictured = process.env.TRAJGPT_SCREENSHOTS;

const middleOf = async (page: Page, selector: string) => {
	const element = page.locator(selector).first();
	await element.scrollIntoViewIfNeeded();
	const { x, y, width, height } = (await element.boundingBox()) as DOMRect;
	return { x: x + width / 2, y: y + height / 2 };
};

/** Drags with steps of a few pixels, and stays at the end until the button is released. */
async function dragTo(page: Page, from: { x: number; y: number }, x: number) {
	await page.mouse.move(from.x, from.y);
	await page.mouse.down();
	await page.mouse.move(x, from.y, { steps: 8 });
}

/** Expects that a person sees it without scrolling. */
async function expectInSight(page: Page, element: Locator) {
	const { y, height } = (await element.boundingBox()) as DOMRect;
	expect(y).toBeGreaterThanOrEqual(0);
	expect(y + height).toBeLessThanOrEqual(900);
	expect(await page.evaluate(() => scrollY)).toBe(0);
}

const edits = (page: Page) => page.locator(".edits li");
const notes = (page: Page) => page.locator(".read-notes");
const riskPanel = (page: Page) => page.getByRole("region", { name: "Risk", exact: true });

describe.skipIf(!chromiumIsThere)("the explorer in Chromium", () => {
	const { explorer, hazards, opened, expectNodes, sampleHistory } = explorerInBrowser(pictured);

	type Opened = Awaited<ReturnType<typeof opened>>;
	/** Pages that no test uses now: opening one takes most of the time. One on which a test failed is not used again. */
	const idle = new Map<string, Opened>();

	/** A test on a page that shows samples, or opens files; it must have no faults in the end. */
	const pageTest = (
		name: string,
		run: (page: Page) => Promise<void>,
		{ of = "samples", timeout = 60_000 } = {},
	) =>
		test(
			name,
			async () => {
				const used = idle.get(of) ?? (await opened("patient"));
				idle.delete(of);
				const { page, faults } = used;
				await page.bringToFront();
				await page.setViewportSize({ width: 1440, height: 900 });
				if (of === "samples") {
					await page.getByRole("link", { name: "Patient", exact: true }).click();
					await page.getByRole("combobox", { name: "Patient" }).selectOption({ index: 0 });
					await updated(page);
				}
				await run(page);
				expect(faults).toEqual([]);
				idle.set(of, used);
			},
			timeout,
		);
	const files = { of: "files" };

	let pictures: string;
	beforeAll(async () => {
		pictures = pictured ? docs : await mkdtemp(join(tmpdir(), "trajgpt-pictures-"));
	});
	afterAll(async () => {
		if (pictures && !pictured) await rm(pictures, { recursive: true });
	});

	pageTest(
		"gives Node's risks after choosing a patient and moving the date, on one screen",
		async (page) => {
			await page.getByRole("combobox", { name: "Patient" }).selectOption({ index: 1 });
			const history = await sampleHistory("s2");
			const first = await expectNodes(page, history);
			const before = await dateOf(page);
			const grip = await middleOf(page, ".date-grip");
			const ticks = () => page.locator(".timeline .tick").allTextContents();
			const axis = await ticks();
			await dragTo(page, grip, grip.x + 70);
			// The axis does not move during a drag.
			expect(await ticks()).toEqual(axis);
			await page.mouse.up();
			expect(await dateOf(page)).toBeGreaterThan(before);
			expect(await expectNodes(page, history)).not.toEqual(first);
			await page.getByRole("slider").focus();
			await page.keyboard.press("ArrowLeft");
			const risks = await expectNodes(page, history);

			const open = [...risks.values()].filter(({ length }) => length === 3).length;
			expect(await page.getByText(/^already recorded, age \d/).count()).toBe(risks.size - open);
			await page.getByLabel("true risk, from the simulation").check();
			await page.waitForSelector(".risk-panel td .truth-number");
			for (const compared of [".truth-number", ".same-age-number"])
				expect(await page.locator(`.risk-panel td ${compared}`).count()).toBe(3 * open);
			for (const panel of [".timeline-panel", ".new-diagnoses", ".risk-panel"])
				await expectInSight(page, page.locator(panel));
			expect(await page.locator(".on-date").textContent()).toContain(await timeOfDate(page));
			const names = page.locator(".timeline .row-name");
			const rows = await names.count();
			await page
				.getByRole("button", { name: /^Codes of / })
				.first()
				.focus();
			await page.keyboard.press("Enter");
			expect(await names.count()).toBeGreaterThan(rows);
			await page.keyboard.press("Enter");
			expect(await names.count()).toBe(rows);
		},
	);

	/** A sample with a record of the first code, and the time before which neither code is recorded. */
	async function sampleBefore(code: number, other: number) {
		const { patients } = await (await fetch(`${explorer().url}explorer/samples.json`)).json();
		const isOf = (wanted: number) => (event: { readonly token: number }) => event.token === wanted;
		const place = (patients as SamplePatient[]).findIndex(({ events }) => events.some(isOf(code)));
		const { id, events } = patients[place] as SamplePatient;
		const times = [code, other].flatMap((wanted) => events.find(isOf(wanted))?.time ?? []);
		return { place, id, first: Math.min(...times) };
	}

	pageTest(
		"a clinician finds stroke before its diagnosis, adds atrial fibrillation, sees why, undoes, takes the picture",
		async (page) => {
			const { trained } = explorer();
			const { vocabulary } = trained;
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
			const history = await sampleHistory(id);
			const before = await expectNodes(page, history);
			await expectInSight(page, cell);

			const why = page.getByRole("region", { name: "Why" });
			await why.getByRole("combobox").selectOption({ label: codeName(vocabulary, stroke) });
			await why.getByRole("button", { name: "Explain" }).click();
			await page.waitForSelector(".reasons-total", { timeout: 60_000 });
			const expected = await explainRisk(
				async (histories) => {
					const days = histories.map(() => [date]);
					const horizon = Math.min(5 * 365.25, hazards().longestDays);
					const found = await incidences(hazards(), histories, [[stroke]], days, [horizon]);
					return found.map(([code]) => code?.probabilities[0] ?? Number.NaN);
				},
				history,
				{ of: [stroke], day: date, parameters: weightCount(trained.weights) },
			);
			const reasons = await numbersIn(page, ".reasons [data-effect]", "data-effect");
			const all = [...expected.listed, ...(expected.others ? [expected.others] : [])];
			expect(reasons).toEqual(all.map(({ effect }) => expect.closeTo(effect, 4)));
			const [start = Number.NaN] = await numbersIn(page, ".reasons [data-start]", "data-start");
			const sum = reasons.reduce((total, effect) => total + effect, start);
			expect(sum).toBeCloseTo(expected.risk, 4);

			await addEvent(page, "atrial fibrillation");
			await cell.locator(".was").waitFor();
			const after = await expectNodes(page, withEvent(history, fibrillation, date));
			expect(after).not.toEqual(before);
			for (const element of [cell.locator(".was"), edits(page), page.locator(".new-diagnoses")])
				await expectInSight(page, element);
			// What the edit adds is the difference that the table of risks shows.
			await page.locator(".reasons").getByText("before the edits").waitFor({ timeout: 60_000 });
			const [was, effect, is] = await Promise.all(
				["start", "effect", "total"].map((name) =>
					numbersIn(page, `.reasons [data-${name}]`, `data-${name}`),
				),
			);
			const [riskBefore, riskAfter] = [before, after].map(
				(risks) => risks.get(stroke)?.[1] ?? 0,
			) as [number, number];
			expect(was).toEqual([expect.closeTo(riskBefore, 4)]);
			expect(effect).toEqual([expect.closeTo(riskAfter - riskBefore, 4)]);
			expect(is).toEqual([expect.closeTo(riskAfter, 6)]);
			await expectInSight(
				page,
				page.locator(".reasons li", { hasText: codeName(vocabulary, fibrillation) }),
			);

			await page.keyboard.press("Control+z");
			await cell.locator(".was").waitFor({ state: "detached" });
			await updated(page);
			expect(await risksIn(page)).toEqual(before);
			const save = async (kind: string) => {
				await riskPanel(page).locator(".save summary").click();
				const [file] = await Promise.all([
					page.waitForEvent("download"),
					riskPanel(page)
						.getByRole("button", { name: `Download ${kind}` })
						.click(),
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
			expect(drawing).toMatch(
				/simulated population, not real people · Sample .* · run [0-9a-f]{8}/,
			);
			expect(drawing).not.toContain("var(--");
			const table = (await save("CSV")).content.toString().split("\n");
			expect(table[0]).toMatch(
				/^time_days,date,age_years,code,name,recorded,risk_1y,.*,population,run$/,
			);
			expect(table).toHaveLength(1 + (await page.locator(".risk-panel tbody tr").count()));
			await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
			// Only the page in front may write to the clipboard.
			await page.bringToFront();
			await riskPanel(page).locator(".save summary").click();
			await riskPanel(page).getByRole("button", { name: "Copy PNG" }).click();
			const kinds = () =>
				page.evaluate(async () =>
					(await navigator.clipboard.read()).flatMap(({ types }) => [...types]),
				);
			await expect.poll(kinds, { timeout: 20_000 }).toContain("image/png");
			await page.getByRole("button", { name: "Find people like this one" }).click();
			await page.waitForSelector(".people-panel, .panel code", { timeout: 60_000 });
		},
		{ timeout: 240_000 },
	);

	pageTest(
		"moves and removes events with the keyboard and by dragging; the focus stays near",
		async (page) => {
			const plain = await risksIn(page);
			const changed = async (words: RegExp) => {
				await edits(page).waitFor();
				expect(await edits(page).textContent()).toMatch(words);
				await updated(page);
				expect(await risksIn(page)).not.toEqual(plain);
			};
			const undone = async () => {
				await page.keyboard.press("Control+z");
				await edits(page).waitFor({ state: "detached" });
				await updated(page);
				expect(await risksIn(page)).toEqual(plain);
			};
			const events = page.getByRole("listbox", { name: /^Events/ });
			await events.focus();
			for (let press = 0; press < 5; press++) await page.keyboard.press("ArrowRight");
			await page.keyboard.press("Delete");
			await changed(/ removed, /);
			await undone();
			await page.keyboard.press("Alt+ArrowRight");
			await changed(/ moved from .* to /);
			await undone();

			const dot = await middleOf(page, ".event-dot");
			// A click, or a drag with the other button, moves nothing.
			await page.mouse.move(dot.x, dot.y);
			await page.mouse.down({ button: "right" });
			await page.mouse.move(dot.x + 40, dot.y, { steps: 4 });
			await page.mouse.up({ button: "right" });
			await page.mouse.click(dot.x, dot.y);
			expect(await edits(page).count()).toBe(0);
			await dragTo(page, dot, dot.x + 200);
			expect((await middleOf(page, ".edit-moved .event-dot")).x).toBeCloseTo(dot.x + 200, -1);
			await page.mouse.up();
			await changed(/ moved from .* to /);
			const focused = () => page.evaluate(() => document.activeElement?.ariaLabel ?? null);
			expect(await focused()).toMatch(/^Events/);
			await page.getByRole("button", { name: "Remove", exact: true }).click();
			expect(await edits(page).textContent()).toMatch(/ removed, /);
			await page.getByRole("button", { name: /^Take back/ }).focus();
			await page.keyboard.press("Enter");
			expect(await focused()).toBe("Changes to the history");

			const removals = await page.$$eval(".risk-name button", (buttons) =>
				buttons.map((button) => button.ariaLabel ?? ""),
			);
			await page.getByRole("button", { name: removals[0] as string }).click();
			await page.waitForFunction((name) => document.activeElement?.ariaLabel === name, removals[1]);
		},
	);

	pageTest(
		"Ctrl and the wheel zoom the timeline, not the page; arrows reach events out of view",
		async (page) => {
			const events = page.getByRole("listbox", { name: /^Events/ });
			const drawn = () => page.locator(".event").count();
			const all = await drawn();
			const { x, y, width } = (await page.locator(".timeline svg").boundingBox()) as DOMRect;
			await page.mouse.move(x + width - 30, y + 60);
			await page.mouse.wheel(0, -100);
			expect(await drawn()).toBe(all);
			await page.evaluate(() => scrollTo(0, 0));
			await page.keyboard.down("Control");
			for (let turn = 0; turn < 6; turn++) await page.mouse.wheel(0, -100);
			await page.keyboard.up("Control");
			await page.waitForFunction(
				(all) => document.querySelectorAll(".event").length < all / 2,
				all,
			);
			expect(await page.evaluate(() => [visualViewport?.scale, devicePixelRatio])).toEqual([1, 1]);
			const chosen = async () => {
				const id = await events.getAttribute("aria-activedescendant");
				return page.evaluate((id) => document.getElementById(id ?? "")?.ariaLabel ?? null, id);
			};
			await events.focus();
			await page.keyboard.press("Home");
			expect(await chosen()).toMatch(/seen by the model$/);
			await page.keyboard.press("End");
			expect(await chosen()).toMatch(/after the date$/);
			expect(await drawn()).toBeLessThan(all);
		},
	);

	pageTest("numbers keep their date while the model computes and when it fails", async (page) => {
		await page.evaluate(() => {
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
		});
		const turn = (mode: string) =>
			page.evaluate((mode) => {
				const worker = globalThis as unknown as { mode: string; held: (() => void)[] };
				worker.mode = mode;
				if (mode === "plain") for (const send of worker.held.splice(0)) send();
			}, mode);
		const dayOf = async () => (await timeOfDate(page)).slice(0, 10);
		const shows = async (day: string) =>
			expect(await riskPanel(page).textContent()).toContain(`after ${day}`);
		await ready(page);
		const [first, numbers] = [await dayOf(), await risksIn(page)];
		await shows(first);
		await turn("slow");
		await page.getByRole("slider").focus();
		await page.keyboard.press("PageUp");
		await page.waitForSelector('.panel[aria-busy="true"]');
		expect(await dayOf()).not.toBe(first);
		await shows(first);
		expect(await risksIn(page)).toEqual(numbers);
		await turn("plain");
		await updated(page);
		const [second, then] = [await timeOfDate(page), await risksIn(page)];
		await shows(second.slice(0, 10));
		expect(then).not.toEqual(numbers);

		await turn("failing");
		await page.keyboard.press("PageUp");
		await alert(page).waitFor();
		expect(await alert(page).textContent()).toContain("the worker has ended");
		expect(await alert(page).textContent()).toContain(`still those of ${second}`);
		await shows(second.slice(0, 10));
		expect(await risksIn(page)).toEqual(then);
		await turn("plain");
		await page.keyboard.press("PageUp");
		await updated(page);
		expect(await alert(page).count()).toBe(0);
		await shows(await dayOf());
	});

	pageTest(
		"warns of dates beyond training, and announces risks to screen readers",
		async (page) => {
			const rows = ["2019-02-01,I10", "2019-03-04,E11.9", "2020-01-20,I25.10", "2020-05-06,I10"];
			const table = rows.map((row) => `old,${row},ICD10CM,female,1899-01-01`);
			await drop(page, "old.csv", ["patient,time,code,system,sex,birth", ...table].join("\n"));
			await notes(page).filter({ hasText: "old.csv" }).waitFor();
			await updated(page);
			expect(await page.locator(".workbench .notice-warning").textContent()).toMatch(
				/at the age of 12\d\.\d years; the oldest patient in training was/,
			);
			const said = page.locator(".announcement").getByText(await timeOfDate(page));
			await said.waitFor({ state: "attached" });
			expect(await said.textContent()).toMatch(
				/^Risks after .* within 1 year, .*Most likely new diagnoses within a year: .* %\. .*the oldest patient in training was/,
			);
		},
		files,
	);

	for (const [view, scheme, width] of [
		["patient", "light", 1440],
		["what-if", "dark", 1440],
		["model", "dark", 1200],
		["patient", "dark", 390],
		["what-if", "light", 390],
		["model", "light", 360],
	] as const)
		pageTest(
			`${view}, ${scheme}, ${width} px wide: axe finds nothing serious, nothing overflows, no other origin is contacted`,
			async (page) => {
				await page.emulateMedia({ colorScheme: scheme });
				await page.setViewportSize({ width, height: width < 400 ? 844 : 900 });
				if (view === "model") {
					await page.getByRole("link", { name: "Model", exact: true }).click();
					await page.waitForSelector(".panel svg[data-drawing]");
				} else if (pictured) await ready(page);
				if (view === "what-if") {
					await addEvent(page, "428");
					await updated(page);
					const top = async (panel: string) => (await page.locator(panel).boundingBox())?.y ?? 0;
					// In one column, the risks and the edits that change them come first.
					if (width < 400) expect(await top(".what-if-panel")).toBeLessThan(await top(".timeline"));
					expect((await top(".what-if-panel")) - (await top(".risk-panel"))).toBeLessThan(700);
				}
				// Faded numbers have too little contrast.
				await page.waitForSelector(".panel-updating", { state: "detached" });
				if (view === "patient" && width > 400) {
					await page.getByLabel("true risk, from the simulation").check();
					await page.waitForSelector(".risk-panel td .truth-number");
				}
				if (width > 400)
					await page.screenshot({
						path: join(pictures, `explorer-${view}.png`),
						fullPage: view === "model",
					});
				expect(await seriousIn(page)).toEqual([]);
				expect(
					await page.evaluate(() => document.documentElement.scrollWidth - innerWidth),
				).toBeLessThanOrEqual(0);
				await page.emulateMedia({ colorScheme: null });
			},
			{ timeout: pictured ? 180_000 : 60_000 },
		);

	pageTest(
		"the Model view shows the run's evaluation, calibration, memory and model card",
		async (page) => {
			await page.getByRole("link", { name: "Model", exact: true }).click();
			await page.getByText("How the model was made").click();
			const evaluation = (await readEvaluation(explorer().run, "next")) as Evaluation;
			const measured = page.getByRole("group", { name: "The next record", exact: true });
			await measured.waitFor();
			const titles = await measured.locator("thead th").allTextContents();
			const rows = await measured.locator("tbody tr").all();
			expect(rows).toHaveLength(evaluation.rows.length);
			for (const [at, { label, metrics }] of evaluation.rows.entries()) {
				const cells = await rows[at]!.locator("th, td").allTextContents();
				expect(cells[0]).toBe(label);
				const { value, low, high } = metrics.nats as { value: number; low: number; high: number };
				expect(cells[titles.indexOf("nats")]).toBe(
					`${value.toFixed(3)} ${low.toFixed(3)}–${high.toFixed(3)}`,
				);
			}
			const { calibration = [], topCalibration = [] } = evaluation;
			const bins = page
				.getByRole("region", { name: "Calibration of other tasks" })
				.locator("circle");
			await expect.poll(() => bins.count()).toBe(calibration.length + topCalibration.length);
			expect(topCalibration.length).toBeGreaterThan(0);
			const memory: Memory = await (await fetch(`${explorer().url}explorer/memory.json`)).json();
			const { layers, heads } = explorer().trained.config as { layers: number; heads: number };
			expect(
				await page.getByRole("region", { name: "Memory" }).locator("desc").textContent(),
			).toMatch(`Half-lives of ${layers * heads} heads for ${memory.categories.length} categories`);
			const card = page.getByRole("region", { name: "Model card" });
			await card.getByRole("heading", { name: "The next record" }).waitFor();
			expect(await card.textContent()).toContain(
				evaluation.rows[0]?.metrics.nats?.value.toFixed(3),
			);
		},
	);

	test.each([
		{
			fault: "a corrupt export",
			before: (page: Page) =>
				page.route("**/model/weights.safetensors", async (route) => {
					const response = await route.fetch();
					const body = await response.body();
					body[body.length - 3] = (body[body.length - 3] as number) ^ 255;
					await route.fulfill({ response, body });
				}),
			words: "weights.safetensors does not hold what was written",
		},
		{
			fault: "a browser without SIMD",
			before: (page: Page) => page.addInitScript("WebAssembly.validate = () => false"),
			words: "no WebAssembly with SIMD",
		},
	])(
		"$fault: shows a message, and the timeline stays",
		async ({ before, words }) => {
			const { page } = await opened("patient", before);
			await alert(page).waitFor();
			expect(await alert(page).textContent()).toContain(words);
			expect(await page.locator(".event").count()).toBeGreaterThan(10);
			await page.close();
		},
		30_000,
	);

	pageTest(
		"reads a dropped FHIR bundle as the library does, and sends nothing; refuses other files",
		async (page) => {
			const asked: string[] = [];
			const scripts = await page.$$eval('script[src], link[rel="modulepreload"]', (elements) =>
				elements.map((element) => element.getAttribute("src") ?? element.getAttribute("href")),
			);
			const known = scripts.map((path) => new URL(path ?? "", page.url()).pathname);
			page.on("request", (request) => {
				const { pathname } = new URL(request.url());
				// The worker that reads files runs the page's own scripts, which the browser has.
				if (pathname !== "/icon.svg" && !known.includes(pathname)) asked.push(request.url());
			});
			expect(known).toHaveLength(2);
			await drop(page, "bundle.json", fhirBundle);
			await notes(page).filter({ hasText: "bundle.json" }).waitFor();
			await updated(page);
			expect(await notes(page).textContent()).toContain("that the model does not know");
			const folder = await mkdtemp(join(tmpdir(), "trajgpt-bundle-"));
			const file = join(folder, "bundle.json");
			await writeFile(file, fhirBundle);
			const { manifest, vocabulary } = explorer().trained;
			const { patients } = await newPatients(await openFhir([file], {}), { manifest, vocabulary });
			await rm(folder, { recursive: true });
			const { tokens, times } = patients[0]!.history;
			await expectNodes(page, { tokens: Array.from(tokens), times: Array.from(times) });
			expect(asked).toEqual([]);
			expect(await page.evaluate(() => location.href)).not.toMatch(/nobody|sample=|at=|zoom=/);
			for (const [name, content, words] of [
				["claims.csv", "PK\u0003\u0004\u0014", "a ZIP archive or an Excel workbook"],
				["bundle.json", '{"resourceType":"Bundle"}', "holds no Condition"],
				["claims.csv", "patient,time,code\na,2020-01-01,??\n", "the one record has no code"],
				["claims.csv", "a,b\n1,2\n", "no column has a usual name for the patient"],
			] as const) {
				await drop(page, name, content);
				await page.locator('.chooser [role="alert"]').filter({ hasText: words }).waitFor();
			}
		},
		files,
	);

	pageTest(
		"asks how dates are to be read, and lists bad rows",
		async (page) => {
			const rows = Array.from({ length: 9 }, (_, at) => `a,0${at + 1}/02/2015,I10,ICD10CM`);
			const table = ["patient,date,code,system", ...rows, "a,soon,I10,ICD10CM"].join("\n");
			await drop(page, "dates.csv", table);
			const question = page
				.locator(".notice-warning")
				.filter({ hasText: "Which number is the day" });
			await question.waitFor();
			expect(await question.textContent()).toContain("01/02/2015");
			await page.getByRole("button", { name: "Month first: 01/02/2015 is 2 January 2015" }).click();
			await notes(page).getByText("How it was read").click();
			expect(await notes(page).textContent()).toContain("1 row that cannot be read");
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
		},
		files,
	);

	pageTest(
		"asks which column is which, and remembers it",
		async (page) => {
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
			expect(await question.getByLabel("Code", { exact: true }).inputValue()).toBe("4");
			expect(await question.getByLabel("Sex").inputValue()).toBe("5");
			await choose("Patient id", "1");
			await choose("Date", "2");
			await choose("Date of birth", "6");
			expect(await seriousIn(page)).toEqual([]);
			await button.click();
			await expect.poll(() => notes(page).textContent()).toContain("1 patient, 2 events");
			await updated(page);
			expect(await page.locator(".person").textContent()).toMatch(/^female · age 61\.7 to 63\.3 ·/);
			expect(await page.locator(".on-date").textContent()).toBe(
				"predicted on 2013-08-17, age 63.3 after 2 of 2 events",
			);
			await drop(page, "next.csv", [first, rows[0], rows[1]?.replace("4711", "12")].join("\n"));
			await expect
				.poll(() => notes(page).textContent())
				.toContain("next.csv: 2 patients, 2 events");
			await notes(page).getByText("How it was read").click();
			await notes(page).getByText("Choose others").click();
			expect(await question.getByLabel("Date", { exact: true }).inputValue()).toBe("2");
			await choose("Date", "3");
			await button.click();
			await expect.poll(() => page.locator(".person").textContent()).toContain("62.3");
			await notes(page).getByText("How it was read").click();
			expect(await notes(page).textContent()).toContain("date from discharged (dates)");
		},
		files,
	);

	pageTest(
		"finds one of many patients by id with the keyboard; asks for the file after a reload; reads a map",
		async (page) => {
			const rows = Array.from({ length: 400 }, (_, at) => `MRN${1000 + at},2015-01-01,I10,ICD10CM`);
			await drop(page, "ward.csv", ["patient,date,code,system", ...rows].join("\n"));
			await notes(page).filter({ hasText: "ward.csv" }).waitFor();
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

			const codes = ["44054006,SNOMED", "I10,ICD10CM"].map((code) => `a,2015-01-01,${code}`);
			await drop(page, "a.csv", ["patient,date,code,system", ...codes].join("\n"));
			await expect.poll(() => notes(page).textContent()).toContain("1 patient, 1 event");
			expect(await page.locator(".notice-warning").allTextContents()).toContainEqual(
				expect.stringContaining("1 of 2 records (50 %) have codes that the model does not know"),
			);
			await drop(page, "map.csv", "SNOMED,PheCode\n44054006,250.2\n");
			await expect.poll(() => notes(page).textContent()).toContain("1 patient, 2 events");
			expect(await notes(page).textContent()).toContain("mapped with map.csv: 1 SNOMED concept");
		},
		files,
	);

	test("JavaScript stays below 372 KB gzipped, without figures and the engine's WebAssembly", () => {
		const { page, figures, library } = pageKilobytes(
			fileURLToPath(new URL("../../dist/web/", import.meta.url)),
			fileURLToPath(new URL("../../dist/browser/", import.meta.url)),
		);
		expect(figures).toBeLessThan(110);
		expect(page + library).toBeLessThan(372);
	});
});
