import { expect, test } from "vitest";
import type { Dataset, History } from "../../cohort/index.js";
import { historyWith } from "../../models/hazards/testing/histories.js";
import type { Runtime } from "../../runtime/index.js";
import { evaluateDefaults } from "../options.js";
import { futuresTask } from "./task.js";

const runtime = {} as Runtime;
const options = { ...evaluateDefaults, draws: 20 };

/** Test patients with so many codes; one of them may stand for death. */
const datasetOf = (
	histories: readonly History[],
	codes: number,
	from: string,
	death?: number,
): Dataset =>
	({
		folder: "data",
		manifest: {
			observation: { from },
			filters: { dedup: "day" },
			source: { axis: "days" },
		},
		vocabulary: { size: 5 + codes, find: () => death },
		patients: () => Int32Array.from(histories.keys()),
		read: async (patient: number) => histories[patient] as History,
	}) as unknown as Dataset;

const every = (days: number, events: number, token: (n: number) => number, start = 1000) =>
	historyWith(Array.from({ length: events }, (_, n) => [start + days * n, token(n)] as const));

test("density finds sequences that go on as before, and the next time", async () => {
	const regular = every(10, 60, () => 5);
	const measure = await futuresTask(datasetOf([regular, regular], 2, "records"), options);
	const { rows, events, notes } = await measure(runtime);
	expect(notes[0]).toContain("unit 12.24 days (1.224 mean gaps)");
	// Points at events 4, 8 … 24 of 60, of two patients.
	expect(events).toBe(12);
	const [density, even] = rows;
	expect(density).toMatchObject({ who: "history", label: "history density" });
	expect(even).toMatchObject({ who: "history", label: "history density, even" });
	const { tmap, distance, "error of the next time, days": error } = density!.metrics;
	expect(error!.value).toBeCloseTo(0, 9);
	// One of two codes is recorded. Five predictions meet five of its twelve records, several per interval meet all.
	expect(even!.metrics.tmap!.value).toBeCloseTo(100 * (1 / 2) * (5 / 12), 6);
	expect(tmap!.value).toBeGreaterThan(45);
	expect(tmap!.value).toBeLessThan(50);
	// Ten records half a gap late, at most: a gap is 1 / 1.224 units.
	expect(distance!.value).toBeGreaterThan(0);
	expect(distance!.value).toBeLessThan(5);
});

test("what happened is counted until the end of observation, without the token of death", async () => {
	const seen = historyWith(
		[
			[2000, 5],
			[2500, 5],
			[2500, 6],
			[2600, 6],
			[3100, 7],
		],
		{ observed: [{ start: 1000, end: 4000 }] },
	);
	const died = historyWith(
		[
			[2450, 7],
			[2500, 8],
		],
		{ observed: [{ start: 1000, end: 2500 }], death: 2500 },
	);
	const measure = await futuresTask(datasetOf([seen, died], 4, "coverage", 8), {
		...options,
		index: "age:6.5722",
	});
	const { rows, patients } = await measure(runtime);
	expect(patients).toBe(2);
	const { metrics, label, who } = rows[0]!;
	expect([who, label]).toEqual(["observed", "observed"]);
	const years = (365 + 100) / 365.25;
	expect(metrics.visitsPerYear!.value).toBeCloseTo(3 / years, 6);
	expect(metrics.codesPerVisit!.value).toBeCloseTo(4 / 3, 6);
	expect(metrics.onsetsPerYear!.value).toBeCloseTo(2 / years, 6);
	expect(metrics.deathsPer1000Years!.value).toBeCloseTo(1000 / years, 6);
});

test("short sequences are refused", async () => {
	const short = every(10, 20, () => 5);
	await expect(futuresTask(datasetOf([short], 1, "records"), options)).rejects.toThrow(
		"no sequence of split test has more than 36 events",
	);
});
