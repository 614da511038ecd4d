import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { initialWeights, weightCount } from "../../model/index.js";
import { readTrained } from "../../model/train/index.js";
import { cellProcesses, evaluateCell, trainCell } from "./compare/cells.js";
import { captured, column, done, refusal, words } from "./testing/captured.js";
import { quick as quickly } from "./testing/run-built.js";

/** Computes cells in the process of the test until the function that it gives is called. */
function inThisProcess() {
	const run = vi.spyOn(cellProcesses, "run").mockImplementation(async (request) => {
		await evaluateCell(request, await trainCell(request));
		return "exit code 0";
	});
	return () => run.mockRestore();
}

const root = mkdtempSync(join(tmpdir(), "trajgpt-compare-"));
const [sim, data] = [join(root, "sim"), join(root, "data")];
afterAll(() => {
	rmSync(root, { recursive: true });
	vi.unstubAllEnvs();
});
beforeAll(async () => {
	// Of the processes of the cells.
	vi.stubEnv("NODE_OPTIONS", quickly.join(" "));
	await done`simulate --patients 40 --seed 7 --out ${sim}`;
	await done`prepare ${sim} --from csv --out ${data} --min-count 30`;
});

const quick = words`--epochs 1 --max-length 32 --futures 2 --jobs 2`;
const readJson = async (...path: string[]) => JSON.parse(await readFile(join(...path), "utf8"));
const baselines = ["own history", "code frequencies", "reference model"];

test.each([
	["compare --models trajgpt,grud", `there is no model "grud"; known models: `],
	["compare --models gpt2,seft --leaders gru-d", "--leaders names gru-d, which is not compared"],
	[
		"compare --tasks stroke",
		'has no task "stroke"; it has onset, next, forecast, diabetes, insulin, chf-paper',
	],
	[
		"ablate --variants full,half",
		'there is no variant "half"; known variants: full, fixed-decay, ',
	],
	["scale --presets tiny --train-patients 10,4000", "--train-patients 4000: the dataset has "],
	[
		"scale --presets tiny --tasks next,insulin",
		"task insulin of TrajGPT needs fine-tuning, which learns from all",
	],
])("%s is refused, and starts nothing", async (line, message) => {
	const out = join(root, "refused");
	const [command = "", ...options] = line.split(" ");
	expect(await refusal`${command} ${data} ${options} --out ${out}`).toContain(message);
	expect(existsSync(out)).toBe(false);
});

test("compare reports a failed cell, tabulates the others, and retries with the same command", async () => {
	const out = join(root, "two");
	const compare = (models: string) =>
		words`compare ${data} --models ${models} --tasks next,forecast --out ${out} ${quick}`;
	let inProcesses = inThisProcess();
	await done`${compare("seft")}`;
	inProcesses();
	// A folder of something else, where the run of GPT-2 should be.
	const stranger = join(out, "runs", "gpt2-s1");
	await mkdir(stranger, { recursive: true });
	await writeFile(join(stranger, "run.json"), '{"kind":"something else"}');
	const first = await captured(compare("gpt2,seft"));
	expect(first.code).toBe(1);
	expect(first.stdout).toMatch(/GPT-2, seed 1, failed: .*is not a run of trajgpt/);
	const partial = await readJson(out, "table.json");
	expect(partial.notes).toContain(
		`no differences from GPT-2, which has no result: SeFT, ${baselines.join(", ")}`,
	);
	expect(column(partial.lines, "label")).toEqual(["SeFT", ...baselines]);

	rmSync(stranger, { recursive: true });
	const written = async () => (await stat(join(out, "cells", "seft-s1.json"))).mtimeMs;
	const before = await written();
	inProcesses = inThisProcess();
	const second = await done`${compare("gpt2,seft")}`;
	inProcesses();
	expect(second.stderr).toContain("2 of 3 cells are already finished");
	expect(await written()).toBe(before);
	const { lines, columns } = await readJson(out, "table.json");
	expect(column(lines, "label")).toEqual(["GPT-2", "SeFT", ...baselines]);
	// The table says what the evaluation says, and true parameter counts.
	const evaluation = await readJson(stranger, "eval", "forecast.json");
	const at = column(columns, "metric").indexOf("recall@10");
	expect(lines[0].values[at]).toEqual(evaluation.rows[0].metrics["recall@10"]);
	const { model, config } = readTrained(stranger);
	expect(config).toMatchObject(model.presets.tiny!);
	expect(lines[0].training.parameters).toBe(weightCount(initialWeights(model, config, 1)));
	expect(lines[0].training.cpuSecondsPerEpoch).toBeGreaterThan(0);
	for (const [extension, says] of [
		["csv", "GPT-2,transformers,forecast,,recall@10,"],
		["md", "| GPT-2 | "],
		["tex", "GPT-2 & "],
	])
		expect(await readFile(join(out, `table.${extension}`), "utf8")).toContain(says);

	const longer = compare("gpt2,seft").with(-7, "2");
	expect(await refusal`${longer}`).toContain("holds a comparison with other settings: options is");

	// Cells without their settings cannot be trusted, and a dataset folder must not be written to.
	const lost = join(root, "lost");
	await cp(out, lost, { recursive: true });
	await rm(join(lost, "compare.json"));
	for (const folder of [lost, data])
		expect(await refusal`compare ${data} --models gpt2 --out ${folder} ${quick}`).toContain(
			"but no compare.json: it is a dataset, a run, or a comparison whose settings are lost; choose another --out",
		);
	expect(await readdir(data)).not.toContain("cells");
});

