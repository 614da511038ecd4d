import { once } from "node:events";
import { expect, test } from "vitest";
import { gatekeeper, running } from "./testing/running.js";
import { someEvents } from "./testing/small-served.js";
import { heard, opened, posted, refusing } from "./testing/sockets.js";

const good = { patient: { events: someEvents(5) }, at: ["+1y"] };
const get = "GET /api/v2/model HTTP/1.1\r\nHost: localhost\r\n\r\n";

test("answers running requests as the last on their connections, then disposes of the model", async () => {
	const { hold, release, wrap } = gatekeeper();
	hold();
	let disposed = false;
	const { service } = await running({
		wrap: (engine) => ({
			...wrap(engine),
			dispose: async () => {
				disposed = true;
				await engine.dispose();
			},
		}),
	});
	const socket = await opened(service.port);
	const response = heard(socket);
	socket.write(posted("/forecast", good));
	await expect.poll(() => service.scheduler.started).toBe(1);
	const closed = service.close();
	await refusing(service.port);
	expect(disposed).toBe(false);
	release();
	const text = await response;
	expect(text).toMatch(/^HTTP\/1\.1 200 /);
	expect(text.toLowerCase()).toContain("\r\nconnection: close\r\n");
	await closed;
	expect(disposed).toBe(true);
});

test("answers a client that sends another request during shutdown", async () => {
	const { service } = await running({ limits: { closeIdleMs: 9000 } });
	const sockets = await Promise.all(Array.from({ length: 8 }, () => opened(service.port)));
	const errors: unknown[] = [];
	for (const socket of sockets) {
		socket.on("error", (error) => errors.push(error));
		socket.write(get);
	}
	await Promise.all(sockets.map((socket) => once(socket, "data")));
	const closed = service.close();
	await refusing(service.port);
	const responses = sockets.map(heard);
	for (const socket of sockets) socket.write(get);
	for (const text of await Promise.all(responses)) {
		expect(text).toMatch(/^HTTP\/1\.1 200 /);
		expect(text.toLowerCase()).toContain("\r\nconnection: close\r\n");
	}
	await closed;
	expect(errors).toEqual([]);
});

test("answers a request that is arriving when idle connections are closed", async () => {
	const { service } = await running({ limits: { closeIdleMs: 0 } });
	const [idle, halfSent] = await Promise.all([opened(service.port), opened(service.port)]);
	const response = heard(halfSent);
	halfSent.write(get.slice(0, 20));
	// Answered after the bytes above were read, as they were sent first.
	const other = await opened(service.port);
	other.write(get);
	await once(other, "data");
	const closed = service.close();
	expect(await heard(idle)).toBe("");
	halfSent.write(get.slice(20));
	expect(await response).toMatch(/^HTTP\/1\.1 200 /);
	await closed;
});

test("answers clients whose connections are still pending at shutdown", async () => {
	const { service } = await running({ limits: { closeIdleMs: 60_000 } });
	const sockets = await Promise.all(Array.from({ length: 100 }, () => opened(service.port)));
	const responses = sockets.map(heard);
	for (const socket of sockets) socket.write(get);
	await service.close();
	for (const text of await Promise.all(responses)) expect(text).toMatch(/^HTTP\/1\.1 200 /);
});
