import { expect, test } from "vitest";
import { random } from "../../base/random.js";
import type { Dataset, History } from "../../data/cohort/index.js";
import type { Runtime } from "../../engine/runtime/index.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { hazardSettings } from "../../model/hazards/settings.js";
import { historyWith } from "../../model/hazards/testing/histories.js";
import { modelById } from "../../model/index.js";
import { smallSettings } from "../../model/testing/small-settings.js";
import type { Trained } from "../../model/train/index.js";
import { evaluateDefaults } from "../evaluation.js";
import { futuresTask } from "./task.js";

const runtime = {} as Runtime;
const options = { ...evaluateDefaults, draws: 20 };

/** Test patients with so many codes; one of them may stand for death. */
const datasetOf = (histories: readonly History[], codes: number, from: string, death?: number) =>
	({
		folder: "data",
		manifest: {
			observation: { from },
			filters: { dedup: "day" },
			source: { axis: "days" },
		},
		vocabulary: { size: 5 + codes, find: () => death },
		patients: () => Int32Array.from(histories.keys()),
		read: async (patient: number) => histories[patient],
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
	const { tmap, distance, "error of the next time, days": error } = density.metrics;
	expect(error.value).toBeCloseTo(0, 9);
	// One of two codes is recorded. Five predictions meet five of its twelve records, several per interval meet all.
	expect(even.metrics.tmap.value).toBeCloseTo(100 * (1 / 2) * (5 / 12), 6);
	expect(tmap.value).toBeGreaterThan(45);
	expect(tmap.value).toBeLessThan(50);
	// Ten records half a gap late, at most: a gap is 1 / 1.224 units.
	expect(distance.value).toBeGreaterThan(0);
	expect(distance.value).toBeLessThan(5);
});

test("a model has a row with the chosen placing, and one with even predictions", async () => {
	const engine = nodeRuntime({ threads: 1 });
	const model = modelById("trajgpt");
	const config = model.config.parse({
		...{ ...smallSettings.trajgpt, vocab: 7 },
		hazards: hazardSettings.parse({ binDays: [60, 200], daysPerLandmark: 600 }),
	});
	const weights = model.init(config, random(1));
	// All codes at one rate: as densities would be of histories in which they alternate.
	for (const kind of ["prior", "next"])
		weights.get(`hazards.${kind}.bias`)!.data.fill(Math.log(0.05));
	const alternating = every(10, 60, (n) => 5 + (n % 2));
	const measure = await futuresTask(datasetOf([alternating, alternating], 2, "records"), options);
	const { rows, differences, notes } = await measure(engine, {
		...{ model, config, weights },
	} as unknown as Trained);
	await engine.dispose?.();
	expect(rows.map(({ who, label }) => [who, label])).toEqual([
		["model", "TrajGPT"],
		["model", "TrajGPT, even"],
		["history", "history density"],
		["history", "history density, even"],
	]);
	const tmap = (at: number) => rows[at].metrics.tmap.value;
	expect(tmap(0)).toBeGreaterThan(tmap(1));
	// Six records of a code within 122 days, and five predictions.
	expect(tmap(1)).toBeCloseTo(100 * (5 / 6), 6);
	expect(rows[1].metrics.distance).toEqual(rows[0].metrics.distance);
	expect(differences!.map(({ row, than }) => [row, than])).toEqual([
		["TrajGPT", "history density"],
		["TrajGPT", "history density, even"],
	]);
	expect(notes[2]).toContain("even: one prediction in each of 5 intervals instead");
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
	const { metrics, label, who } = rows[0];
	expect([who, label]).toEqual(["observed", "observed"]);
	const years = (365 + 100) / 365.25;
	expect(metrics.visitsPerYear.value).toBeCloseTo(3 / years, 6);
	expect(metrics.codesPerVisit.value).toBeCloseTo(4 / 3, 6);
	expect(metrics.onsetsPerYear.value).toBeCloseTo(2 / years, 6);
	expect(metrics.deathsPer1000Years.value).toBeCloseTo(1000 / years, 6);
});

test("short sequences are refused", async () => {
	const short = every(10, 20, () => 5);
	await expect(futuresTask(datasetOf([short], 1, "records"), options)).rejects.toThrow(
		"no sequence of split test has more than 36 events",
	);
});
