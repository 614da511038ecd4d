import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../data/records/testing/temporary-folder.js";
import {
	type Evaluation,
	evaluationFile,
	readEvaluation,
	tryReadEvaluation,
	writeEvaluation,
} from "./evaluation.js";

const evaluation: Evaluation = {
	kind: "trajgpt-evaluation",
	version: 3,
	task: "forecast",
	split: "test",
	patients: 3,
	events: 12,
	seed: 0,
	draws: 1000,
	notes: ["one was left out"],
	rows: [
		{
			who: "model",
			label: "TrajGPT, time-specific",
			method: "time-specific",
			metrics: { "recall@10": { value: 0.5, low: 0.25, high: 0.75 } },
		},
	],
	windows: [
		{
			window: "1–20",
			rows: [
				{
					...{ who: "history", label: "own history" },
					...{ recall: [0, 1], recallKnown: [1], recallNew: [0] },
				},
			],
		},
	],
	made: { versions: { trajgpt: "0.1.0" }, dataset: "abc", step: 7, seconds: 1.5 },
};

describe("an evaluation", () => {
	test("is read as written, replaces an earlier one, and leaves no other file", async () => {
		const run = await temporaryFolder();
		expect(await readEvaluation(run, "forecast")).toBeUndefined();
		await writeEvaluation(run, { ...evaluation, draws: 1 });
		const file = await writeEvaluation(run, evaluation);
		expect(file).toBe(join(run, "eval", "forecast.json"));
		expect(await readEvaluation(run, "forecast")).toEqual(evaluation);
		expect(await tryReadEvaluation(run, "forecast")).toEqual(evaluation);
		expect(await readdir(join(run, "eval"))).toEqual(["forecast.json"]);
	});

	test.each([
		["cut short", '{"kind"', "is not JSON"],
		["of another version", JSON.stringify({ ...evaluation, version: 4 }), '"version": '],
		[
			"of an earlier version",
			JSON.stringify({ ...evaluation, version: 2 }),
			"was written by an earlier",
		],
		["with a value that is none", JSON.stringify({ ...evaluation, patients: "3" }), '"patients": '],
	])("%s is rejected, with what to do", async (_, text, reason) => {
		const run = await temporaryFolder();
		const file = evaluationFile(run, "forecast");
		await mkdir(dirname(file));
		await writeFile(file, text);
		expect(existsSync(file)).toBe(true);
		const error = await readEvaluation(run, "forecast").catch((error: Error) => error);
		expect(error).toMatchObject({ name: "InputError" });
		expect((error as Error).message).toContain(reason);
		expect((error as Error).message).toContain("--task forecast again");
		expect(await tryReadEvaluation(run, "forecast")).toBeUndefined();
	});
});
