import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { readEvaluation } from "../../../evaluate/index.js";
import { done, refusal } from "../testing/captured.js";
import { simulatedRun } from "../testing/simulated-run.js";

let root: string;
let run: string;
beforeAll(async () => {
	root = await simulatedRun();
	run = join(root, "run");
});

const quickly = ["--split", "train", "--draws", "20", "--threads", "1", "--futures", "2"];
const onset = ["--task", "onset", "--horizons", "5", ...quickly];
const diabetes = ["--task", "diabetes", ...quickly];
const nothing = { value: 0, low: 0, high: 0 };

test("onset: the model does not differ from its own predictions of a code, read from a file", async () => {
	const [csv, parquet] = [join(root, "own.csv"), join(root, "columns.parquet")];
	await done`evaluate ${run} ${onset} --code 465 --predictions ${csv}`;
	await done`evaluate ${run} ${onset} --code 465 --predictions ${parquet}`;
	expect((await readFile(csv, "utf8")).split("\n")[0]).toBe(
		"patient,date,day,code,system,horizon_days,label,probability,weight",
	);
	const { stdout } = await done`evaluate ${run} ${onset} --compare ${csv} --compare ${parquet}`;
	const { comparisons = [] } = (await readEvaluation(run, "onset")) ?? {};
	expect(comparisons.map(({ label }) => label)).toEqual(["own", "columns"]);
	for (const { horizons, differences } of comparisons) {
		expect(horizons).toEqual([{ years: 5, codes: 1, allCodes: 1 }]);
		const metrics = Object.values(differences[0]?.metrics ?? {});
		expect(metrics.length).toBeGreaterThanOrEqual(4);
		for (const measure of metrics) expect(measure).toEqual(nothing);
	}
	expect(stdout).toContain("\nOn the codes of own:\n");
	expect(stdout).toMatch(/^within 5 years, 1 frequent code +log loss/m);
	expect(stdout).toMatch(/^TrajGPT − own +0\.000 \[0\.000, 0\.000\]/m);
});

test("labels: the same, also in the schema of MEDS, whose probabilities have 32 bits", async () => {
	const [csv, meds] = [join(root, "risk.csv"), join(root, "meds.parquet")];
	await done`evaluate ${run} ${diabetes} --predictions ${csv}`;
	await done`evaluate ${run} ${diabetes} --predictions ${meds} --predictions-schema meds`;
	const { stdout } = await done`evaluate ${run} ${diabetes} --compare ${csv} --compare ${meds}`;
	const { rows = [], differences = [] } = (await readEvaluation(run, "diabetes")) ?? {};
	const [row] = rows.filter(({ label }) => label.endsWith("zero-shot risk"));
	const than = (label: string) =>
		differences.find((pair) => pair.row === row?.label && pair.than === label)?.metrics ?? {};
	expect(Object.keys(than("risk"))).toEqual([
		"auprc",
		"auroc",
		"logLoss",
		"brierSkill",
		"calibrationError",
	]);
	for (const measure of Object.values(than("risk"))) expect(measure).toEqual(nothing);
	expect(than("meds").brierSkill?.value).toBeCloseTo(0, 7);
	expect(stdout).toMatch(/^TrajGPT, zero-shot risk − risk +\+?0\.000/m);
});

test.each([
	["--task all", "predictions are those of one label, and no task is named; choose onset"],
	[
		"--task next",
		"--compare has no effect on task next: it is used by onset and tasks with labels",
	],
	["--task onset", "no such file"],
])("%s --compare is refused", async (line, message) => {
	expect(
		await refusal`evaluate ${run} ${line.split(" ")} ${quickly.slice(0, 6)} --compare nowhere.csv`,
	).toContain(message);
});
