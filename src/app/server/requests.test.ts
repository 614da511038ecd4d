import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { jsonBounds } from "./bodies.js";
import { gatekeeper, running } from "./testing/running.js";
import { someEvents } from "./testing/small-served.js";
import { head, heard, opened } from "./testing/sockets.js";

const good = { patient: { events: someEvents(5) }, at: ["+1y"] };

test("does not log a client that hangs up as a failure", async () => {
	const { hold, release, wrap } = gatekeeper();
	const { service, logged } = await running({ wrap });
	const sending = await opened(service.port);
	sending.write(`${head("/forecast", "Content-Length: 1000")}{"patient"`);
	await expect.poll(() => service.usage().bodyBytes).toBe(10);
	sending.resetAndDestroy();
	await expect.poll(() => service.usage()).toMatchObject({ connections: 0, bodyBytes: 0 });
	hold();
	const waiting = await opened(service.port);
	const text = JSON.stringify(good);
	waiting.write(head("/forecast", `Content-Length: ${text.length}`) + text);
	await expect.poll(() => service.scheduler.started).toBe(1);
	waiting.resetAndDestroy();
	await expect.poll(() => service.usage()).toMatchObject({ connections: 0 });
	release();
	await service.close();
	const lines = logged.map((line) => JSON.parse(line));
	expect(lines.map(({ msg, status, level }) => [msg, status, level])).toEqual([
		["listening", undefined, 30],
		["request", 499, 30],
		["request", 499, 30],
		["closed", undefined, 30],
	]);
});

test("refuses two Host headers", async () => {
	const { service } = await running();
	const socket = await opened(service.port);
	const response = heard(socket);
	socket.write("GET /api/v2/model HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n");
	const text = await response;
	expect(text).toMatch(/^HTTP\/1\.1 400 /);
	expect(text).toContain("the request has two Host headers; send one");
});

test("refuses a request with too many values without parsing it", async () => {
	const { post, service } = await running();
	const parse = vi.spyOn(JSON, "parse");
	const body = `{"patient":{"events":[${"{},".repeat(300_000)}{}]}}`;
	const response = await fetch(`http://127.0.0.1:${service.port}/api/v2/forecast`, {
		...{ method: "POST", body, headers: { "Content-Type": "application/json" } },
	});
	expect(parse.mock.calls.filter(([text]) => text.length > 1000)).toEqual([]);
	parse.mockRestore();
	expect(response.status).toBe(400);
	expect(await response.text()).toContain(
		"the request holds more than 16,384 values; expected what /api describes",
	);
	expect(service.usage().bodyBytes).toBe(0);
	const events = Array.from({ length: 5000 }, (_, day) => ({
		...{ code: "401", system: "PheCode", date: day },
	}));
	const session = await post("/sessions", { patient: { events } });
	expect(session).toMatchObject({ status: 201, body: { events: 5000 } });
});

test("counts nesting and values outside strings, however the bytes are split", () => {
	const depthOf = (value: unknown): number =>
		typeof value === "object" && value !== null
			? 1 + Math.max(0, ...Object.values(value).map(depthOf))
			: 0;
	const commasIn = (value: unknown): number =>
		typeof value === "object" && value !== null
			? Object.values(value).reduce(
					(sum: number, own) => sum + commasIn(own),
					Math.max(0, Object.keys(value).length - 1),
				)
			: 0;
	fc.assert(
		fc.property(
			fc.jsonValue({ noUnicodeString: false }),
			fc.integer({ min: 1, max: 9 }),
			(value, size) => {
				const bytes = Buffer.from(JSON.stringify(value));
				const isTaken = (depth: number, values: number) => {
					const check = jsonBounds({ depth, values });
					for (let at = 0; at < bytes.length; at += size)
						if (check(bytes.subarray(at, at + size))) return false;
					return true;
				};
				const [depth, values] = [depthOf(value), commasIn(value) + 1];
				expect(isTaken(depth, values)).toBe(true);
				if (depth > 0) expect(isTaken(depth - 1, values)).toBe(false);
				if (values > 1) expect(isTaken(depth, values - 1)).toBe(false);
			},
		),
		{ numRuns: 25 },
	);
});

test("counts the bytes of a body until the response", async () => {
	const { hold, release, wrap } = gatekeeper();
	hold();
	const { post, service } = await running({ wrap });
	const response = post("/forecast", good);
	await expect.poll(() => service.scheduler.started).toBe(1);
	expect(service.usage().bodyBytes).toBe(JSON.stringify(good).length);
	release();
	expect((await response).status).toBe(200);
	expect(service.usage().bodyBytes).toBe(0);
});

test("a finished request leaves no timer behind", async () => {
	const answerMs = 27_182;
	const { post } = await running({ limits: { answerMs } });
	const begin = vi.spyOn(globalThis, "setTimeout");
	const end = vi.spyOn(globalThis, "clearTimeout");
	const native = vi.spyOn(AbortSignal, "timeout");
	const { body } = await post("/sessions", { patient: good.patient });
	await post(`/sessions/${body.id}/forecast`, { at: ["+1y"] });
	await post(`/sessions/${body.id}/forecast`, { at: ["soon"] });
	const begun = begin.mock.results.filter((_, i) => begin.mock.calls[i]?.[1] === answerMs);
	const ended = new Set(end.mock.calls.map(([timer]) => timer));
	expect(begun).toHaveLength(3);
	expect(begun.filter(({ value }) => !ended.has(value))).toEqual([]);
	expect(native).not.toHaveBeenCalled();
	vi.restoreAllMocks();
});
