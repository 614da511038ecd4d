import { expect, test } from "vitest";
import { captured } from "./testing/captured.js";

test("bench serve drives the service over loopback, and the model without it", async () => {
	const sizes = ["--requests", "8", "--clients", "2", "--events", "10", "--session-events", "20"];
	const argv = ["bench", "serve", "--preset", "tiny", "--threads", "1", ...sizes];
	const { code, stdout } = await captured([...argv, "--json"]);
	expect(code).toBe(0);
	const report = JSON.parse(stdout);
	expect(report).toMatchObject({ preset: "tiny", clients: 2, events: 10, requests: 8 });
	const { requestsPerSecond, bare, p50Ms, p99Ms, session, together } = report;
	expect(bare.ratio).toBeCloseTo(requestsPerSecond / bare.perSecond, 9);
	expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
	expect(together).toBeGreaterThanOrEqual(1);
	expect(session.map(({ events }: { events: number }) => events)).toEqual([50, 20]);
	expect((await captured(argv)).stdout).toMatch(
		/^tiny, 1 thread, 2 clients, histories of 10 events sent whole\n\S+ forecasts\/s over 8 requests, p50 /,
	);
	const bad = await captured(["bench", "serve", "--preset", "huge"]);
	expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('no preset "huge"') });
});
