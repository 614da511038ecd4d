import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { fitScoring, labelSetOf, taskLabels } from "../../evaluate/index.js";
import { readModel, readTask, readTrained } from "../../model/train/index.js";
import {
	builtLibrary,
	chromiumIsThere,
	openBrowser,
	serveFolder,
	watchedPage,
} from "../../predict/browser/testing/page.js";
import { loadModel } from "../../predict/library/load-model.js";
import { noLog } from "../server/index.js";
import { jsonIn } from "../server/testing/running.js";
import { serve } from "./serve.js";
import { captured } from "./testing/captured.js";
import { simulatedRun } from "./testing/simulated-run.js";

let root: string;
let run: string;
let tuned: string;
const done = async (...argv: string[]) => {
	const { code, stdout, stderr } = await captured(argv);
	expect({ code, failed: code === 0 ? "" : stderr }).toEqual({ code: 0, failed: "" });
	return stdout;
};

/** A model that was fine-tuned to the onset of diabetes: its head reads the run's own risk, too. */
beforeAll(async () => {
	root = await simulatedRun();
	run = join(root, "run");
	tuned = join(run, "tasks", "diabetes");
	await done("finetune", run, "--task", "diabetes", "--epochs", "1", "--threads", "1");
	await writeFile(
		join(root, "claims.csv"),
		"patient,date,icd9\nann,2010-03-01,401.9\nann,2011-09-15,272.4\nann,2012-02-20,278.00\nbob,2011-05-06,401.9\n",
	);
	await writeFile(
		join(root, "people.csv"),
		"patient,sex,birth\nann,female,1950-06-01\nbob,male,1961-02-03\n",
	);
});
afterAll(() => rm(root, { recursive: true }));

const events = [
	{ code: "401.9", system: "ICD9CM", date: "2010-03-01" },
	{ code: "272.4", system: "ICD9CM", date: "2011-09-15" },
	{ code: "278.00", system: "ICD9CM", date: "2012-02-20" },
];
const ann = { sex: "female", birth: "1950-06-01", events } as const;
const days = [undefined, "2011-12-31", "+1y"] as const;
const input = () => ["--input", join(root, "claims.csv"), "--people", join(root, "people.csv")];
const scored = async (...argv: string[]) => JSON.parse(await done(...argv, ...input(), "--json"));

const definition =
	"a first record of diabetes (PheCode 250) within 3 years, in patients without one";

