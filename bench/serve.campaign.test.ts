import { expect, test } from "vitest";
import { load, measured } from "./testing/load.js";

const { render } = await load("serve");

test("bench serve times the service over loopback, and the model without it", async () => {
	const sizes = "--requests 8 --clients 2 --events 10 --session-events 20 --under-load 2";
	const argv = `serve --preset tiny --threads 1 ${sizes} --json`;
	const { code, stdout } = await measured(argv.split(" "));
	expect(code).toBe(0);
	const report = JSON.parse(stdout);
	expect(report).toMatchObject({ preset: "tiny", clients: 2, events: 10, requests: 8 });
	const { requestsPerSecond, bare, p50Ms, p99Ms, session, underLoad } = report;
	expect(bare.ratio).toBeCloseTo(requestsPerSecond / bare.perSecond, 9);
	expect(p99Ms).toBeGreaterThanOrEqual(p50Ms);
	const loads = ["none", "forecast", "other sizes", "embed", "session", "attribution"];
	expect(underLoad.map(({ load }: { load: string }) => load)).toEqual(loads);
	for (const own of underLoad) {
		expect(own).toMatchObject({ requests: 2, refused: 0 });
		expect(own.p99Ratio).toBeCloseTo(own.p99Ms / underLoad[1].p99Ms, 9);
	}
	expect(session.map(({ events }: { events: number }) => events)).toEqual([50, 20]);
	const text = render(report);
	expect(text).toMatch(
		/^tiny, 1 thread, 2 clients, histories of 10 events sent whole\n\S+ forecasts\/s over 8 requests, p50 /,
	);
	for (const load of loads)
		expect(text).toMatch(
			new RegExp(`^  ${load} +p50 \\S+ ms, p99 \\S+ ms, \\S+ of the p99 beside forecasts$`, "m"),
		);
	const bad = await measured(["serve", "--preset", "huge"]);
	expect(bad).toMatchObject({ code: 2, stderr: expect.stringContaining('no preset "huge"') });
});
