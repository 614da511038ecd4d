import { expect, test } from "vitest";
import type { Dataset } from "../../../data/cohort/index.js";
import { temporaryFolder } from "../../../data/records/testing/temporary-folder.js";
import { type Evaluation, evaluationFile, writeEvaluation } from "../../../evaluate/index.js";
import type { Trained } from "../../../model/train/index.js";
import { evaluate, storedOfMore } from "./runs.js";

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

const all: Evaluation = {
	kind: "trajgpt-evaluation",
	version: 4,
	task: "onset",
	split: "test",
	...{ patients: 58_000, events: 9, seed: 0, draws: 10, notes: [], rows: [] },
	made: { versions: {}, dataset: "abc", step: 7, seconds: 1 },
};
const sampled = (
	patients: number,
	sample: number,
	how: "random" | "first" = "random",
): Evaluation => ({ ...all, patients, sample: { patients: sample, of: 60_000, how } });
const drawn = sampled(19_400, 20_000);
const after = (evaluation: Evaluation, made: Partial<Evaluation["made"]>): Evaluation => ({
	...evaluation,
	made: { ...evaluation.made, ...made },
});

async function reason(stored: Evaluation, evaluation: Evaluation) {
	const run = await temporaryFolder();
	await writeEvaluation(run, stored);
	return (await storedOfMore(run, evaluation))?.replace(evaluationFile(run, "onset"), "FILE");
}

test("a sample replaces nothing of more patients", async () => {
	expect(await reason(all, drawn)).toBe(
		'FILE holds the results of 58,000 patients, and these are of 19,400; to replace them, evaluate all patients (`patients: "all"`)',
	);
	// Numbers of the samples, not of those who are at risk.
	expect(await reason(sampled(19_000, 25_000, "first"), drawn)).toContain(
		"of 25,000 patients, and these are of 20,000;",
	);
	expect(await storedOfMore(await temporaryFolder(), drawn)).toBeUndefined();
});

test("a sample replaces one that is not larger, however many of it are at risk", async () => {
	expect(await reason(sampled(19_500, 20_000, "first"), drawn)).toBeUndefined();
	expect(await reason(sampled(2900, 3000), drawn)).toBeUndefined();
});

test("a file of some patients that does not say so is not taken for one of all", async () => {
	expect(await reason({ ...all, patients: 3900 }, drawn)).toBeUndefined();
});

test("a sample replaces a result of earlier weights or of another dataset", async () => {
	expect(await reason(all, after(drawn, { step: 8 }))).toBeUndefined();
	expect(await reason(all, after(drawn, { dataset: "def" }))).toBeUndefined();
});

test("all patients replace everything", async () => {
	expect(await reason({ ...all, patients: 60_000 }, all)).toBeUndefined();
	expect(await reason(drawn, all)).toBeUndefined();
});
