import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
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
import { column, done, json, refusal } from "./testing/captured.js";
import { simulatedRun } from "./testing/simulated-run.js";

let root: string;
let run: string;
let tuned: string;
const file = (name: string) => join(root, name);
const quickly = ["--epochs", "1", "--threads", "1"];
const written = async (name: string, text: string) => {
	await writeFile(file(name), text);
	return file(name);
};
const linesOf = async (name: string) => (await readFile(name, "utf8")).trim().split("\n");

/** A model that was fine-tuned to the onset of diabetes: its head reads the run's own risk, too. */
beforeAll(async () => {
	root = await simulatedRun();
	run = join(root, "run");
	tuned = join(run, "tasks", "diabetes");
	await done`finetune ${run} --task diabetes ${quickly}`;
	await written(
		"claims.csv",
		"patient,date,icd9\nann,2010-03-01,401.9\nann,2011-09-15,272.4\nann,2012-02-20,278.00\nbob,2011-05-06,401.9\n",
	);
	await written("people.csv", "patient,sex,birth\nann,female,1950-06-01\nbob,male,1961-02-03\n");
});

const event = (code: string, date: string) => ({ code, system: "ICD9CM", date });
const events = [
	event("401.9", "2010-03-01"),
	event("272.4", "2011-09-15"),
	event("278.00", "2012-02-20"),
];
const ann = { sex: "female", birth: "1950-06-01", events } as const;
const diabetic = { events: [event("250.00", "2011-09-15")] };
const days = [undefined, "2011-12-31", "+1y"] as const;
const input = () => ["--input", file("claims.csv"), "--people", file("people.csv")];

const definition =
	"a first record of diabetes (PheCode 250) within 3 years, in patients without one";
const told = {
	task: "diabetes",
	definition,
	source: "built-in task diabetes",
	horizonDays: 1096,
};
const outside = "outside the definition of diabetes: has a record of diabetes (PheCode 250)";

