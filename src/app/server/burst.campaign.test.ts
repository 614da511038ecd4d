import { connect } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { running } from "./testing/running.js";
import { someEvents } from "./testing/small-served.js";
import { head, heard } from "./testing/sockets.js";

const good = { patient: { events: someEvents(5) }, at: ["+1y"] };

type Memory = NodeJS.MemoryUsage;

function collectGarbage(): void {
	setFlagsFromString("--expose-gc");
	runInNewContext("gc")();
}

test("serves or refuses each of a thousand connections at once, repeatedly, with stable memory", async () => {
	const { post, service } = await running({ limits: { connections: 700, waiting: 100 } });
	const text = JSON.stringify(good);
	const request = `${head("/forecast", `Content-Length: ${text.length}`, "Connection: close")}${text}`;
	const kinds = [
		request,
		request,
		`${head("/forecast", "Content-Length: 4", "Connection: close")}{"a"`,
		"NONSENSE\r\n\r\n",
		"GET /api/v2/model HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
	];
	const burst = () =>
		Promise.all(
			Array.from({ length: 1000 }, (_, i) => {
				const socket = connect(service.port, "127.0.0.1");
				const response = heard(socket);
				socket.write(kinds[i % kinds.length] as string);
				return response;
			}),
		);
	const memory: Memory[] = [];
	for (let round = 0; round < 5; round++) {
		const responses = await burst();
		const statuses = new Map<string, number>();
		for (const response of responses) {
			const status = response.slice(0, 12) || "closed";
			statuses.set(status, (statuses.get(status) ?? 0) + 1);
		}
		for (const status of statuses.keys())
			expect(["HTTP/1.1 200", "HTTP/1.1 400", "HTTP/1.1 503", "closed"]).toContain(status);
		expect(statuses.get("HTTP/1.1 200")).toBeGreaterThan(100);
		expect((await post("/forecast", good)).status).toBe(200);
		await expect.poll(() => service.usage().waiting).toBe(0);
		collectGarbage();
		memory.push(process.memoryUsage());
	}
	// After two bursts to warm up: what connections or forecasts keep shows in `external` if it is
	// buffers, and in `rss` if it is the engine's, of which V8 knows nothing.
	const [, before, , , last] = memory as [Memory, Memory, Memory, Memory, Memory];
	const grownMiB = (kind: keyof Memory) => (last[kind] - before[kind]) / 2 ** 20;
	expect(grownMiB("heapUsed")).toBeLessThan(12);
	expect(grownMiB("external")).toBeLessThan(6);
	expect(grownMiB("rss")).toBeLessThan(64);
	expect(service.usage()).toMatchObject({ waiting: 0, sessions: 0, bodyBytes: 0 });
});
