import { expect, test } from "vitest";
import type { Dataset } from "../../data/cohort/index.js";
import type { Trained } from "../../model/train/index.js";
import { evaluate } from "./evaluate.js";

const cut = {
	folder: "runs/cut",
	run: { before: 14_975, dataset: { contentHash: "a" } },
} as unknown as Trained;
const empty = {
	...{ folder: "data", patients: () => new Int32Array() },
	manifest: { source: { axis: "dates" }, contentHash: "a" },
} as unknown as Dataset;

test("a number of patients is whole and at least 1", async () => {
	for (const patients of [-1, 0, 2.5, Number.NaN])
		await expect(evaluate([cut], empty, { patients, threads: 1 })).rejects.toMatchObject({
			...{ name: "InputError", field: "patients", value: patients },
			message: expect.stringContaining('expected a whole number of at least 1, or "all"'),
		});
});

test("draws are at least as many as a 95 % interval needs", async () => {
	for (const draws of [1, 19, 20.5])
		await expect(evaluate([cut], empty, { draws, threads: 1 })).rejects.toMatchObject({
			...{ name: "InputError", field: "draws", value: draws },
			message: expect.stringContaining("expected a whole number of at least 20"),
		});
});

test("a run that was trained up to a date is evaluated on task onset alone", async () => {
	for (const task of ["next", "forecast", "futures", "chf"])
		await expect(evaluate([cut], empty, { task, threads: 1 })).rejects.toThrow(
			`runs/cut has learned from records up to 2011-01-01, which task ${task} does not take into account; evaluate it on task onset`,
		);
	const notes: string[] = [];
	const progress = { update() {}, finish() {}, note: (text: string) => notes.push(text) };
	await expect(evaluate([cut], empty, { progress, threads: 1 })).rejects.toThrow("no task");
	expect(notes).toEqual(["onset is not evaluated: data has no patients in split test"]);
});