test("ablate prints the paper's variants, with one column per forecasting method", async () => {
	const out = join(root, "ablation");
	await done`ablate ${data} --variants absolute --tasks forecast ${quick} --out ${out}`;
	const { columns, lines } = await readJson(out, "table.json");
	expect(column(lines, "label")).toEqual(["w/o RoPE (absolute PE)", ...baselines]);
	const groups = ["Time-specific forecast", "Auto-regressive forecast"];
	expect([...new Set(column(columns, "group"))]).toEqual([
		...groups,
		...["known", "new"].flatMap((novelty) => groups.map((group) => `${group}, ${novelty} codes`)),
	]);
	const { rows } = await readJson(out, "runs", "absolute-s1", "eval", "forecast.json");
	const measured = ["time-specific", "auto-regressive"].map((method) => {
		const row = rows.find((row: { method?: string }) => row.method === method);
		return [5, 10, 15].map((depth) => row.metrics[`recall@${depth}`]);
	});
	const shown = groups.map((group) =>
		lines[0].values.filter((_: unknown, i: number) => columns[i].group === group),
	);
	expect(shown).toEqual(measured);
	expect(shown[0]).not.toEqual(shown[1]);
});

test("scale prints a line per number of patients, compared with fewer, and draws the curves", async () => {
	const out = join(root, "scaled");
	onTestFinished(inThisProcess());
	const { stdout } =
		await done`scale ${data} --presets tiny --train-patients 8,16 --tasks next ${quick} --patients 1 --out ${out}`;
	const { lines, differences, notes } = await readJson(out, "table.json");
	expect(column(lines, "label")).toEqual(["tiny, 8 patients", "tiny, 16 patients", ...baselines]);
	expect(differences[0]).toMatchObject({ line: "tiny, 16 patients", than: "tiny, 8 patients" });
	expect(notes.join("\n")).toContain("next: 1 test patient");
	const [few, more] = [8, 16].map((number) => join(out, "runs", `tiny-${number}-s1`));
	expect((await readJson(few, "run.json")).options.trainPatients).toBe(8);
	expect((await readJson(more, "rates.json")).patients).toBe(16);
	const evaluation = await readJson(few, "eval", "next.json");
	expect(evaluation).toMatchObject({ patients: 1, sample: { patients: 1, how: "first" } });
	expect(evaluation.notes[0]).toContain("sample: the first 1 of ");
	expect(stdout).toContain(join(out, "curves.svg"));
	expect(await readFile(join(out, "curves.svg"), "utf8")).toContain("tiny, 0.1");
});
