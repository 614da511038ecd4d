import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type Dataset, openDataset, type Split } from "../../../data/cohort/index.js";
import { writeEvaluation } from "../../../evaluate/index.js";
import { exampleInsulin } from "../../../evaluate/report/testing/example-report.js";
import { readTrained, type Trained, taskFiles } from "../../../model/train/index.js";
import { simulatedRun } from "../testing/simulated-run.js";
import { asFlags, readEvaluations } from "./evaluations.js";

let root: string;
let trained: Trained;
let dataset: Dataset;
beforeAll(async () => {
	root = await simulatedRun();
	trained = readTrained(join(root, "run"));
	dataset = await openDataset(join(root, "dataset"));
	await rm(join(root, "run", "eval"), { recursive: true });
});

const madeOf = ({ step, manifest }: Trained) => {
	return { versions: {}, dataset: manifest.contentHash, step, seconds: 1 };
};
const commands = async (of: Trained = trained, on: Dataset = dataset, split: Split = "train") =>
	(await readEvaluations(of, on, split)).missing.map(({ command }) => command);
const next = "trajgpt evaluate RUN --task next";
const forecast = "trajgpt evaluate RUN --task forecast";
const onset = "trajgpt evaluate RUN --task onset";

test("what is not measured yet names commands that work", async () => {
	expect(await commands()).toEqual(expect.arrayContaining([onset, next, forecast]));

	const config = { ...(trained.config as object), hazards: undefined };
	expect(await commands({ ...trained, config })).not.toContain(onset);
	expect(await commands(trained, dataset, "test")).not.toContain(onset);

	const cut = { ...trained, run: { ...trained.run, before: 16_000 } };
	for (const command of await commands(cut)) expect(command).toBe(onset);

	const { model } = trained;
	const forecasting = { ...model.forecasting, after: "fine-tuning" } as const;
	const other = { ...trained, model: { ...model, predictsEachEvent: false, forecasting } };
	const ofOther = await commands(other);
	expect(ofOther).not.toContain(next);
	expect(ofOther).not.toContain(forecast);
	expect(ofOther).toContain("trajgpt finetune RUN --task forecast");

	const short = (events: number) => ({ ...dataset, lengthOf: () => events });
	expect(await commands(trained, short(13))).toContain(`${forecast} --lookup 10`);
	expect((await commands(trained, short(4))).join()).not.toContain("forecast");
	const empty = { ...dataset, patients: () => new Int32Array() };
	expect(await commands(trained, empty)).toEqual([]);
});

test("warns of another split, and of the first patients, not of those drawn from a large split", async () => {
	const { folder } = trained;
	const all = dataset.patients("test").length;
	const made = madeOf(trained);
	const warnings = async (how: "random" | "first") => {
		const sample = { patients: 2, of: all, how };
		const { newCodes: _, ...example } = exampleInsulin({ zero: 0.2, few: 0.3 });
		await writeEvaluation(folder, { ...example, task: "next", patients: 2, sample, made });
		return (await readEvaluations(trained, dataset, "test")).warnings;
	};
	expect(await warnings("first")).toEqual([
		`The evaluation “next” was made on 2 of ${all} patients of the test split; evaluate again.`,
	]);
	expect(await warnings("random")).toEqual([]);
	expect((await readEvaluations(trained, dataset, "valid")).warnings).toEqual([
		"The evaluation “next” was made on the test patients, not on the valid patients; evaluate again.",
	]);
	await rm(join(folder, "eval"), { recursive: true });
});

test("all evaluations of an earlier version are refused at once", async () => {
	const { folder } = trained;
	const made = madeOf(trained);
	const { kind, ...example } = exampleInsulin({ zero: 0.2, few: 0.3 });
	const earlier = { kind, ...example, version: 3 as 4, made };
	for (const task of ["next", "mine"]) await writeEvaluation(folder, { ...earlier, task });
	const file = (task: string) => join(folder, "eval", `${task}.json`);
	await expect(commands()).rejects.toThrow(
		`${file("next")}, ${file("mine")} were written by an earlier version of trajgpt; run \`trajgpt evaluate\` with --task next, --task mine again`,
	);
	await rm(join(folder, "eval"), { recursive: true });
});

test("labelled tasks name fine-tuning where there are labels to learn from", async () => {
	const { folder } = trained;
	const made = madeOf(trained);
	const evaluation = { ...exampleInsulin({ zero: 0.2, few: 0.3 }), made };
	await writeEvaluation(folder, { ...evaluation, task: "diabetes" });
	await writeEvaluation(folder, { ...evaluation, task: "mine" });
	const all = await commands();
	expect(all).toContain("trajgpt finetune RUN --task diabetes");
	expect(all).toContain("trajgpt finetune RUN --task mine --labels LABELS");
	await mkdir(taskFiles(folder, "diabetes").best, { recursive: true });
	expect(await commands()).toContain("trajgpt evaluate RUN --task diabetes");
	const cut = { ...trained, run: { ...trained.run, before: 16_000 } };
	expect((await commands(cut)).join()).not.toContain("finetune");
});

test("options in notes become flags of evaluate", () => {
	expect(asFlags('drawn at random; `patients: "all"` evaluates all')).toBe(
		"drawn at random; --patients all evaluates all",
	);
	expect(asFlags("`regressionPatients` sets how many")).toBe("--regression-patients sets how many");
	const others = "as by `trajgpt evaluate`, with the preset `tiny`";
	expect(asFlags(others)).toBe(others);
});
