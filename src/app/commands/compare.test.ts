import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { initialWeights, models, weightCount } from "../../model/index.js";
import { readTrained } from "../../model/train/index.js";
import { captured } from "./testing/captured.js";

const root = mkdtempSync(join(tmpdir(), "trajgpt-compare-"));
const [sim, data] = [join(root, "sim"), join(root, "data")];
afterAll(() => rmSync(root, { recursive: true }));

beforeAll(async () => {
	for (const argv of [
		["simulate", "--patients", "40", "--seed", "7", "--out", sim],
		["prepare", sim, "--from", "csv", "--out", data, "--min-count", "30"],
	])
		expect(await captured(argv)).toMatchObject({ code: 0 });
});

const quickly = (epochs: number) => [
	...["--epochs", String(epochs), "--max-length", "32", "--futures", "2", "--jobs", "2"],
];
const quick = quickly(1);
const table = async (folder: string) =>
	JSON.parse(await readFile(join(folder, "table.json"), "utf8"));
const evaluationOf = async (folder: string, run: string, task: string) =>
	JSON.parse(await readFile(join(folder, "runs", run, "eval", `${task}.json`), "utf8"));
const changed = async (file: string) => (await stat(file)).mtimeMs;

describe("compare", () => {
	test("rejects an unknown model, lists the known ones and starts nothing", async () => {
		const out = join(root, "unknown");
		const { code, stderr } = await captured([
			...["compare", data, "--models", "trajgpt,grud", "--out", out],
		]);
		expect(code).toBe(2);
		expect(stderr).toContain('there is no model "grud"; known models: ');
		for (const { id } of models) expect(stderr).toContain(id);
		expect(existsSync(out)).toBe(false);
	});

	test("rejects leaders that are not compared and starts nothing", async () => {
		const out = join(root, "leaders");
		const { code, stderr } = await captured([
			...["compare", data, "--models", "gpt2,seft", "--leaders", "gru-d", "--out", out],
		]);
		expect(code).toBe(2);
		expect(stderr).toContain("--leaders names gru-d, which is not compared");
		expect(existsSync(out)).toBe(false);
	});

	test("rejects an unknown task and lists those of the dataset", async () => {
		const { code, stderr } = await captured([
			...["compare", data, "--tasks", "stroke", "--out", join(root, "stroke")],
		]);
		expect(code).toBe(2);
		expect(stderr).toContain(
			'has no task "stroke"; it has onset, next, forecast, diabetes, insulin, chf-paper',
		);
	});

	test("reports a failed cell, tabulates the others, and retries with the same command", async () => {
		const out = join(root, "two");
		const argv = ["compare", data, "--models", "gpt2,seft", "--tasks", "next,forecast"];
		const begun = argv.with(3, "seft");
		expect((await captured([...begun, ...quick, "--out", out])).code).toBe(0);
		// A folder of something else, where the run of GPT-2 should be.
		const stranger = join(out, "runs", "gpt2-s1");
		await mkdir(stranger, { recursive: true });
		await writeFile(join(stranger, "run.json"), '{"kind":"something else"}');
		const first = await captured([...argv, ...quick, "--out", out]);
		expect(first.code).toBe(1);
		expect(first.stdout).toMatch(/GPT-2, seed 1, failed: .*is not a run of trajgpt/);
		const partial = await table(out);
		expect(partial.notes).toContain(
			"no differences from GPT-2, which has no result: SeFT, own history, code frequencies, reference model",
		);
		expect(partial.lines.map(({ label }: { label: string }) => label)).toEqual([
			...["SeFT", "own history", "code frequencies", "reference model"],
		]);

		rmSync(stranger, { recursive: true });
		const cell = join(out, "cells", "seft-s1.json");
		const before = await changed(cell);
		const second = await captured([...argv, ...quick, "--out", out]);
		expect(second.code).toBe(0);
		expect(second.stderr).toContain("2 of 3 cells are already finished");
		expect(await changed(cell)).toBe(before);
		const { lines, columns } = await table(out);
		expect(lines.map(({ label }: { label: string }) => label)).toEqual([
			...["GPT-2", "SeFT", "own history", "code frequencies", "reference model"],
		]);
		// The table says what the evaluation says, and true parameter counts.
		const evaluation = await evaluationOf(out, "gpt2-s1", "forecast");
		const at = columns.findIndex(({ metric }: { metric: string }) => metric === "recall@10");
		expect(lines[0].values[at]).toEqual(evaluation.rows[0].metrics["recall@10"]);
		const { model, config } = readTrained(join(out, "runs", "gpt2-s1"));
		expect(config).toMatchObject(model.presets.tiny!);
		expect(lines[0].training.parameters).toBe(weightCount(initialWeights(model, config, 1)));
		expect(lines[0].training.cpuSecondsPerEpoch).toBeGreaterThan(0);
		for (const [extension, says] of [
			["csv", "GPT-2,transformers,forecast,,recall@10,"],
			["md", "| GPT-2 | "],
			["tex", "GPT-2 & "],
		])
			expect(await readFile(join(out, `table.${extension}`), "utf8")).toContain(says);

		const other = await captured([...argv, ...quickly(2), "--out", out]);
		expect(other.code).toBe(2);
		expect(other.stderr).toContain("holds a comparison with other settings: options is");

		// Cells without their settings cannot be trusted, and a dataset folder must not be written to.
		const lost = join(root, "lost");
		await cp(out, lost, { recursive: true });
		await rm(join(lost, "compare.json"));
		for (const folder of [lost, data]) {
			const refused = await captured([...argv, ...quickly(1), "--out", folder]);
			expect(refused.code).toBe(2);
			expect(refused.stderr).toContain(
				"but no compare.json: it is a dataset, a run, or a comparison whose settings are lost; choose another --out",
			);
		}
		expect(await readdir(data)).not.toContain("cells");
	});
});

