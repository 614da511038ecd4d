import { execFile } from "node:child_process";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import axe from "axe-core";
import { parseHTML } from "linkedom";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chromiumIsThere, openBrowser } from "../../predict/browser/testing/page.js";
import { routes } from "./api/routes.js";
import { document } from "./static-files.js";
import { jsonIn, running } from "./testing/running.js";
import { smallServed } from "./testing/small-served.js";

const token = "correct-horse-battery";

const pageOf = async (service: Awaited<ReturnType<typeof running>>, token?: string) => {
	const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
	const response = await service.get("/api", headers as Record<string, string>);
	expect(response.status).toBe(200);
	expect(response.headers.get("Cache-Control")).toBe("no-store");
	return parseHTML(await response.text()).document;
};

const isThere = (program: string) =>
	promisify(execFile)(program, ["--version"]).then(
		() => true,
		() => false,
	);
const hasCurl = await isThere("curl");

/** The answers of the commands on the page, by operation. */
async function answersOf(commands: readonly [string, string][], cwd: string) {
	const answers = new Map<string, unknown>();
	for (const [id, command] of commands) {
		const { stdout } = await promisify(execFile)("sh", ["-c", command], { cwd });
		answers.set(id, stdout === "" ? undefined : JSON.parse(stdout));
	}
	return answers;
}

const commandsIn = (page: Awaited<ReturnType<typeof pageOf>>): [string, string][] =>
	[...page.querySelectorAll("section:not(.schema)")].flatMap((section) => {
		const text = section.querySelector(".curl")?.textContent;
		const id = section.querySelector("h2")?.id as string;
		return text ? [[id, text]] : [];
	});

test.skipIf(!hasCurl)(
	"every command on the page works as printed, with the token in a file",
	async () => {
		const service = await running({ token, served: { ...smallServed(), simulated: true } });
		const folder = await mkdtemp(join(tmpdir(), "token-"));
		await writeFile(join(folder, "token.txt"), `${token}\n`);
		const commands = commandsIn(await pageOf(service, token));
		expect(commands.map(([id]) => id).sort()).toEqual(
			Object.keys(routes)
				.filter((id) => id !== "score")
				.sort(),
		);
		const answers = await answersOf(commands, folder);
		for (const [id, answer] of answers) {
			const route = routes[id as keyof typeof routes];
			if (!("response" in route)) expect(answer).toBeUndefined();
			else {
				expect([id, route.response.parse(answer)]).toEqual([id, answer]);
				expect([id, answer]).toMatchObject([id, { simulated: true }]);
			}
		}
	},
);

test("the page shows every operation and schema of the OpenAPI document, and links to no other name", async () => {
	const service = await running();
	const page = await pageOf(service);
	const { components, paths } = await jsonIn(await service.get("/api/v2/openapi.json"));
	const headings = [...page.querySelectorAll("h2 code")].map(({ textContent }) => textContent);
	expect(new Set(headings)).toEqual(new Set(Object.keys(paths)));
	for (const name of Object.keys(components.schemas))
		expect([name, page.getElementById(name)?.textContent]).toEqual([name, name]);
	for (const link of page.querySelectorAll("a[href^='#']")) {
		const id = (link.getAttribute("href") as string).slice(1);
		expect([id, page.getElementById(id) !== null]).toEqual([id, true]);
	}
	expect(page.querySelector("#score")?.closest("section")?.textContent).toContain(
		"was not fine-tuned",
	);
});

test("a model without hazards, with other codes and days gets examples that it can answer", async () => {
	const own = smallServed({}, undefined, null);
	const tokens = own.vocabulary.tokens.map((token) => ({ ...token, code: `X${token.code}` }));
	const { vocabularyOf } = await import("../../data/cohort/vocabulary.js");
	const vocabulary = vocabularyOf(tokens.slice(5));
	const manifest = { ...own.manifest, source: { ...own.manifest.source, axis: "days" as const } };
	const service = await running({ served: { ...own, vocabulary, manifest } });
	const page = await pageOf(service);
	expect(page.querySelector("#risk")?.closest("section")?.textContent).toContain("no hazards");
	const text = page.querySelector("#forecast")?.closest("section")?.querySelector("textarea");
	const { status, body } = await service.post(
		"/forecast",
		JSON.parse(text?.textContent?.replaceAll("&quot;", '"') as string),
	);
	expect([status, body.events, body.unknown]).toEqual([200, 2, []]);
});

