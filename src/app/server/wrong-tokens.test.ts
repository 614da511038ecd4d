import { expect, test } from "vitest";
import { running } from "./testing/running.js";
import { someEvents } from "./testing/small-served.js";
import { heard, opened } from "./testing/sockets.js";

const token = "correct-horse-battery";
const known = { Authorization: `Bearer ${token}` };
const guess = { Authorization: "Bearer guess" };
const good = { patient: { events: someEvents(5) }, at: ["+1y"] };
const form = (given: string) => ({
	...({ method: "POST", redirect: "manual" } as const),
	body: new URLSearchParams({ token: given }),
});

test("slow sign-in forms do not block requests with the token", async () => {
	const { post, service } = await running({ token, limits: { bodiesBytes: 8000 } });
	const signIn = (length: number) =>
		`POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${length}\r\n\r\n`;
	const slow = await Promise.all(Array.from({ length: 64 }, () => opened(service.port)));
	for (const socket of slow) {
		socket.on("error", () => {});
		socket.write(signIn(4000) + "x".repeat(3900));
	}
	await expect.poll(() => service.usage()).toMatchObject({ connections: 64, bodyBytes: 0 });
	const responses = await Promise.all(
		Array.from({ length: 10 }, () => post("/forecast", good, known)),
	);
	expect(responses.map(({ status }) => status)).toEqual(Array(10).fill(200));
	const large = await opened(service.port);
	const response = heard(large);
	large.write(signIn(2 ** 20));
	expect(await response).toContain("the request is larger than 4,096 bytes; send the token alone");
	for (const socket of slow) socket.destroy();
	await expect.poll(() => service.usage().connections).toBeLessThanOrEqual(10);
});

test("delays wrong tokens longer each time, and correct ones never", async () => {
	const delays: number[] = [];
	const { get, url } = await running({ token, pause: async (ms) => void delays.push(ms) });
	const statuses: number[] = [];
	for (let i = 0; i < 4; i++) {
		statuses.push((await get("/api/v2/model", guess)).status);
		statuses.push((await fetch(`${url}/sign-in`, form("guess"))).status);
	}
	expect(statuses).toEqual(Array(8).fill(401));
	expect(delays).toEqual([100, 200, 400, 800, 1600, 3200, 6400, 10_000]);
	expect((await get("/api/v2/model", known)).status).toBe(200);
	const signedIn = await fetch(`${url}/sign-in`, form(token));
	expect(signedIn.status).toBe(303);
	const Cookie = signedIn.headers.get("Set-Cookie")?.split(";")[0] as string;
	expect((await get("/api/v2/model", { Cookie })).status).toBe(200);
	// A cookie from before a restart comes with every request of a page, and is no guess.
	expect((await get("/api/v2/model", { Cookie: "trajgpt=old" })).status).toBe(401);
	expect((await get("/api/v2/model")).status).toBe(401);
	expect(delays).toHaveLength(8);
});

test("limits the delayed responses: further ones are sent at once, and correct tokens still work", async () => {
	let waiting = 0;
	const { get, url } = await running({
		...{ token, limits: { wrongTokensWaiting: 2 } },
		pause: (_, signal) => {
			waiting++;
			return new Promise((_, reject) => {
				signal.addEventListener("abort", () => {
					waiting--;
					reject(signal.reason);
				});
			});
		},
	});
	const leaving = new AbortController();
	const held = [1, 2].map(() =>
		fetch(`${url}/api/v2/model`, { headers: guess, signal: leaving.signal }).catch(() => "left"),
	);
	await expect.poll(() => waiting).toBe(2);
	const surplus = await get("/api/v2/model", guess);
	expect([surplus.status, surplus.headers.get("Retry-After")]).toEqual([429, "1"]);
	expect(surplus.headers.get("Connection")).toBe("close");
	expect((await get("/api/v2/model", known)).status).toBe(200);
	leaving.abort();
	expect(await Promise.all(held)).toEqual(["left", "left"]);
	await expect.poll(() => waiting).toBe(0);
});

test("answers delayed wrong tokens at shutdown", async () => {
	let waiting = 0;
	const { get, service } = await running({
		token,
		pause: (_, signal) => {
			waiting++;
			return new Promise((_, reject) =>
				signal.addEventListener("abort", () => reject(signal.reason)),
			);
		},
	});
	const response = get("/api/v2/model", guess);
	await expect.poll(() => waiting).toBe(1);
	await Promise.all([service.close(), response]);
	expect((await response).status).toBe(401);
});
