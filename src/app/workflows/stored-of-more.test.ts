import { expect, test } from "vitest";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { type Evaluation, evaluationFile, writeEvaluation } from "../../evaluate/index.js";
import { storedOfMore } from "./stored-of-more.js";

const all: Evaluation = {
	kind: "trajgpt-evaluation",
	version: 3,
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
