import { expect, test } from "vitest";
import { chromiumIsThere, openBrowser } from "../../predict/browser/testing/page.js";
import { tokenThrottle } from "./access.js";
import { document } from "./static-files.js";
import { running } from "./testing/running.js";

const limits = {
	...{ wrongTokenMs: 100, wrongTokenMostMs: 10_000 },
	...{ wrongTokenAddresses: 3, wrongTokensWaiting: 8 },
};

function counted() {
	let now = 0;
	const delays: number[] = [];
	const wrong = tokenThrottle(limits, {
		clock: () => now,
		pause: async (ms) => void delays.push(ms),
	});
	const { signal } = new AbortController();
	return {
		wrong,
		delayOf: async (address: string) => {
			await wrong.wait(address, signal);
			return delays.at(-1);
		},
		setTime: (ms: number) => {
			now = ms;
		},
	};
}

test("counts wrong tokens per address, and forgets them in time", async () => {
	const { delayOf, setTime, wrong } = counted();
	expect([await delayOf("a"), await delayOf("a"), await delayOf("a")]).toEqual([100, 200, 400]);
	expect(await delayOf("b")).toBe(100);
	setTime(10 * 60_000);
	expect(await delayOf("a")).toBe(800);
	setTime(20 * 60_000);
	expect(await delayOf("a")).toBe(1600);
	expect(wrong.addresses).toBe(1);
	setTime(36 * 60_000);
	expect(await delayOf("a")).toBe(100);
});

test("keeps a limited number of addresses, the latest ones", async () => {
	const { delayOf, wrong } = counted();
	for (const address of ["a", "b", "c", "a", "d", "e"]) await delayOf(address);
	expect(wrong.addresses).toBe(3);
	expect([await delayOf("a"), await delayOf("b")]).toEqual([400, 100]);
});

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
