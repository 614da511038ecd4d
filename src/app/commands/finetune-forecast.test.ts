import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { specialCount } from "../../data/cohort/vocabulary.js";
import { initialWeights } from "../../model/index.js";
import { fineTuningStart, readTrained } from "../../model/train/index.js";
import { captured } from "./testing/captured.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-forecaster-"));
const [sim, data, encoder, recurrent] = ["sim", "data", "encoder", "recurrent"].map((name) =>
	join(root, name),
) as [string, string, string, string];
afterAll(() => rmSync(root, { recursive: true }));

const done = async (...argv: string[]) => {
	const { code, stdout, stderr } = await captured(argv);
	expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
	return stdout;
};
const small = ["layers=1", "heads=2", "dim=12"].flatMap((pair) => ["--set", pair]);

beforeAll(async () => {
	await done("simulate", "--patients", "60", "--seed", "7", "--out", sim);
	await done("prepare", sim, "--from", "csv", "--out", data, "--min-count", "40");
	await done(
		...["pretrain", data, "--out", encoder, "--model", "patchtst", "--preset", "tiny", ...small],
		...["--set", "ahead=20", "--epochs", "1", "--max-length", "128", "--threads", "1"],
	);
	await done(
		...["pretrain", data, "--out", recurrent, "--model", "seft", "--preset", "tiny"],
		...["--epochs", "1", "--max-length", "64", "--threads", "1"],
	);
});

const forecast = (run: string) =>
	captured(["evaluate", run, "--task", "forecast", "--draws", "20", "--futures", "2", "--json"]);

describe("an encoder", () => {
	test("forecasts after fine-tuning, and before that names the command", async () => {
		const before = await forecast(encoder);
		expect(before.code).toBe(2);
		expect(before.stderr).toContain(
			`PatchTST forecasts after fine-tuning; run \`trajgpt finetune ${encoder} --task forecast\``,
		);
		const tuned = await done(
			...["finetune", encoder, "--task", "forecast", "--json"],
			...["--epochs", "12", "--learning-rate", "0.05"],
		);
		const { best, labels } = JSON.parse(tuned);
		expect(Object.keys(best.losses)).toEqual(["ahead"]);
		// Less than if all codes were equally likely.
		const { size } = (await openDataset(data)).vocabulary;
		expect(best.losses.ahead).toBeLessThan(Math.log(size - specialCount));
		expect(labels).toBe(0);
		const after = await forecast(encoder);
		expect(after.code).toBe(0);
		const rows = JSON.parse(after.stdout).forecast.runs[0].evaluation.rows.slice(0, 1);
		expect(rows).toMatchObject([{ who: "model", label: "PatchTST, by-order" }]);
		const chance = 10 / (size - specialCount);
		for (const row of rows) expect(row.metrics["recall@10"].value).toBeGreaterThan(1.5 * chance);
	});

	test("has no next-event likelihood", async () => {
		const { code, stderr } = await captured(["evaluate", encoder, "--task", "next"]);
		expect(code).toBe(2);
		expect(stderr).toContain("PatchTST does not predict every event of a history in one pass");
	});
});

describe("a model without pre-training", () => {
	test("forecasts as trained, without fine-tuning", async () => {
		const { code, stderr } = await captured(["finetune", recurrent, "--task", "forecast"]);
		expect(code).toBe(2);
		expect(stderr).toContain("SeFT forecasts as it was trained");
		expect(existsSync(join(recurrent, "tasks", "forecast"))).toBe(false);
	});

	test("learns labels from initial weights", () => {
		const trained = readTrained(recurrent);
		const start = fineTuningStart(trained);
		expect(start.weights).toEqual(
			initialWeights(trained.model, trained.config, trained.run.options.seed),
		);
		expect(start.weights.get("embedding")?.data).not.toEqual(
			trained.weights.get("embedding")?.data,
		);
		const encoded = readTrained(encoder);
		expect(fineTuningStart(encoded)).toBe(encoded);
	});
});
