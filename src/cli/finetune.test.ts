import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { captured } from "./testing/captured.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-finetune-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const [population, dataset, run] = ["population", "data", "run"].map((name) =>
	join(root, name),
) as [string, string, string];

const done = async (...argv: string[]) => {
	const result = await captured(argv);
	expect(result).toMatchObject({ code: 0 });
	return result;
};
const finetune = (...more: string[]) => [
	...["finetune", run, "--task", "female", "--epochs", "2", "--threads", "1", ...more],
];

/** Whether somebody is a woman: a label that the birth event tells. */
beforeAll(async () => {
	await done("simulate", "--patients", "80", "--seed", "5", "--out", population);
	const [, ...people] = readFileSync(join(population, "people.csv"), "utf8").trim().split("\n");
	const rows = people.map((line) => {
		const [id, sex] = line.split(",");
		return `${id},${sex === "female" ? 1 : 0}`;
	});
	const labels = join(root, "labels.csv");
	writeFileSync(labels, `patient,value\n${rows.join("\n")}\n`);
	const label = ["--label", `female=${labels}`];
	await done("prepare", population, "--from", "csv", ...label, "--out", dataset);
	const sizes = ["layers=1", "heads=2", "dim=8", "key=8", "value=8", "ff=8"];
	await done(
		...["pretrain", dataset, "--out", run, "--preset", "tiny", "--epochs", "1"],
		...sizes.flatMap((pair) => ["--set", pair]),
		...["--batch-slots", "512", "--max-length", "40", "--threads", "1"],
	);
});

const refused = async (argv: readonly string[], ...parts: string[]) => {
	const { code, stderr } = await captured(argv);
	expect(code).toBe(2);
	for (const part of parts) expect(stderr).toContain(part);
};

describe("finetune", () => {
	test("prints a summary, resumes, and is evaluated", async () => {
		await refused(finetune("--resume"), "female was not begun", "leave out --resume");
		const first = await done(...finetune());
		expect(first.stderr).toMatch(/^fitting the initial head to \d+ labels\n/);
		expect(first.stderr).toMatch(/epoch 2: validation label \d\.\d{4} nats/);
		expect(first.stdout).toMatch(
			/tasks\/female: \S+ parameters, \d+ steps, 2 epochs over \d+ labels of female, \d+ positive\nbest validation loss after epoch \d: /,
		);
		await refused(finetune(), "exists already", "--resume", "--force");
		await refused(finetune("--resume", "--seed", "9"), "seed is 1 there, 9 here");
		const again = await done(...finetune("--resume", "--json"));
		expect(again.stderr).toContain("is finished; there is nothing to go on with");
		const summary = JSON.parse(again.stdout);
		expect(summary).toMatchObject({ task: "female", epochs: 2, interrupted: false });

		const weights = () => readFileSync(join(run, "tasks", "female", "best", "state.safetensors"));
		const before = weights();
		await done(...finetune("--force"));
		expect(weights().equals(before)).toBe(true);

		const split = ["--split", "train", "--draws", "20", "--threads", "1"];
		const { stdout } = await done("evaluate", run, "--task", "female", ...split, "--json");
		const [evaluation] = JSON.parse(stdout).female.runs;
		const tuned = evaluation.evaluation.rows.find(
			(row: { setting?: string }) => row.setting === "fine-tuned",
		);
		expect(tuned.metrics.auroc.value).toBeGreaterThan(0.6);
		expect(evaluation.evaluation.calibration.length).toBeGreaterThan(1);
	});

	test("rejects bad requests with advice", async () => {
		await refused(
			["finetune", run, "--task", "stroke"],
			'no labels for the task "stroke"',
			"--label",
		);
		await refused(["finetune", run], "--task");
		await refused(finetune("--force", "--epochs", "0"), "Expected a whole number from 1");
		await refused(["finetune", dataset, "--task", "female"], "is not a run");
	});

	test("--help lists the options, with examples", async () => {
		const { stdout } = await done("finetune", "--help");
		expect(stdout).toContain("--learning-rate");
		expect(stdout).toContain("Examples:");
	});
});
