import { expect, test } from "vitest";

const { torture } = await import(new URL("main.mjs", import.meta.url).href);

interface Report {
	readonly steps: number;
	readonly skipped?: string;
	readonly broke: readonly object[];
	readonly figures?: { readonly latencies: object };
}

/** The first steps of each campaign, at the smallest sizes; `npm run torture` goes on from there. */
const steps = { kills: 4, damage: 4, http: 3, "full-disk": 2, together: 2 };

test("a short campaign breaks nothing", async () => {
	const reports: Record<string, Report> = await torture({ seed: 1, small: true, steps });
	expect(Object.values(reports).flatMap(({ broke }) => broke)).toEqual([]);
	for (const [name, { steps: done, skipped }] of Object.entries(reports))
		expect({ name, done }).toEqual({ name, done: skipped ? 0 : steps[name as keyof typeof steps] });
	expect(reports.http?.figures?.latencies).toMatchObject({
		nothing: { p50Ms: expect.any(Number), p99Ms: expect.any(Number) },
		"fair load": { p50Ms: expect.any(Number), timesFair: 1 },
	});
});
