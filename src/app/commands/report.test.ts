import { cp, mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { parseHTML } from "linkedom";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { writeEvaluation } from "../../evaluate/index.js";
import {
	exampleForecast,
	exampleInsulin,
	exampleNext,
} from "../../evaluate/report/testing/example-report.js";
import { readTrained, taskFiles } from "../../model/train/index.js";
import { captured, refusal, words } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
let dataset: string;
beforeAll(async () => {
	({ root, run, dataset } = await clinicRun());
});
afterAll(() => rm(root, { recursive: true }));

const report = (...more: string[]) => captured(words`report ${run} --threads 1 ${more}`);

describe("a run without evaluations", () => {
	test("has a report that names the missing evaluations", async () => {
		const { code, stdout, stderr } = await report("--json");
		expect(code).toBe(0);
		expect(stderr).toContain("measuring memory\n");
		const told = JSON.parse(stdout);
		expect(told.findings).toEqual([]);
		// So few test patients have labels of one kind alone: insulin and chf cannot be measured.
		expect(told.missing.map(({ command }: { command: string }) => command)).toEqual([
			`trajgpt evaluate ${run} --task next`,
			`trajgpt evaluate ${run} --task forecast --lookup 20`,
		]);
		expect(told.report).toBe(join(run, "report.html"));
		const page = await readFile(told.report, "utf8");
		expect(page).toContain("trajgpt evaluate RUN --task forecast");
		expect(page).not.toMatch(/undefined|NaN|\[object/);
		for (const file of told.figures)
			if (file.endsWith(".png"))
				expect((await readFile(file)).subarray(1, 4).toString()).toBe("PNG");
		const names = told.figures.map((file: string) => file.slice(join(run, "figures/").length));
		for (const name of ["dataset", "codes", "memory", "learning"])
			expect(names).toEqual(expect.arrayContaining([`${name}.svg`, `${name}.png`]));
		// One mark per patient: only on request where people are not simulated.
		expect(names).not.toContain("patients.svg");
		expect(page).not.toContain("Each mark is a test patient");
	});

	test("has a patient map on request", async () => {
		const { code, stdout } = await report("--patient-map", "--json");
		expect(code).toBe(0);
		const { figures, report: file } = JSON.parse(stdout);
		expect(figures).toContain(join(run, "figures", "patients.svg"));
		expect(await readFile(file, "utf8")).toContain("Each mark is a test patient");
	});
});

describe("a run with evaluations", () => {
	beforeAll(async () => {
		const { step, manifest } = readTrained(run);
		const made = { versions: {}, dataset: manifest.contentHash, step, seconds: 1 };
		const notes = [
			`no reference model: ${root}/sim is gone; run \`trajgpt finetune ${run} --task chf\``,
		];
		const forecast = exampleForecast({ model: 0.5, history: 0.45, steps: 0.47 });
		await writeEvaluation(run, { ...forecast, notes, made });
		await writeEvaluation(run, {
			...exampleInsulin({ zero: 0.2, few: 0.3 }),
			made: { ...made, step: step + 1 },
		});
	});

	test("reports them, and names the missing ones", async () => {
		const { code, stdout } = await report();
		expect(code).toBe(0);
		expect(stdout).toContain("5.0 points (4.0–6.0) more than counting");
		expect(stdout).toContain(
			`not measured: the next record; run trajgpt evaluate ${run} --task next`,
		);
		// The few labels of insulin are too few to learn from.
		expect(stdout).not.toContain("insulin, fine-tuned");
		expect(stdout).toMatch(/“insulin” was made with the weights of step \d+; the run now has/);
		expect(stdout).toContain(`report: ${join(run, "report.html")}\n`);
	});

	test("notes other or fewer patients, and tasks without evaluation", async () => {
		const { step, manifest } = readTrained(run);
		const made = { versions: {}, dataset: manifest.contentHash, step, seconds: 1 };
		const beside = join(root, "beside");
		await cp(run, beside, { recursive: true });
		await mkdir(taskFiles(beside, "insulin").best, { recursive: true });
		await writeEvaluation(beside, { ...exampleNext(3, 3.4, 0.01), patients: 1, made });
		await writeEvaluation(beside, {
			...exampleForecast({ model: 0.5, history: 0.45, steps: 0.47 }),
			split: "valid",
			made,
		});
		const told = await captured(words`report ${beside} --threads 1 --json --dataset ${dataset}`);
		const { warnings, missing } = JSON.parse(told.stdout);
		const test = manifest.counts.splits.test.patients;
		expect(warnings.join("\n")).toContain(
			`The evaluation “next” was made on 1 of ${test} patients of the test split; evaluate again`,
		);
		expect(warnings.join("\n")).toContain(
			"The evaluation “forecast” was made on the valid patients, not on the test patients",
		);
		expect(missing.map(({ command }: { command: string }) => command)).toContain(
			`trajgpt evaluate ${beside} --task insulin`,
		);
	});

	test("contains no local paths or machine names, and needs no network", async () => {
		const page = await readFile(join(run, "report.html"), "utf8");
		expect(page).not.toContain(root);
		expect(page).toContain("no reference model: … is gone; run `trajgpt finetune RUN --task chf`");
		expect(page.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:/);
		const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
		expect(new Set(ids).size).toBe(ids.length);
		const { document } = parseHTML(page);
		for (const svg of document.querySelectorAll("svg")) {
			const title = svg.getAttribute("aria-labelledby");
			expect(svg.querySelector(`[id="${title}"]`)?.textContent).toMatch(/\w/);
		}
	});

	test("is the same with the same seed", async () => {
		const page = async () => readFile(join(run, "report.html"), "utf8");
		const before = await page();
		await report();
		expect(await page()).toBe(before);
	});
});

describe("patients", () => {
	test("are shown by id", async () => {
		const data = await openDataset(dataset);
		const { id } = await data.read(data.patients("test")[0]!);
		const out = join(root, "one.html");
		expect((await report("--patient", id, "--out", out)).code).toBe(0);
		const { document } = parseHTML(await readFile(out, "utf8"));
		const heading = document.querySelector('section[aria-labelledby="patients"] h3');
		expect(heading?.textContent).toMatch(new RegExp(`^${id}: `));
		expect(document.querySelector("#patients")?.textContent).toBe("One patient");

		const again = await report("--patient", id, "--out", out);
		expect(again).toMatchObject({ code: 2 });
		expect(again.stderr).toContain("already exists; choose another name, or pass --force");
	});

	test("from the training data are marked", async () => {
		const data = await openDataset(dataset);
		const { id } = await data.read(data.patients("train")[0]!);
		const out = join(root, "trained-on.html");
		expect((await report("--patient", id, "--out", out)).code).toBe(0);
		expect(await readFile(out, "utf8")).toContain("This patient was in the training data");
	});

	test("who are unknown are rejected", async () => {
		const { code, stderr } = await report("--patient", "nobody");
		expect(code).toBe(2);
		expect(stderr).toContain('has no patient "nobody"');
	});
});

test("rejects a folder that is not a run", async () => {
	expect(await refusal`report ${root}`).toContain("is not a run");
});
