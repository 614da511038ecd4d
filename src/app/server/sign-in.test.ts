import { expect, test } from "vitest";
import { chromiumIsThere, openBrowser } from "../../predict/browser/testing/page.js";
import { document } from "./static-files.js";
import { running } from "./testing/running.js";

test.skipIf(!chromiumIsThere)("signing in keeps the fragment of the link", async () => {
	const token = "correct-horse-battery";
	const { url } = await running({ token, files: new Map([["/index.html", document("{}")]]) });
	const browser = await openBrowser();
	try {
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
	} finally {
		await browser.close();
	}
});
