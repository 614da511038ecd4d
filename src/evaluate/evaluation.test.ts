import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../data/records/testing/temporary-folder.js";
import * as results from "./evaluation.js";
import { exampleForecast } from "./report/testing/example-report.js";

const evaluation = exampleForecast({ model: 0.5, history: 0.4, steps: 0.3 });

describe("an evaluation", () => {
	test("is read as written, replaces an earlier one, and leaves no other file", async () => {
		const run = await temporaryFolder();
		expect(await results.readEvaluation(run, "forecast")).toBeUndefined();
		await results.writeEvaluation(run, { ...evaluation, draws: 1 });
		const file = await results.writeEvaluation(run, evaluation);
		expect(file).toBe(join(run, "eval", "forecast.json"));
		expect(await results.readEvaluation(run, "forecast")).toEqual(evaluation);
		expect(await results.tryReadEvaluation(run, "forecast")).toEqual(evaluation);
		expect(await readdir(join(run, "eval"))).toEqual(["forecast.json"]);
	});

	test.each([
		["cut short", '{"kind"', "is not JSON"],
		["of another version", JSON.stringify({ ...evaluation, version: 5 }), '"version": '],
		[
			"of an earlier version",
			JSON.stringify({ ...evaluation, version: 3 }),
			"was written by an earlier",
		],
		["with a value that is none", JSON.stringify({ ...evaluation, patients: "3" }), '"patients": '],
	])("%s is rejected, with what to do", async (_, text, reason) => {
		const run = await temporaryFolder();
		const file = results.evaluationFile(run, "forecast");
		await mkdir(dirname(file));
		await writeFile(file, text);
		expect(existsSync(file)).toBe(true);
		const error = await results.readEvaluation(run, "forecast").catch((error: Error) => error);
		expect(error).toMatchObject({ name: "InputError" });
		expect((error as Error).message).toContain(reason);
		expect((error as Error).message).toContain("--task forecast again");
		expect(await results.tryReadEvaluation(run, "forecast")).toBeUndefined();
	});
});
