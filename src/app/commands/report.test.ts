import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseHTML } from "linkedom";
import { beforeAll, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { writeEvaluation } from "../../evaluate/index.js";
import { exampleForecast, exampleInsulin } from "../../evaluate/report/testing/example-report.js";
import { readTrained } from "../../model/train/index.js";
import { column, done, json, refusal } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
let dataset: string;
beforeAll(async () => {
	({ root, run, dataset } = await clinicRun());
});

const report = () => ["report", run, "--threads", "1"];
const pageOf = (folder: string) => readFile(join(folder, "report.html"), "utf8");

test("a run without evaluations has a report that names the missing ones", async () => {
	const { findings, missing, report: file, figures, stderr } = await json`${report()}`;
	expect(stderr).toContain("measuring memory\n");
	expect(findings).toEqual([]);
	// So few test patients have labels of one kind alone: insulin and chf cannot be measured.
	expect(column(missing, "command")).toEqual([
		`trajgpt evaluate ${run} --task next`,
		`trajgpt evaluate ${run} --task forecast --lookup 20`,
	]);
	expect(file).toBe(join(run, "report.html"));
	const page = await pageOf(run);
	expect(page).toContain("trajgpt evaluate RUN --task forecast");
	expect(page).not.toMatch(/undefined|NaN|\[object/);
	for (const figure of figures.filter((name: string) => name.endsWith(".png")))
		expect((await readFile(figure)).subarray(1, 4).toString()).toBe("PNG");
	for (const name of ["dataset", "codes", "memory", "learning"])
		for (const format of ["svg", "png"])
			expect(figures).toContain(join(run, "figures", `${name}.${format}`));
	// One mark per patient: only on request where people are not simulated.
	expect(figures).not.toContain(join(run, "figures", "patients.svg"));
	expect(page).not.toContain("Each mark is a test patient");
});

test("a run with evaluations has a report on them, the same with the same seed", async () => {
	const { step, manifest } = readTrained(run);
	const made = { versions: {}, dataset: manifest.contentHash, step, seconds: 1 };
	const notes = [
		`no reference model: ${root}/sim is gone; run \`trajgpt finetune ${run} --task chf\``,
	];
	const forecast = exampleForecast({ model: 0.5, history: 0.45, steps: 0.47 });
	await writeEvaluation(run, { ...forecast, notes, made });
	const insulin = exampleInsulin({ zero: 0.2, few: 0.3 });
	await writeEvaluation(run, { ...insulin, made: { ...made, step: step + 1 } });

	const { stdout } = await done`${report()}`;
	expect(stdout).toContain("5.0 points (4.0–6.0) more than counting");
	expect(stdout).toContain(
		`not measured: the next record; run trajgpt evaluate ${run} --task next`,
	);
	// The few labels of insulin are too few to learn from.
	expect(stdout).not.toContain("insulin, fine-tuned");
	expect(stdout).toMatch(/“insulin” was made with the weights of step \d+; the run now has/);
	expect(stdout).toContain(`report: ${join(run, "report.html")}\n`);

	// No local paths or machine names, and no network is needed.
	const page = await pageOf(run);
	expect(page).not.toContain(root);
	expect(page).toContain("no reference model: … is gone; run `trajgpt finetune RUN --task chf`");
	expect(page.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:/);
	const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
	expect(new Set(ids).size).toBe(ids.length);
	for (const svg of parseHTML(page).document.querySelectorAll("svg")) {
		const title = svg.getAttribute("aria-labelledby");
		expect(svg.querySelector(`[id="${title}"]`)?.textContent).toMatch(/\w/);
	}
	await done`${report()}`;
	expect(await pageOf(run)).toBe(page);
});

test("a patient is shown by id, also one of the training data, with a map on request", async () => {
	const data = await openDataset(dataset);
	const id = data.idOf(data.patients("train")[0]!);
	const out = join(root, "one.html");
	const { figures } = await json`${report()} --patient ${id} --patient-map --out ${out}`;
	expect(figures).toContain(join(run, "figures", "patients.svg"));
	const page = await readFile(out, "utf8");
	expect(page).toContain("This patient was in the training data");
	expect(page).toContain("Each mark is a test patient");
	const { document } = parseHTML(page);
	const heading = document.querySelector('section[aria-labelledby="patients"] h3');
	expect(heading?.textContent).toMatch(new RegExp(`^${id}: `));
	expect(document.querySelector("#patients")?.textContent).toBe("One patient");
	expect(await refusal`${report()} --patient ${id} --out ${out}`).toContain(
		"already exists; choose another name, or pass --force",
	);
	expect(await refusal`${report()} --patient nobody`).toContain('has no patient "nobody"');
	expect(await refusal`report ${root}`).toContain("is not a run");
});