describe("a fine-tuned model", () => {
	test("scores new patients on the command line, one by one and all at once", async () => {
		const alone = await json`risk ${tuned} --patient ann --at 2011-12-31 ${input()}`;
		expect(alone).toMatchObject({ task: "diabetes", definition, run: tuned });
		const all = await json`forecast ${tuned} --at 2011-12-31 +0d ${input()}`;
		expect(column(all.patients, "id")).toEqual(["ann", "bob"]);
		const [early, late] = all.patients[0].scores;
		expect(early.probability).toBeCloseTo(alone.patients[0].scores[0].probability, 6);
		expect(late.date).toBe("2012-02-20");
		expect(late.probability).not.toBe(early.probability);
		const { stdout } = await done`risk ${tuned} ${input()}`;
		expect(stdout).toContain(`diabetes: the probability of ${definition}\n`);
		expect(stdout).toMatch(/\nbob +2011-05-06 +50\.3 +0\.\d{4}\n/);
	});

	test("says what it predicts, where that is defined, and whom it is not about", async () => {
		const records = await written(
			"diabetic.csv",
			"patient,date,icd9\nann,2010-03-01,401.9\nann,2011-09-15,250.00\n",
		);
		const asked = ["forecast", tuned, "--input", records, "--at", "2010-12-31", "2011-12-31"];
		const { stdout, stderr } = await done`${asked}`;
		expect(stdout).toContain(`defined by: ${told.source}; horizon: 3 years\n`);
		expect(stderr).toContain(
			`warning: 1 of 2 predictions: ${outside} (ann first); the probability does not apply there\n`,
		);
		const answer = await json`${asked}`;
		expect(answer).toMatchObject(told);
		expect(column(answer.patients[0].scores, "outside")).toEqual([undefined, outside]);
		const model = await loadModel(tuned, { threads: 1 });
		expect(await model.score(diabetic)).toMatchObject({ ...told, warnings: [outside] });
		expect((await model.score(ann)).warnings).toEqual([]);
		await model.close();
	});

	test("keeps the definition of labels that tasks wrote, and of a file of labels", async () => {
		const labels = file("labels");
		await done`tasks ${file("dataset")} --task type-2-diabetes --out ${labels}`;
		const folder = join(labels, "type-2-diabetes");
		const scoringOf = async (task: string, from: string) => {
			await done`finetune ${run} --task ${task} --labels ${from} ${quickly}`;
			return readModel(join(run, "tasks", task)).task?.scoring;
		};
		expect(await scoringOf("t2d", folder)).toMatchObject({
			definition:
				"first record of type 2 diabetes within a year, predicted one year after the first diagnosis",
			source: "ready task type-2-diabetes",
			horizonDays: 365,
			outside: { if: "recorded", what: expect.stringContaining("(PheCode 250)") },
		});
		const alone = file("alone.parquet");
		await cp(join(folder, "labels.parquet"), alone);
		const scoring = await scoringOf("alone", alone);
		expect(scoring).toMatchObject({
			definition: "a positive label of task alone, as its labels define it",
			source: "labels file alone.parquet",
		});
		expect(scoring?.outside).toBeUndefined();
		await rm(join(run, "tasks", "alone", "scoring.json"));
		expect(await refusal`risk ${join(run, "tasks", "alone")} ${input()}`).toContain(
			`trajgpt finetune ${run} --task alone --labels ${alone} --resume`,
		);
		const { stdout } =
			await done`evaluate ${run} --task untuned --labels ${alone} --draws 20 --threads 1 --split train`;
		expect(stdout).toContain(
			`not fine-tuned: run \`trajgpt finetune ${run} --task untuned --labels ${alone}\``,
		);
	});

	test("gives the same probability in the library, over HTTP and from an export", async () => {
		const at = days.map((day) => day ?? "+0d");
		const { patients } = await json`forecast ${tuned} --patient ann --at ${at} ${input()}`;
		const expected = column(patients[0].scores, "probability") as number[];
		expect(new Set(expected).size).toBe(3);
		const near = (probabilities: readonly number[]) => {
			expect(probabilities).toHaveLength(expected.length);
			for (const [i, probability] of probabilities.entries())
				expect(Math.abs(probability - (expected[i] as number))).toBeLessThan(1e-5);
		};
		const out = file("export");
		await done`export ${tuned} --out ${out}`;
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
			host: "127.0.0.1",
			port: 0,
			explorer: chromiumIsThere,
			log: noLog,
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
		near(column(answers, "probability"));
		expect(answers[0]).toMatchObject({ ...told, events: 3, warnings: [] });
		expect((await post({ patient: diabetic })).warnings).toContain(outside);
		const described = await jsonIn(await fetch(new URL("/api/v2/model", service.url)));
		expect(described.task).toMatchObject({ task: "diabetes", definition });
		if (!chromiumIsThere) return service.close();
		await cp(builtLibrary, join(out, "trajgpt"), { recursive: true });
		const server = await serveFolder(out, { isolated: false });
		const browser = await openBrowser();
		try {
			const { page, faults } = await watchedPage(browser, server.url);
			await page.goto(`${server.url}example.html`);
			const probabilities = (await page.evaluate(`(async () => {
				const { loadModel } = await import(new URL("./trajgpt/trajgpt.js", location.href).href);
				const model = await loadModel("./");
				const scores = [];
				for (const at of ${JSON.stringify(days.map((day) => day ?? null))})
					scores.push(await model.score(${JSON.stringify(ann)}, at === null ? {} : { at }));
				return scores.map(({ probability }) => probability);
			})()`)) as number[];
			expect(faults).toEqual([]);
			near(probabilities);
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

	test("keeps the regression that it starts from, and the gain that its validation labels give", async () => {
		const dataset = await openDataset(file("dataset"));
		const { labels } = await taskLabels(dataset, "diabetes");
		const task = readTask(run, "diabetes") as NonNullable<ReturnType<typeof readTask>>;
		const sets = {
			train: labelSetOf(dataset, labels, "train"),
			valid: labelSetOf(dataset, labels, "valid"),
		};
		const runtime = nodeRuntime({ threads: 1 });
		const scoring = await fitScoring(runtime, readTrained(run), dataset, task, sets);
		const kept = readModel(tuned).task?.scoring;
		expect(kept?.gain).toBeCloseTo(scoring.gain, 3);
		const [coefficients, expected] = [kept, scoring].map((one) => one?.regression?.coefficients);
		expect(coefficients).toHaveLength(expected!.length);
		for (const [column, coefficient] of coefficients!.entries())
			expect(coefficient).toBeCloseTo(expected![column]!, 3);
		const others = { gain: 0, regression: 0 };
		expect({ ...kept, ...others }).toEqual({ ...scoring, ...others });
		expect(kept?.risk?.horizonDays).toBe(1096);
	});

	test("refuses what it has no use for, and a run refuses to score", async () => {
		expect(await refusal`risk ${tuned} --patient p000012 --code 428`).toContain(
			`--code has no effect on ${tuned}, which scores its own label; leave it out, or give the run: ${run}`,
		);
		expect(await refusal`forecast ${tuned} ${input()} --top 3`).toContain("--top has no effect");
		expect(await refusal`evaluate ${tuned}`).toContain("is not a run");
		const meds = ["--predictions", file("meds.parquet"), "--predictions-schema", "meds"];
		expect(await refusal`forecast ${run} ${input()} ${meds}`).toContain(
			`give a fine-tuned model: ${run}/tasks/TASK`,
		);
		await expect(readFile(file("meds.parquet"))).rejects.toThrow("ENOENT");
		const model = await loadModel(run, { threads: 1 });
		expect(model.task).toBeNull();
		await expect(model.score(ann)).rejects.toThrow("was not fine-tuned to a task");
		await model.close();

		const scoring = join(tuned, "scoring.json");
		const text = await readFile(scoring, "utf8");
		await writeFile(scoring, text.replace(/"gain": .*/, '"gain": 1.5,'));
		expect(await refusal`risk ${tuned} ${input()}`).toContain(
			"scoring.json was changed since it was written",
		);
		await rm(scoring);
		const unfinished = await refusal`risk ${tuned} ${input()}`;
		expect(unfinished).toContain("cannot score patients yet");
		expect(unfinished).toContain(`trajgpt finetune ${run} --task diabetes --resume`);
		await done`finetune ${run} --task diabetes --resume --threads 1`;
		expect(await readFile(scoring, "utf8")).toBe(text);
	});
});

describe("predictions", () => {
	let labels: string;
	let splits: string;
	/** Two test patients and one for training, by id, and the day of a record of the first. */
	let people: { readonly first: string; readonly second: string; readonly trained: string };
	let date: string;
	beforeAll(async () => {
		const dataset = await openDataset(file("dataset"));
		const [first, second] = dataset.patients("test") as unknown as [number, number];
		const [trained] = dataset.patients("train") as unknown as [number];
		people = {
			first: dataset.idOf(first),
			second: dataset.idOf(second),
			trained: dataset.idOf(trained),
		};
		const { times, birthEvents } = await dataset.read(first);
		const day = Math.floor(times[birthEvents + 3] as number);
		date = new Date(day * 86_400_000).toISOString().slice(0, 10);
		labels = await written(
			"given.csv",
			`patient,date,value\n${people.first},${date},1\n${people.trained},2015-01-01,0\nstranger,2015-01-01,0\n`,
		);
		splits = await written(
			"splits.csv",
			`patient,split\n${people.first},test\n${people.trained},train\nstranger,held_out\n`,
		);
	});

	test("of given labels are from the records up to their time", async () => {
		const predicted = async (name: string, ...more: string[]) => {
			await done`forecast ${tuned} --labels ${labels} --predictions ${file(name)} ${more}`;
			return (await linesOf(file(name))).slice(1).map((row) => row.split(","));
		};
		const all = await predicted("all.csv");
		const { first, trained } = people;
		expect(all.map(([patient]) => patient).sort()).toEqual([first, trained, "stranger"].sort());
		const mine = all.find(([patient]) => patient === first) as string[];
		expect(mine[3]).toBe("true");
		const alone = await json`forecast ${tuned} --patient ${first} --at ${date}`;
		const { probability } = alone.patients[0].scores[0];
		expect(Number(mine[4]) / probability).toBeCloseTo(1, 4);
		const ofTest = await predicted("test.csv", "--split", "test");
		expect(ofTest.map((row) => row.slice(0, 4))).toEqual([mine.slice(0, 4)]);
		expect(Number(ofTest[0]?.[4]) / probability).toBeCloseTo(1, 4);
		const named = await predicted("named.csv", "--split", "test", "--splits-from", splits);
		expect(named.map(([patient]) => patient)).toEqual([first, "stranger"]);
	});

	test("of labels are refused with other questions", async () => {
		const asked = ["forecast", tuned, "--labels", labels];
		const output = ["--predictions", file("x.csv")];
		expect(await refusal`${asked}`).toContain("--labels needs --predictions");
		expect(await refusal`${asked} --at +1y`).toContain("--at does not go with --labels");
		expect(await refusal`forecast ${tuned} --split test`).toContain(
			"--split and --splits-from are for --labels",
		);
		expect(await refusal`${asked} --skip-bad ${output}`).toContain(
			"--skip-bad is for a file of records; name it with --input FILE",
		);
		expect(await refusal`${asked} --splits-from ${splits} ${output}`).toContain(
			"--splits-from needs --split",
		);
		expect(await refusal`forecast ${run} --labels ${labels} ${output}`).toContain(
			"was not fine-tuned to a task",
		);
	});

	test.each([
		["1900", "2 of 2 labels lie before the first record of their patient: check their times"],
		["2200", "all 2 labels lie after the last record of everybody, by more than a year, and see"],
	])("of labels in %s have a warning", async (year, warning) => {
		const { first, second } = people;
		const rows = [first, second].map((id) => `${id},${year}-01-01,1\n`);
		const wrong = await written(`wrong-${year}.csv`, `patient,date,value\n${rows.join("")}`);
		const output = ["--predictions", file(`predicted-${year}.csv`)];
		const { stderr } = await done`forecast ${tuned} --labels ${wrong} ${output}`;
		expect(stderr).toContain(`warning: ${wrong}: ${warning}`);
	});

	test.each([
		["meds", 0],
		["plp", 1],
	])("in schema %s number the patients, and a file says which is which", async (schema, at) => {
		const output = ["--predictions", file(`${schema}.csv`), "--predictions-schema", schema];
		const { stderr } = await done`forecast ${tuned} ${input()} ${output}`;
		const subjects = file(`${schema}.subjects.csv`);
		expect(stderr).toContain(`they are numbered, and ${subjects} has the id of each number\n`);
		expect(await linesOf(subjects)).toEqual(["id,subject_id", "ann,1", "bob,2"]);
		const [, ...rows] = await linesOf(file(`${schema}.csv`));
		expect(rows.map((row) => row.split(",")[at])).toEqual(["1", "2"]);
		expect(await refusal`forecast ${tuned} ${input()} ${output}`).toContain("--force");
	});

	test("of new patients are a table", async () => {
		const output = ["--predictions", file("scores.csv")];
		await done`forecast ${tuned} ${input()} ${output}`;
		const [header, first, ...others] = await linesOf(file("scores.csv"));
		expect(header).toBe("patient,date,day,probability");
		expect(first).toMatch(/^ann,2012-02-20,15390,0\.\d+$/);
		expect(others).toHaveLength(1);
		expect(await refusal`forecast ${tuned} ${input()} ${output}`).toContain("--force");
	});
});
