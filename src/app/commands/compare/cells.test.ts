import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openDataset, withLabels } from "../../../data/cohort/index.js";
import { evaluateDefaults, evaluationInputsHash, readEvaluation } from "../../../evaluate/index.js";
import { readRun, readTask, readTrained } from "../../../model/train/index.js";
import { done } from "../testing/captured.js";
import { evaluateCell, trainCell } from "./cells.js";
import { lineOf } from "./lines.js";
import { comparisonFiles, openPlan, readCell } from "./plan.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-cell-"));
const [sim, data, folder] = ["sim", "data", "table"].map((name) => join(root, name));
afterAll(() => rmSync(root, { recursive: true }));

const request = { folder, id: "patchtst", seed: 1, threads: 1, provider: "cpu" } as const;
const run = comparisonFiles(folder).run("patchtst", 1);
const computeCell = async () => evaluateCell(request, await trainCell(request));

beforeAll(async () => {
	for (const argv of [
		["simulate", "--patients", "40", "--seed", "7", "--out", sim],
		["prepare", sim, "--from", "csv", "--out", data, "--min-count", "30"],
	])
		await done(argv);
	const settings = { dim: 16, heads: 2, ff: 16 };
	const line = lineOf(
		{ id: "patchtst", model: "patchtst", settings },
		{ preset: "tiny", maxLength: 32 },
	);
	await openPlan(folder, await openDataset(data), [line], {
		...{
			title: "compare",
			tasks: ["forecast"],
			depths: [5],
			futures: 2,
			tuning: {},
			patients: null,
			hazards: { slotsPerLandmark: 8 },
			tuningSteps: 15,
		},
		options: { epochs: 1, maxLength: 32, batchSlots: 512 },
	});
	await computeCell();
});

/** What the cell says when it is worked again. */
async function workedAgain() {
	rmSync(comparisonFiles(folder).cell("patchtst", 1));
	await computeCell();
	const { forecast } = readCell(folder, "patchtst", 1)!.evaluations;
	return forecast!;
}

test("hazards and fine-tuning are those of the plan", () => {
	expect(readRun(run).config).toMatchObject({ hazards: { slotsPerLandmark: 8 } });
	// Of the usual five epochs, two fit into the steps.
	expect(readTask(run, "forecast")?.options.epochs).toBe(2);
});

test("an evaluation is taken over as long as all that it comes from is the same", async () => {
	const { evaluations, training } = readCell(folder, "patchtst", 1)!;
	expect(training).toMatchObject({ epochs: 1, provider: "cpu" });
	const first = evaluations.forecast!;
	expect(first.rows[0]).toMatchObject({ label: "PatchTST, by-order", method: "by-order" });
	expect(await workedAgain()).toEqual(first);

	// Measured otherwise in the same folder.
	const evaluate = ["evaluate", run, "--task", "forecast", "--lookup", "20", "--draws", "20"];
	await done`${evaluate} --futures 2`;
	expect((await readEvaluation(run, "forecast"))?.draws).toBe(20);
	const again = await workedAgain();
	expect({ ...again, made: first.made }).toEqual(first);

	// Fine-tuned anew.
	const finetune = ["finetune", run, "--task", "forecast", "--force", "--epochs", "1"];
	await done`${finetune} --seed 9`;
	const other = await workedAgain();
	expect(other.made.step).toBe(first.made.step);
	expect(other.made.basis).not.toBe(first.made.basis);
	expect(other.rows[0]!.byDraw).not.toEqual(first.rows[0]!.byDraw);
});

test("what an evaluation comes from: patients, options and weights, not where they lie", async () => {
	const [dataset, trained] = [await openDataset(data), readTrained(run)];
	const basis = (more = {}, own = trained) =>
		evaluationInputsHash("forecast", dataset, { ...evaluateDefaults, ...more }, own);
	const usual = await basis();
	expect(await basis({ oracle: "elsewhere" })).toBe(usual);
	for (const more of [{ futures: 3 }, { draws: 10 }, { lookup: 20 }, { keepDraws: true }])
		expect(await basis(more)).not.toBe(usual);
	expect(await basis({}, { ...trained, folder: "without fine-tuning" })).not.toBe(usual);
	const changed = structuredClone(trained.weights);
	changed.get("head")!.data[0]! += 1;
	expect(await basis({}, { ...trained, weights: changed })).not.toBe(usual);
});

test("labels are among what an evaluation comes from", async () => {
	const dataset = await openDataset(data);
	const ids = Array.from(dataset.patients("train").slice(0, 2), (patient) => dataset.idOf(patient));
	const basis = async (task: string, ...values: number[]) => {
		const file = join(data, "..", "given-labels.csv");
		await writeFile(
			file,
			`patient,value\n${ids.map((id, at) => `${id},${values[at]}\n`).join("")}`,
		);
		const labelled = await withLabels(dataset, { task: "mine", file });
		return evaluationInputsHash(task, labelled.dataset, evaluateDefaults);
	};
	expect(await basis("mine", 1, 0)).toBe(await basis("mine", 1, 0));
	expect(await basis("mine", 1, 0)).not.toBe(await basis("mine", 0, 1));
	expect(await basis("next", 1, 0)).toBe(await basis("next", 0, 1));
});