describe("a fine-tuned model", () => {
	test("scores new patients on the command line, one by one and all at once", async () => {
		const alone = await scored("risk", tuned, "--patient", "ann", "--at", "2011-12-31");
		expect(alone).toMatchObject({ task: "diabetes", definition, run: tuned });
		const all = await scored("forecast", tuned, "--at", "2011-12-31", "+0d");
		expect(all.patients.map(({ id }: { id: string }) => id)).toEqual(["ann", "bob"]);
		const [{ scores }] = alone.patients;
		expect(all.patients[0].scores[0].probability).toBeCloseTo(scores[0].probability, 6);
		expect(all.patients[0].scores[1]).toMatchObject({ date: "2012-02-20" });
		expect(all.patients[0].scores[1].probability).not.toBe(all.patients[0].scores[0].probability);
		const text = await done("risk", tuned, ...input());
		expect(text).toContain(`diabetes: the probability of ${definition}\n`);
		expect(text).toMatch(/\nbob +2011-05-06 +50\.3 +0\.\d{4}\n/);
	});

	test("says what it predicts, where that is defined, and whom it is not about", async () => {
		const source = "built-in task diabetes";
		const expected = { task: "diabetes", definition, source, horizonDays: 1096 };
		const file = join(root, "diabetic.csv");
		await writeFile(file, "patient,date,icd9\nann,2010-03-01,401.9\nann,2011-09-15,250.00\n");
		const asked = ["forecast", tuned, "--input", file, "--at", "2010-12-31", "2011-12-31"];
		const { code, stdout, stderr } = await captured(asked);
		expect({ code, stdout }).toMatchObject({ code: 0 });
		expect(stdout).toContain(`defined by: ${source}; horizon: 3 years\n`);
		const reason = "outside the definition of diabetes: has a record of diabetes (PheCode 250)";
		expect(stderr).toContain(
			`warning: 1 of 2 predictions: ${reason} (ann first); the probability does not apply there\n`,
		);
		const told = JSON.parse(await done(...asked, "--json"));
		expect(told).toMatchObject(expected);
		expect(told.patients[0].scores[0].outside).toBeUndefined();
		expect(told.patients[0].scores[1].outside).toBe(reason);

		const model = await loadModel(tuned, { threads: 1 });
		const events = [{ code: "250.00", system: "ICD9CM", date: "2011-09-15" }];
		expect(await model.score({ events })).toMatchObject({ ...expected, warnings: [reason] });
		expect((await model.score(ann)).warnings).toEqual([]);
		await model.close();
	});

	test("keeps the definition of labels that tasks wrote, and of a file of labels", async () => {
		const labels = join(root, "labels");
		await done("tasks", join(root, "dataset"), "--task", "type-2-diabetes", "--out", labels);
		const folder = join(labels, "type-2-diabetes");
		const tune = (task: string, file: string) =>
			done(
				"finetune",
				run,
				...["--task", task, "--labels", file, "--epochs", "1", "--threads", "1"],
			);
		await tune("t2d", folder);
		const { scoring } = readModel(join(run, "tasks", "t2d")).task ?? {};
		expect(scoring).toMatchObject({
			definition:
				"first record of type 2 diabetes within a year, predicted one year after the first diagnosis",
			source: "ready task type-2-diabetes",
			horizonDays: 365,
			outside: { if: "recorded", what: expect.stringContaining("(PheCode 250)") },
		});

		const alone = join(root, "alone.parquet");
		await cp(join(folder, "labels.parquet"), alone);
		await tune("alone", alone);
		const other = readModel(join(run, "tasks", "alone")).task?.scoring;
		expect(other).toMatchObject({
			definition: "a positive label of task alone, as its labels define it",
			source: "labels file alone.parquet",
		});
		expect(other?.outside).toBeUndefined();

		await rm(join(run, "tasks", "alone", "scoring.json"));
		const { stderr } = await captured(["risk", join(run, "tasks", "alone"), ...input()]);
		expect(stderr).toContain(`trajgpt finetune ${run} --task alone --labels ${alone} --resume`);
		const untuned = ["--task", "untuned", "--labels", alone, "--draws", "20", "--threads", "1"];
		const text = await done("evaluate", run, ...untuned, "--split", "train");
		expect(text).toContain(
			`not fine-tuned: run \`trajgpt finetune ${run} --task untuned --labels ${alone}\``,
		);
	});

	test("gives the same probability in the library, over HTTP and from an export", async () => {
		const at = days.map((day) => day ?? "+0d");
		const { patients } = await scored("forecast", tuned, "--patient", "ann", "--at", ...at);
		const expected: number[] = patients[0].scores.map(
			(own: { probability: number }) => own.probability,
		);
		expect(new Set(expected).size).toBe(3);
		const near = (found: readonly number[]) => {
			expect(found).toHaveLength(expected.length);
			for (const [i, own] of found.entries())
				expect(Math.abs(own - (expected[i] as number))).toBeLessThan(1e-5);
		};
		const out = join(root, "export");
		await done("export", tuned, "--out", out);
		expect(await readFile(join(out, "model-card.md"), "utf8")).toContain(
			`Fine-tuned to diabetes: the probability of ${definition}.`,
		);
		for (const place of [tuned, out]) {
			const model = await loadModel(place, { threads: 1 });
			const scores = [];
			for (const at of days) scores.push(await model.score(ann, at === undefined ? {} : { at }));
			expect(model.task).toMatchObject({ task: "diabetes", definition });
			expect(scores[0]).toMatchObject({ task: "diabetes", at: { date: "2012-02-20" } });
			near(scores.map(({ probability }) => probability));
			await model.close();
		}

		const service = await serve(readModel(tuned), {
			...{ host: "127.0.0.1", port: 0, explorer: chromiumIsThere, log: noLog },
		});
		const post = async (body: unknown) =>
			jsonIn(
				await fetch(new URL("/api/v2/score", service.url), {
					method: "POST",
					headers: { "Content-Type": "application/json" },
					body: JSON.stringify(body),
				}),
			);
		const answers = [];
		for (const at of days) answers.push(await post({ patient: ann, ...(at && { at }) }));
		near(answers.map(({ probability }) => probability));
		const source = "built-in task diabetes";
		expect(answers[0]).toMatchObject({ task: "diabetes", definition, source, horizonDays: 1096 });
		expect(answers[0]).toMatchObject({ events: 3, warnings: [] });
		const diabetic = { events: [{ code: "250.00", system: "ICD9CM", date: "2011-09-15" }] };
		expect((await post({ patient: diabetic })).warnings).toContain(
			"outside the definition of diabetes: has a record of diabetes (PheCode 250)",
		);
		const described = await jsonIn(await fetch(new URL("/api/v2/model", service.url)));
		expect(described.task).toMatchObject({ task: "diabetes", definition });
		if (!chromiumIsThere) return service.close();
		await cp(builtLibrary, join(out, "trajgpt"), { recursive: true });
		const server = await serveFolder(out, { isolated: false });
		const browser = await openBrowser();
		try {
			const { page, faults } = await watchedPage(browser, server.url);
			await page.goto(`${server.url}example.html`);
			const found = (await page.evaluate(`(async () => {
				const { loadModel } = await import(new URL("./trajgpt/trajgpt.js", location.href).href);
				const model = await loadModel("./");
				const scores = [];
				for (const at of ${JSON.stringify(days.map((day) => day ?? null))})
					scores.push(await model.score(${JSON.stringify(ann)}, at === null ? {} : { at }));
				return scores.map(({ probability }) => probability);
			})()`)) as number[];
			expect(faults).toEqual([]);
			near(found);
			await page.goto(service.url);
			await page.waitForSelector(".label-panel [data-probability]");
			expect(await page.textContent(".label-panel")).toContain(definition);
			await page.waitForSelector(".risk-panel [data-risk]");
		} finally {
			await browser.close();
			await server.close();
			await service.close();
		}
	});

	test("keeps the scale that its validation labels give", async () => {
		const trained = readTrained(run);
		const dataset = await openDataset(join(root, "dataset"));
		const { labels } = await taskLabels(dataset, "diabetes");
		const scoring = await fitScoring(
			...([nodeRuntime({ threads: 1 }), trained, dataset] as const),
			readTask(run, "diabetes") as NonNullable<ReturnType<typeof readTask>>,
			{
				train: labelSetOf(dataset, labels, "train"),
				valid: labelSetOf(dataset, labels, "valid"),
			},
		);
		const kept = readModel(tuned).task?.scoring;
		expect(kept?.slope).toBeCloseTo(scoring.slope, 4);
		expect({ ...kept, slope: 0, shift: 0 }).toEqual({ ...scoring, slope: 0, shift: 0 });
		expect(kept?.risk?.horizonDays).toBe(1096);
	});

	test("refuses what it has no use for, and a run refuses to score", async () => {
		const refused = async (argv: readonly string[], ...parts: string[]) => {
			const { code, stderr } = await captured(argv);
			expect(code).toBe(2);
			for (const part of parts) expect(stderr).toContain(part);
		};
		await refused(
			["risk", tuned, "--patient", "p000012", "--code", "428"],
			`--code has no effect on ${tuned}, which scores its own label; leave it out, or give the run: ${run}`,
		);
		await refused(["forecast", tuned, ...input(), "--top", "3"], "--top has no effect");
		await refused(["evaluate", tuned], "is not a run");
		const file = join(root, "meds.parquet");
		const meds = ["--predictions", file, "--predictions-schema", "meds"];
		await refused(
			["forecast", run, ...input(), ...meds],
			`give a fine-tuned model: ${run}/tasks/TASK`,
		);
		await expect(readFile(file)).rejects.toThrow("ENOENT");
		const model = await loadModel(run, { threads: 1 });
		expect(model.task).toBeNull();
		await expect(model.score(ann)).rejects.toThrow("was not fine-tuned to a task");
		await model.close();

		const scoring = join(tuned, "scoring.json");
		const text = await readFile(scoring, "utf8");
		await writeFile(scoring, text.replace(/"shift": .*/, '"shift": 1,'));
		await refused(["risk", tuned, ...input()], "scoring.json was changed since it was written");
		await rm(scoring);
		const again = `trajgpt finetune ${run} --task diabetes --resume`;
		await refused(["risk", tuned, ...input()], "cannot score patients yet", again);
		await done("finetune", run, "--task", "diabetes", "--resume", "--threads", "1");
		expect(await readFile(scoring, "utf8")).toBe(text);
	});

	test("predicts given labels from the records up to their time", async () => {
		const dataset = await openDataset(join(root, "dataset"));
		const [first, second] = dataset.patients("test");
		const ids = [first, second].map((patient) => dataset.idOf(patient as number));
		const [inTest, other] = [ids[0], dataset.idOf(dataset.patients("train")[0] as number)];
		const { times, birthEvents } = await dataset.read(first as number);
		const date = new Date(Math.floor(times[birthEvents + 3] as number) * 86_400_000)
			.toISOString()
			.slice(0, 10);
		const labels = join(root, "given.csv");
		await writeFile(
			labels,
			`patient,date,value\n${inTest},${date},1\n${other},2015-01-01,0\nstranger,2015-01-01,0\n`,
		);
		const splits = join(root, "given-splits.csv");
		await writeFile(splits, `patient,split\n${inTest},test\n${other},train\nstranger,held_out\n`);
		const written = async (file: string, ...more: string[]) => {
			const path = join(root, file);
			await done("forecast", tuned, "--labels", labels, "--predictions", path, ...more);
			const [, ...rows] = (await readFile(path, "utf8")).trim().split("\n");
			return rows.map((row) => row.split(","));
		};
		const all = await written("all.csv");
		expect(all.map(([patient]) => patient).sort()).toEqual([inTest, other, "stranger"].sort());
		const mine = all.find(([patient]) => patient === inTest) as string[];
		expect(mine[3]).toBe("true");
		const alone = JSON.parse(
			await done("forecast", tuned, "--patient", inTest as string, "--at", date, "--json"),
		);
		const { probability } = alone.patients[0].scores[0];
		expect(Number(mine[4]) / probability).toBeCloseTo(1, 4);
		const ofTest = await written("test.csv", "--split", "test");
		expect(ofTest.map((row) => row.slice(0, 4))).toEqual([mine.slice(0, 4)]);
		expect(Number(ofTest[0]?.[4]) / probability).toBeCloseTo(1, 4);
		const named = await written("named.csv", "--split", "test", "--splits-from", splits);
		expect(named.map(([patient]) => patient)).toEqual([inTest, "stranger"]);
		for (const [argv, reason] of [
			[["--labels", labels], "--labels needs --predictions"],
			[["--labels", labels, "--at", "+1y"], "--at does not go with --labels"],
			[["--split", "test"], "--split and --splits-from are for --labels"],
			[
				["--labels", labels, "--skip-bad", "--predictions", join(root, "x.csv")],
				"--skip-bad is for a file of records; name it with --input FILE",
			],
			[
				["--labels", labels, "--splits-from", splits, "--predictions", join(root, "x.csv")],
				"--splits-from needs --split",
			],
		] as const) {
			const { code, stderr } = await captured(["forecast", tuned, ...argv]);
			expect({ code, stderr }).toMatchObject({ code: 2 });
			expect(stderr).toContain(reason);
		}
		const untuned = await captured([
			...["forecast", run, "--labels", labels, "--predictions", join(root, "x.csv")],
		]);
		expect(untuned.stderr).toContain("was not fine-tuned to a task");
		for (const [year, warning] of [
			[1900, "2 of 2 labels lie before the first record of their patient: check their times"],
			[2200, "all 2 labels lie after the last record of everybody, by more than a year, and see"],
		] as const) {
			const wrong = join(root, "wrong.csv");
			await writeFile(
				wrong,
				`patient,date,value\n${ids.map((id) => `${id},${year}-01-01,1\n`).join("")}`,
			);
			const predictions = ["--predictions", join(root, `wrong-${year}.csv`)];
			const { stderr } = await captured(["forecast", tuned, "--labels", wrong, ...predictions]);
			expect(stderr).toContain(`warning: ${wrong}: ${warning}`);
		}
	});

	test("numbers patients for schemas that need numbers, and writes which is which", async () => {
		for (const [schema, column] of [
			["meds", 0],
			["plp", 1],
		] as const) {
			const file = join(root, `${schema}.csv`);
			const argv = [...input(), "--predictions", file, "--predictions-schema", schema];
			const { code, stderr } = await captured(["forecast", tuned, ...argv]);
			expect({ code, stderr }).toMatchObject({ code: 0 });
			const subjects = join(root, `${schema}.subjects.csv`);
			expect(stderr).toContain(`they are numbered, and ${subjects} has the id of each number\n`);
			expect(await readFile(subjects, "utf8")).toBe("id,subject_id\nann,1\nbob,2\n");
			const [, ...rows] = (await readFile(file, "utf8")).trim().split("\n");
			expect(rows.map((row) => row.split(",")[column])).toEqual(["1", "2"]);
			const again = await captured(["forecast", tuned, ...argv]);
			expect({ code: again.code, kept: again.stderr.includes("--force") }).toEqual({
				...{ code: 2, kept: true },
			});
		}
	});

	test("writes predictions as a table", async () => {
		const file = join(root, "scores.csv");
		await done("forecast", tuned, ...input(), "--predictions", file);
		const [header, first, ...others] = (await readFile(file, "utf8")).trim().split("\n");
		expect(header).toBe("patient,date,day,probability");
		expect(first).toMatch(/^ann,2012-02-20,15390,0\.\d+$/);
		expect(others).toHaveLength(1);
		const { code, stderr } = await captured(["forecast", tuned, ...input(), "--predictions", file]);
		expect({ code, kept: stderr.includes("--force") }).toEqual({ code: 2, kept: true });
	});
});