describe("ablate", () => {
	test("rejects an unknown variant and lists the known ones", async () => {
		const { code, stderr } = await captured([
			...["ablate", data, "--variants", "full,half", "--out", join(root, "half")],
		]);
		expect(code).toBe(2);
		expect(stderr).toContain('there is no variant "half"; known variants: full, fixed-decay, ');
	});

	test("prints the paper's variants, with one column per forecasting method", async () => {
		const out = join(root, "ablation");
		const { code, stderr } = await captured([
			...["ablate", data, "--variants", "absolute, fixed-decay,absolute", ...quick, "--out", out],
		]);
		expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
		const { columns, lines } = await table(out);
		expect(lines.map(({ label }: { label: string }) => label)).toEqual([
			...["w/o decay gating (fixed γ)", "w/o RoPE (absolute PE)"],
			...["own history", "code frequencies", "reference model"],
		]);
		const ways = ["Time-specific forecast", "Auto-regressive forecast"];
		expect([...new Set(columns.map(({ group }: { group: string }) => group))]).toEqual([
			"Next event",
			...ways,
			...["known", "new"].flatMap((novelty) => ways.map((way) => `${way}, ${novelty} codes`)),
		]);
		for (const [at, id] of ["fixed-decay", "absolute"].entries()) {
			const { rows } = await evaluationOf(out, `${id}-s1`, "forecast");
			const measured = ["time-specific", "auto-regressive"].map((method) => {
				const row = rows.find((row: { method?: string }) => row.method === method);
				return [5, 10, 15].map((depth) => row.metrics[`recall@${depth}`]);
			});
			const shown = ways.map((way) =>
				lines[at].values.filter((_: unknown, i: number) => columns[i].group === way),
			);
			expect(shown).toEqual(measured);
			expect(shown[0]).not.toEqual(shown[1]);
		}
	});
});

describe("scale", () => {
	test("rejects more patients than there are, and starts nothing", async () => {
		const out = join(root, "many");
		const { code, stderr } = await captured([
			...["scale", data, "--presets", "tiny", "--train-patients", "10,4000", "--out", out],
		]);
		expect(code).toBe(2);
		expect(stderr).toContain("--train-patients 4000: the dataset has ");
		expect(existsSync(out)).toBe(false);
	});

	test("rejects tasks that need fine-tuning, which would see all patients", async () => {
		const { code, stderr } = await captured([
			...[
				"scale",
				data,
				"--presets",
				"tiny",
				"--tasks",
				"next,insulin",
				"--out",
				join(root, "tuned"),
			],
		]);
		expect(code).toBe(2);
		expect(stderr).toContain("task insulin of TrajGPT needs fine-tuning, which learns from all");
	});

	test("prints a line per number of patients, compared with fewer, and draws the curves", async () => {
		const out = join(root, "scaled");
		const { code, stdout, stderr } = await captured([
			...["scale", data, "--presets", "tiny", "--train-patients", "8,16", "--tasks", "next"],
			...[...quick, "--patients", "1", "--out", out],
		]);
		expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
		const { lines, differences, notes } = await table(out);
		expect(lines.map(({ label }: { label: string }) => label)).toEqual([
			...["tiny, 8 patients", "tiny, 16 patients"],
			...["own history", "code frequencies", "reference model"],
		]);
		expect(differences[0]).toMatchObject({ line: "tiny, 16 patients", than: "tiny, 8 patients" });
		expect(notes.join("\n")).toContain("next: 1 test patient");
		const [few, more] = [8, 16].map((number) => join(out, "runs", `tiny-${number}-s1`));
		const { options } = JSON.parse(await readFile(join(few as string, "run.json"), "utf8"));
		expect(options.trainPatients).toBe(8);
		const { patients } = JSON.parse(await readFile(join(more as string, "rates.json"), "utf8"));
		expect(patients).toBe(16);
		const evaluation = JSON.parse(await readFile(join(few as string, "eval", "next.json"), "utf8"));
		expect(evaluation).toMatchObject({ patients: 1, sample: { patients: 1, how: "first" } });
		expect(evaluation.notes[0]).toContain("sample: the first 1 of ");
		expect(stdout).toContain(join(out, "curves.svg"));
		expect(await readFile(join(out, "curves.svg"), "utf8")).toContain("tiny, 0.1");
	});
});
