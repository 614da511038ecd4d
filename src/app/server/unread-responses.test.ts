import { writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { filesIn } from "./static-files.js";
import { gatekeeper, running } from "./testing/running.js";
import { smallServed, someEvents } from "./testing/small-served.js";
import { heard, opened, posted } from "./testing/sockets.js";

const patient = { events: someEvents(5) };
const MiB = 2 ** 20;

/** One code at 20 times with a name of 1 MiB each: more than the system takes for a client that reads nothing. */
const long = {
	served: () => smallServed({}, (code) => `${code} `.padEnd(MiB, "x")),
	request: { patient, at: Array(20).fill("+1y"), top: 1 },
	bytes: 20 * MiB,
	limits: { answerBytes: 32 * MiB },
};

test("a request waits for the response before it, and further ones are not answered", async () => {
	const { hold, release, wrap } = gatekeeper();
	hold();
	const { service } = await running({ wrap });
	const socket = await opened(service.port);
	const response = heard(socket);
	socket.write(posted("/forecast", { patient, at: ["+1y"] }).repeat(3));
	await expect.poll(() => service.scheduler.started).toBe(1);
	const before = service.scheduler.started + service.usage().waiting;
	release();
	const text = await response;
	expect(text.match(/HTTP\/1\.1 200 OK\r\n/g)).toHaveLength(2);
	expect(text.match(/HTTP\/1\.1 /g)).toHaveLength(2);
	expect(text.toLowerCase().match(/\r\nconnection: close\r\n/g)).toHaveLength(1);
	expect([before, service.scheduler.started]).toEqual([1, 2]);
});

test("cuts off a client that keeps sending before the response", async () => {
	const { hold, release, wrap } = gatekeeper();
	hold();
	const { service, get } = await running({ wrap });
	const sockets = await Promise.all(Array.from({ length: 20 }, () => opened(service.port)));
	const responses = sockets.map(heard);
	for (const socket of sockets)
		socket.write(posted("/forecast", { patient, at: ["+1y"] }).repeat(60));
	expect(await Promise.all(responses)).toEqual(Array(20).fill(""));
	await expect.poll(() => service.usage()).toMatchObject({ connections: 0, waiting: 0 });
	expect(service.scheduler.started).toBeLessThanOrEqual(1);
	release();
	expect((await get("/api/v2/model")).status).toBe(200);
});

test("closes a client that reads nothing, and frees its response", async () => {
	const { service } = await running({
		served: long.served(),
		limits: { ...long.limits, stallMs: 100, checkMs: 20 },
	});
	const socket = await opened(service.port);
	socket.on("error", () => {});
	socket.pause();
	socket.write(posted("/forecast", long.request));
	await expect.poll(() => service.usage().unsentBytes).toBeGreaterThan(MiB);
	await expect.poll(() => service.usage()).toMatchObject({ connections: 0, unsentBytes: 0 });
});

test("a slow client receives the whole response", async () => {
	const { service } = await running({
		served: long.served(),
		limits: { ...long.limits, stallMs: 2000, checkMs: 20 },
	});
	const socket = await opened(service.port);
	socket.pause();
	socket.write(posted("/forecast", long.request, "Connection: close"));
	await expect.poll(() => service.usage().unsentBytes).toBeGreaterThan(MiB);
	socket.resume();
	const text = await heard(socket);
	const [top = "", body = ""] = text.split("\r\n\r\n");
	expect(Number(/content-length: (\d+)/i.exec(top)?.[1])).toBe(body.length);
	expect(JSON.parse(body).answers).toHaveLength(20);
	expect(service.usage().unsentBytes).toBe(0);
});

test("refuses requests when too many bytes of responses are unread", async () => {
	const unsentBytes = 24 * MiB;
	const { service, post } = await running({
		served: long.served(),
		limits: { ...long.limits, unsentBytes, crowdedStallMs: 60_000 },
	});
	const unread = await opened(service.port);
	unread.pause();
	unread.write(posted("/forecast", long.request));
	await expect.poll(() => service.usage().unsentBytes).toBeGreaterThan(8 * MiB);
	const refused = await post("/forecast", long.request);
	expect(refused).toMatchObject({ status: 503 });
	expect(refused.body.error.message).toContain(
		"too many responses are unread; try again in a moment",
	);
	expect(service.usage().unsentBytes).toBeLessThanOrEqual(unsentBytes);
	expect((await post("/forecast", { ...long.request, at: ["+1y"] })).status).toBe(200);
	const gone = heard(unread);
	unread.destroy();
	await gone;
	await expect.poll(() => service.usage().unsentBytes).toBe(0);
	expect((await post("/forecast", long.request)).status).toBe(200);
});

test("drops the slowest reader to make room for others", async () => {
	const unsentBytes = 24 * MiB;
	const { service, post } = await running({
		served: long.served(),
		limits: { ...long.limits, unsentBytes, crowdedStallMs: 0 },
	});
	let most = 0;
	for (let i = 0; i < 5; i++) {
		const unread = await opened(service.port);
		unread.on("error", () => {});
		unread.pause();
		unread.write(posted("/forecast", long.request));
		await expect.poll(() => service.scheduler.started).toBe(i + 1);
		await expect.poll(() => service.usage().unsentBytes).toBeGreaterThan(8 * MiB);
		most = Math.max(most, service.usage().unsentBytes);
	}
	expect(most).toBeLessThanOrEqual(unsentBytes);
	const { status, body } = await post("/forecast", long.request);
	expect([status, body.answers.length]).toEqual([200, 20]);
	await expect.poll(() => service.usage().unsentBytes).toBe(0);
});

test("closes a client that does not read a file, without holding it in memory", async () => {
	const folder = await temporaryFolder();
	await writeFile(join(folder, "large.bin"), new Uint8Array(32 * MiB));
	const files = await filesIn(folder, "/model/");
	const { service } = await running({ files, limits: { silenceMs: 2_000, checkMs: 20 } });
	const sockets = await Promise.all(Array.from({ length: 5 }, () => opened(service.port)));
	for (const socket of sockets) {
		socket.on("error", () => {});
		socket.pause();
		socket.write("GET /model/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n");
	}
	await expect.poll(() => service.usage().unsentBytes).toBeGreaterThan(0);
	expect(service.usage().unsentBytes).toBeLessThan(MiB);
	await expect.poll(() => service.usage()).toMatchObject({ connections: 0, unsentBytes: 0 });
});

test("limits the size of a response", async () => {
	const { post } = await running({ limits: { answerBytes: 300 } });
	const { status, body } = await post("/forecast", { patient, at: ["+1y", "+2y"] });
	expect(status).toBe(422);
	expect(body.error.message).toBe(
		"the response is larger than 300 bytes; query fewer times or codes, or send fewer events",
	);
});

test("a client may send its next request as soon as it has read a file", async () => {
	const folder = await temporaryFolder();
	await writeFile(join(folder, "some.bin"), new Uint8Array(2 ** 17));
	const { service } = await running({ files: await filesIn(folder, "/model/") });
	const agent = new Agent({ keepAlive: true, maxSockets: 1 });
	const status = () =>
		new Promise<number | undefined>((resolve, reject) => {
			const options = { agent, port: service.port, path: "/model/some.bin" };
			get(options, (response) => {
				response.resume().on("end", () => resolve(response.statusCode));
			}).on("error", reject);
		});
	for (let i = 0; i < 100; i++) expect(await status()).toBe(200);
	agent.destroy();
});
