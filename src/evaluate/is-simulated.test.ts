import { mkdtempSync, rmSync } from "node:fs";
import { rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDataset, prepare, prepareDefaults } from "../data/cohort/index.js";
import { openCsv } from "../data/records/index.js";
import { writeSimulation } from "../data/simulate/index.js";
import { isSimulated } from "./simulation-truth.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-simulated-"));
const sim = join(root, "sim");
afterAll(() => rmSync(root, { recursive: true }));
beforeAll(() => writeSimulation(sim, { patients: 24, seed: 11 }));

const prepareTo = async (name: string, more: Partial<typeof prepareDefaults> = {}) => {
	const folder = join(root, name);
	await prepare(await openCsv([sim]), folder, { ...prepareDefaults, threads: 1, ...more });
	return openDataset(folder);
};

test("recognises a simulated population, however it was prepared", async () => {
	for (const [name, options] of Object.entries({
		usual: {},
		drugs: { drugs: "tokens", deathToken: true },
		months: { dedup: "month" },
		codes: { codes: "as-is" },
	} as const))
		expect(await isSimulated(await prepareTo(name, options)), name).toBe(true);
});

test("treats people of another population, or of none, as real", async () => {
	const dataset = await prepareTo("data");
	const elsewhere = {
		...dataset,
		manifest: { ...dataset.manifest, source: { ...dataset.manifest.source, path: "gone" } },
	};
	expect(await isSimulated({ ...elsewhere, folder: join(root, "far", "data") })).toBe(false);
	const stranger = dataset.patients("train")[3];
	const mixed = {
		...dataset,
		idOf: (patient: number) => (patient === stranger ? "p999999" : dataset.idOf(patient)),
	};
	expect(await isSimulated(mixed)).toBe(false);
	await rename(sim, join(root, "before"));
	await writeSimulation(sim, { patients: 24, seed: 12 });
	expect(await isSimulated(dataset)).toBe(false);
	rmSync(sim, { recursive: true });
	expect(await isSimulated(dataset)).toBe(false);
});
