import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { newPatients } from "../../src/data/cohort/index.js";
import type { Token } from "../../src/data/cohort/vocabulary.js";
import { openFhir } from "../../src/data/records/index.js";
import { type Evaluation, readEvaluation } from "../../src/evaluate/index.js";
import { chromiumIsThere } from "../../src/predict/browser/testing/page.js";
import { alert, drop, explorerInBrowser, updated } from "../testing/explorer-page.js";
import { fhirBundle } from "../testing/patients.js";
import type { MapPoint, Maps, Memory } from "./data/contract.js";

describe.skipIf(!chromiumIsThere)("the explorer in Chromium", () => {
	const { explorer, opened, expectNodes } = explorerInBrowser();

	test("the axis does not move during a drag, and the dragged mark stays under the pointer", async () => {
		const { page, faults } = await opened("what-if");
		await updated(page);
		const ticks = () =>
			page.$$eval(".timeline .tick", (texts) =>
				texts.map((text) => `${text.textContent} ${text.getAttribute("x")}`),
			);
		const middle = async (selector: string) => {
			await page.locator(selector).first().scrollIntoViewIfNeeded();
			const box = await page.locator(selector).first().boundingBox();
			if (!box) throw new Error(`${selector} is not drawn`);
			return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
		};
		const [grip, before] = [await middle(".date-grip"), await ticks()];
		const { width } = (await page.locator(".timeline svg").boundingBox()) as { width: number };
		await page.mouse.move(grip.x, grip.y);
		await page.mouse.down();
		await page.mouse.move(0.95 * width, grip.y, { steps: 8 });
		expect(await ticks()).toEqual(before);
		expect((await middle(".date-grip")).x).toBeCloseTo(0.95 * width, 0);
		await page.mouse.up();
		await expect.poll(ticks).not.toEqual(before);
		await updated(page);

		const dot = await middle(".event-dot");
		await page.mouse.move(dot.x, dot.y);
		await page.mouse.down({ button: "right" });
		await page.mouse.move(dot.x + 40, dot.y, { steps: 4 });
		await page.mouse.up({ button: "right" });
		await page.mouse.move(dot.x, dot.y);
		await page.mouse.down();
		await page.mouse.move(dot.x + 1, dot.y);
		await page.mouse.up();
		expect(await page.locator(".edits li").count()).toBe(0);
		await page.mouse.down();
		await page.mouse.move(dot.x + 400, dot.y, { steps: 20 });
		expect((await middle(".edit-moved .event-dot")).x).toBeCloseTo(dot.x + 400, -1);
		await page.mouse.up();
		await updated(page);
		expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toMatch(
			/^Events/,
		);
		await page.getByRole("button", { name: "Remove", exact: true }).click();
		expect(await page.locator(".edits li").textContent()).toMatch(/ removed, /);
		expect(faults).toEqual([]);
		await page.close();
	});

	test("Ctrl and the wheel zoom the timeline, not the page; arrows reach events out of view", async () => {
		const { page, faults } = await opened("patient");
		await updated(page);
		const events = page.getByRole("listbox", { name: /^Events/ });
		const drawn = () => page.locator(".event").count();
		const all = await drawn();
		const { x, y, width } = (await page.locator(".timeline svg").boundingBox()) as {
			x: number;
			y: number;
			width: number;
		};
		await page.mouse.move(x + width - 30, y + 60);
		await page.mouse.wheel(0, -100);
		expect(await drawn()).toBe(all);
		await page.evaluate(() => scrollTo(0, 0));
		await page.keyboard.down("Control");
		for (let turn = 0; turn < 6; turn++) await page.mouse.wheel(0, -100);
		await page.keyboard.up("Control");
		await page.waitForFunction((all) => document.querySelectorAll(".event").length < all / 2, all);
		expect(await page.evaluate(() => [visualViewport?.scale, devicePixelRatio])).toEqual([1, 1]);
		const chosen = async () => {
			const id = await events.getAttribute("aria-activedescendant");
			return page.evaluate((id) => document.getElementById(id ?? "")?.ariaLabel ?? null, id);
		};
		await events.focus();
		await page.keyboard.press("Home");
		const first = await chosen();
		expect(first).toMatch(/seen by the model$/);
		await page.keyboard.press("End");
		expect(await chosen()).not.toBe(first);
		expect(await chosen()).not.toBe(null);
		expect(await drawn()).toBeLessThan(all);
		expect(faults).toEqual([]);
		await page.close();
	});

	test("the focus stays near a removed element", async () => {
		const { page, faults } = await opened("what-if");
		await updated(page);
		const focused = () => page.evaluate(() => document.activeElement?.ariaLabel ?? null);
		const removals = (list: string) =>
			page.$$eval(`${list} button`, (buttons) => buttons.map((button) => button.ariaLabel ?? ""));
		await page.waitForSelector(".risk-panel td[data-risk]");
		const [first, second] = await removals(".risk-name");
		await page
			.locator(".risk-name")
			.getByRole("button", { name: first as string })
			.click();
		await page.waitForFunction((name) => document.activeElement?.ariaLabel === name, second);

		const [chip, ...others] = await removals(".chips .chip");
		await page
			.locator(".chips")
			.getByRole("button", { name: chip as string })
			.click();
		for (const next of others) {
			expect(await focused()).toBe(next);
			await page.keyboard.press("Enter");
		}
		expect(await focused()).toBe("Codes whose probability is drawn");

		await page.getByRole("combobox", { name: "Add an event" }).fill("428");
		await page.keyboard.press("Enter");
		await page.getByRole("button", { name: "Add", exact: true }).click();
		expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Add");
		await page.getByRole("button", { name: /^Take back/ }).focus();
		await page.keyboard.press("Enter");
		expect(await focused()).toBe("Changes to the history");
		expect(faults).toEqual([]);
		await page.close();
	});

	test("reads a dropped FHIR bundle as the library does, and sends nothing", async () => {
		const { page, faults } = await opened("patient");
		await updated(page);
		const asked: string[] = [];
		const scripts = await page.$$eval('script[src], link[rel="modulepreload"]', (found) =>
			found.map((own) => own.getAttribute("src") ?? own.getAttribute("href")),
		);
		const known = scripts.map((own) => new URL(own ?? "", page.url()).pathname);
		page.on("request", (request) => {
			const { pathname } = new URL(request.url());
			// The worker that reads files runs the page's own scripts, which the browser has.
			if (pathname !== "/icon.svg" && !known.includes(pathname)) asked.push(request.url());
		});
		expect(known).toHaveLength(2);
		await drop(page, "bundle.json", fhirBundle);
		await page.waitForSelector(".read-notes");
		await updated(page);
		expect(await page.locator(".read-notes").textContent()).toContain(
			"that the model does not know",
		);
		const folder = await mkdtemp(join(tmpdir(), "trajgpt-bundle-"));
		const file = join(folder, "bundle.json");
		await writeFile(file, fhirBundle);
		const { manifest, vocabulary } = explorer().trained;
		const { patients } = await newPatients(await openFhir([file], {}), { manifest, vocabulary });
		await rm(folder, { recursive: true });
		await expectNodes(page, patients[0]!.history);
		expect(asked).toEqual([]);
		const link = await page.evaluate(() => location.href);
		expect(link).not.toMatch(/nobody|sample=|at=|zoom=/);
		expect(faults).toEqual([]);
		await page.close();
	});

	/** The page that refuses one file after another. */
	let refusing: ReturnType<typeof opened> | undefined;

	test.each([
		["claims.csv", "PK\u0003\u0004\u0014", "a ZIP archive or an Excel workbook"],
		["bundle.json", "{", "cannot be read: the file ends inside it"],
		["bundle.json", '{"resourceType":"Bundle"}', "holds no Condition"],
		["claims.csv", "patient,time,code\na,2020-01-01,??\n", "the one record has no code"],
		["claims.csv", "a,b\n1,2\n", "no column has a usual name for the patient"],
	])(
		"refuses %s with content %j and says why",
		async (name, content, words) => {
			refusing ??= opened("patient");
			const { page, faults } = await refusing;
			await page.waitForSelector(".chooser button:not(:disabled)");
			await drop(page, name, content);
			const refusal = page.locator('.chooser [role="alert"]').filter({ hasText: words });
			await refusal.waitFor();
			expect(await refusal.textContent()).toContain(words);
			expect(faults).toEqual([]);
		},
		30_000,
	);

	test.each([
		[
			"a corrupt export",
			(page: Page) =>
				page.route("**/model/weights.safetensors", async (route) => {
					const response = await route.fetch();
					const body = await response.body();
					body[body.length - 3] = (body[body.length - 3] as number) ^ 255;
					await route.fulfill({ response, body });
				}),
			"weights.safetensors does not hold what was written",
		],
		[
			"a browser without SIMD",
			(page: Page) => page.addInitScript("WebAssembly.validate = () => false"),
			"no WebAssembly with SIMD",
		],
	])(
		"%s: shows a message, and the timeline stays",
		async (_, before, words) => {
			const { page } = await opened("patient", before);
			await alert(page).waitFor();
			expect(await alert(page).textContent()).toContain(words);
			expect(await page.locator(".event").count()).toBeGreaterThan(10);
			await page.close();
		},
		30_000,
	);

	test("copies a panel as PNG, SVG and CSV", async () => {
		const { page, faults } = await opened("patient");
		await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
		await updated(page);
		const text = () => page.evaluate(() => navigator.clipboard.readText());
		const kinds = () =>
			page.evaluate(async () =>
				(await navigator.clipboard.read()).flatMap(({ types }) => [...types]),
			);
		const soon = { timeout: 20_000 };
		const panel = page.getByRole("region", { name: "Code probability" });
		const copy = async (kind: string) => {
			await panel.locator(".save summary").click();
			await panel.getByRole("button", { name: `Copy ${kind}` }).click();
		};
		// Only the page in front may write to the clipboard.
		await page.bringToFront();
		await copy("CSV");
		await expect.poll(text, soon).toMatch(/^time_days,date,age_years,/);
		expect((await text()).split("\n")[1]).toMatch(/^[\d.]+,\d{4}-\d\d-\d\d,[\d.]+,0\.\d+/);
		await copy("SVG");
		await expect
			.poll(text, soon)
			.toMatch(
				/^<svg.*rgb\(.*>Code probability at a visit<.*>dashed: after .*>simulated population.* · Sample 1, .* · run [0-9a-f]{8}<.*<\/svg>$/s,
			);
		expect(await text()).not.toContain("var(--");
		await copy("PNG");
		await expect.poll(kinds, soon).toContain("image/png");
		await page.getByText("PNG copied").first().waitFor({ state: "attached" });
		expect(faults).toEqual([]);
		await page.close();
	});

	test("maps codes and patients; finds, highlights and describes a code, opens a patient", async () => {
		const { page, faults } = await opened("map");
		const { vocabulary } = explorer().trained;
		const maps: Maps = await (await fetch(`${explorer().url}explorer/maps.json`)).json();
		const codes = page.getByRole("region", { name: "Map of the codes" });
		const points = codes.locator(".point");
		await points.first().waitFor();
		expect(await points.count()).toBe(maps.tokens.length);

		await page.getByRole("searchbox", { name: "Search" }).fill("428");
		expect(await codes.getByText("1 code found").getAttribute("role")).toBe("status");
		expect(await codes.locator("g:not(.faded) > .point").count()).toBe(1);
		const token = vocabulary.find("428") as number;
		const { code, name, category } = vocabulary.tokens[token] as Token;
		const row = codes.getByRole("button", { name: `${name} ${code}` });
		await row.focus();
		await page.keyboard.press("Enter");
		expect(await row.getAttribute("aria-pressed")).toBe("true");
		const place = maps.tokens.findIndex((point) => point.token === token);
		expect(await points.nth(place).getAttribute("class")).toContain("chosen-point");
		expect(await codes.locator(".chosen-point").count()).toBe(1);
		expect(await codes.getByRole("heading", { level: 3 }).textContent()).toBe(`${name} ${code}`);
		expect(await codes.locator(".map-chosen").textContent()).toContain(`${category}, `);
		await codes.getByRole("button", { name: "Remove its risk from the Patient view" }).click();
		await codes.getByRole("button", { name: "Show its risk in the Patient view" }).waitFor();
		const near = maps.tokens[place]?.near.map(
			(other) => `${vocabulary.tokens[other.token]?.name} ${other.likeness.toFixed(2)}`,
		);
		expect(await codes.locator(".map-chosen .plain-row").allTextContents()).toEqual(near);
		await page.getByRole("searchbox", { name: "Search" }).fill("");

		const alone = mostAlone(maps.tokens);
		const other = vocabulary.tokens[maps.tokens[alone]?.token as number] as Token;
		await points.nth(alone).hover({ force: true });
		await expect
			.poll(() => codes.locator(".tip").textContent())
			.toBe(`${other.name}${other.category}`);

		const placeOf = () => points.nth(place).locator("..").getAttribute("transform");
		const before = await placeOf();
		await codes.getByRole("button", { name: "Zoom in" }).click();
		expect(await placeOf()).not.toBe(before);
		await codes.locator(".scatter-frame").press("0");
		expect(await placeOf()).toBe(before);

		const patients = page.getByRole("region", { name: "Map of the patients" });
		expect(maps.patients.length).toBeGreaterThan(0);
		expect(await patients.locator(".point").count()).toBe(maps.patients.length);
		await patients.locator(".here").waitFor();
		const samples = maps.patients.filter(({ sample }) => sample !== undefined);
		expect(await patients.locator(".ring").count()).toBe(samples.length);
		await patients.locator("g:has(> .ring)").last().locator(".point").click({ force: true });
		await page.locator(".timeline-panel").waitFor();
		expect(faults).toEqual([]);
		await page.close();
	});

	test("says of a patient that cannot be opened which sample is most like them", async () => {
		const { page, faults } = await opened("map", (page) =>
			page.route("**/explorer/maps.json", async (route) => {
				const response = await route.fetch();
				const maps: Maps = await response.json();
				const patients = maps.patients.map(({ sample, ...one }, at) =>
					at === 0 ? { ...one, sample } : one,
				);
				await route.fulfill({ response, json: { ...maps, patients } });
			}),
		);
		const patients = page.getByRole("region", { name: "Map of the patients" });
		await patients.locator("g:not(:has(> .ring)) > .point").last().click({ force: true });
		const person = patients.locator(".map-person");
		const name = await person.getByRole("button").textContent();
		expect(await person.textContent()).toMatch(/^A patient, .*\d records?\. Only the \d+ samples/);
		await person.getByRole("button").click();
		await page.locator(".timeline-panel").waitFor();
		const sample = page.getByRole("combobox", { name: "Patient" }).locator("option:checked");
		expect(`Open ${await sample.textContent()}`).toContain(`${name} ·`);
		expect(faults).toEqual([]);
		await page.close();
	}, 60_000);

	test("the Model view shows the run's evaluation, calibration, memory and model card", async () => {
		const { page, faults } = await opened("model");
		await page.getByText("How the model was made").click();
		const evaluation = (await readEvaluation(explorer().run, "next")) as Evaluation;
		const measured = page.getByRole("region", { name: "All measures: The next record" });
		await measured.waitFor();
		const titles = await measured.locator("thead th").allTextContents();
		const rows = await measured.locator("tbody tr").all();
		expect(rows).toHaveLength(evaluation.rows.length);
		for (const [at, { label, metrics }] of evaluation.rows.entries()) {
			const cells = await rows[at]!.locator("th, td").allTextContents();
			expect(cells[0]).toBe(label);
			const { value, low, high } = metrics.nats as { value: number; low: number; high: number };
			expect(cells[titles.indexOf("nats")]).toBe(
				`${value.toFixed(3)}${low.toFixed(3)}–${high.toFixed(3)}`,
			);
		}

		const calibration = page.getByRole("region", { name: /^Calibration: / });
		expect(await calibration.count()).toBe(2);
		const { topCalibration = [] } = evaluation;
		const top = page.getByRole("region", { name: "the most likely code of each query" });
		expect(await top.locator("circle").count()).toBe(topCalibration.length);
		expect(topCalibration.length).toBeGreaterThan(0);

		const memory: Memory = await (await fetch(`${explorer().url}explorer/memory.json`)).json();
		const table = page.getByRole("region", { name: "Half-life by head and category" });
		const { layers, heads } = explorer().trained.config as { layers: number; heads: number };
		expect(await table.locator("thead abbr").count()).toBe(layers * heads);
		expect(await table.locator("tbody th").allTextContents()).toEqual(
			memory.categories.map((category) => category ?? "no category"),
		);
		for (const words of await table.locator("td").allTextContents())
			expect(words).toMatch(/^(never|\d.* (h|days?|months|years))$/);

		const card = page.getByRole("region", { name: "Model card" });
		const heading = card.getByRole("heading", { name: "The next record" });
		await heading.waitFor();
		expect(await card.textContent()).toContain(evaluation.rows[0]?.metrics.nats?.value.toFixed(3));
		expect(faults).toEqual([]);
		await page.close();
	});
});

/** The index of the point that is farthest from its nearest neighbour. */
function mostAlone(points: readonly MapPoint[]): number {
	const room = points.map((own) =>
		Math.min(
			...points
				.filter((other) => other !== own)
				.map(({ x, y }) => Math.hypot(x - own.x, y - own.y)),
		),
	);
	return room.indexOf(Math.max(...room));
}