test("without the explorer, / leads to the page", async () => {
	const { get } = await running();
	const response = await get("/");
	expect([response.status, response.headers.get("Location")]).toEqual([303, "/api"]);
});

describe.skipIf(!chromiumIsThere)("in Chromium", () => {
	let browser: Browser;
	beforeAll(async () => {
		browser = await openBrowser();
	});
	afterAll(() => browser.close());

	test("examples run in the page, after signing in", async () => {
		const { url } = await running({ token });
		const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
		const problems: string[] = [];
		await page.goto(`${url}/api`);
		await page.fill("input", token);
		await Promise.all([page.waitForNavigation(), page.click("button")]);
		expect(page.url()).toBe(`${url}/api`);
		page.on("console", (line) => line.type() === "error" && problems.push(line.text()));
		page.on("request", (sent) => sent.url().startsWith(url) || problems.push(sent.url()));
		const run = async (name: string) => {
			await page.getByRole("button", { name: `Run ${name}`, exact: true }).click();
			const example = page.locator(".example", {
				has: page.getByRole("button", { name: `Run ${name}`, exact: true }),
			});
			await expect.poll(() => example.locator("[role=status]").textContent()).not.toBe("…");
			return {
				status: await example.locator("[role=status]").textContent(),
				answer: await example.locator(".answer").textContent(),
				example,
			};
		};
		expect((await run("POST /sessions/{id}/events")).status).toContain("Run POST /sessions first");
		for (const name of [
			...["GET /health", "GET /model", "GET /codes", "POST /forecast", "POST /risk"],
			...["POST /forecast/batch", "POST /risk/batch", "POST /embed", "POST /sessions"],
			...["POST /sessions/{id}/events", "POST /sessions/{id}/forecast", "DELETE /sessions/{id}"],
		])
			expect([name, (await run(name)).status]).toEqual([name, expect.stringMatching(/^20[014] /)]);
		const { example } = await run("POST /forecast");
		await example.locator("textarea").fill(`{"patient": {"events": []}, "it's": 1}`);
		const { status, answer } = await run("POST /forecast");
		expect(status).toMatch(/^400 /);
		expect(answer).toContain("Unrecognized key");
		expect(await example.locator(".curl").textContent()).toContain(`"it'\\''s": 1}'`);
		expect(problems.filter((text) => !text.includes("status of 400"))).toEqual([]);
		expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
		await page.evaluate(axe.source);
		const found = (await page.evaluate("axe.run()")) as {
			violations: { id: string; impact: string }[];
		};
		const serious = found.violations.filter(({ impact }) => /serious|critical/.test(impact));
		expect(serious).toEqual([]);
		await page.close();
	});

	test("signing in keeps the fragment of the link", async () => {
		const { url } = await running({ token, files: new Map([["/index.html", document("{}")]]) });
		const page = await browser.newPage();
		const signIn = async (given: string) => {
			await page.fill("input", given);
			await Promise.all([page.waitForNavigation(), page.click("button")]);
		};
		await page.goto(`${url}/#model/memory`);
		expect(page.url()).toBe(`${url}/sign-in#model/memory`);
		await signIn("guess");
		expect(await page.textContent("p")).toContain("That is not the token.");
		const sent = page.waitForRequest((request) => request.method() === "POST");
		await signIn(token);
		expect(page.url()).toBe(`${url}/#model/memory`);
		// The Origin shows http or https, and so whether the cookie is Secure.
		expect(await (await sent).headerValue("origin")).toBe(url);
		await page.close();
	});
});
