import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { builtInMap } from "../../data/codes/index.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { readTrained } from "../../model/train/index.js";
import { loadModel } from "../../predict/library/load-model.js";
import { running } from "../server/testing/running.js";
import { captured, column, done, json, refusal } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
const file = (name: string) => join(root, name);
const files = {
	"claims.csv":
		"patient,date,icd10\nann,2010-03-01,I10\nann,2012-05-06,E119\nben,2011-01-01,I10\nben,2011-01-01,C61\nann,2011-07-01,I50.9\n",
	"people.csv": "patient,birth,sex,death\nann,1960-02-03,F,\nben,1985-01-01,M,2015-01-01\n",
	"carl.csv": "patient,date,icd10\ncarl,2011-01-01,C61\n",
	"clean.csv": "patient,date,icd10\nann,2010-03-01,I10\nann,2012-05-06,E119\n",
	"bob.csv": "patient,date,icd10\nbob,2010-03-01,I10\n",
};
beforeAll(async () => {
	({ root, run } = await clinicRun());
	for (const [name, text] of Object.entries(files)) await writeFile(file(name), text);
});

const people = () => ["--people", file("people.csv")];
const claims = () => ["forecast", run, "--input", file("claims.csv"), ...people()];
const day = (date: string) => Date.parse(date) / 86_400_000;

describe("new patients", () => {
	test("get the model's predictions, with the names of its codes", async () => {
		const { patients } = await json`${claims()} --patient ann --at 2013-05-06 --top 30`;
		const { model, config, weights, vocabulary } = readTrained(run);
		const codes = ["401", "428", "250"].map((code) => vocabulary.find(code) as number);
		const dates = ["1960-02-03", "2010-03-01", "2011-07-01", "2012-05-06"];
		const runtime = nodeRuntime({ threads: 1, purpose: "inference" });
		const predictor = model.predictor(runtime, config, weights);
		const history = {
			tokens: [specialTokens.female, ...codes],
			times: dates.map((date) => day(date)),
		};
		const { logProbabilities } = await predictor.score([history], [[day("2013-05-06")]]);
		await predictor.dispose();
		const [answer] = patients[0].answers;
		expect(answer).toMatchObject({ at: "2013-05-06", date: "2013-05-06", place: "after" });
		expect(answer.ageYears).toBeCloseTo(53.25, 2);
		expect(answer.top).toHaveLength(vocabulary.size - 5);
		for (const { code, name, probability } of answer.top) {
			const token = vocabulary.find(code) as number;
			expect(name).toBe(vocabulary.tokens[token]?.name);
			expect(probability).toBeCloseTo(Math.exp(logProbabilities[token] as number), 6);
		}
		const ranked = answer.top.map(({ probability }: { probability: number }) => probability);
		expect(ranked).toEqual([...ranked].sort((a, b) => b - a));
	});

	test("get the same predictions from every record format", async () => {
		const resources = [
			{ resourceType: "Patient", id: "ann", birthDate: "1960-02-03", gender: "female" },
			...[
				["I10", "2010-03-01"],
				["I50.9", "2011-07-01"],
				["E11.9", "2012-05-06"],
			].map(([code, onsetDateTime], at) => ({
				resourceType: "Condition",
				id: `c${at}`,
				subject: { reference: "Patient/ann" },
				onsetDateTime,
				code: { coding: [{ system: "http://hl7.org/fhir/sid/icd-10-cm", code }] },
			})),
		];
		const entry = resources.map((resource) => ({ resource }));
		const bundle = { resourceType: "Bundle", type: "collection", entry };
		await writeFile(file("bundle.json"), JSON.stringify(bundle));
		const csv = await json`${claims()} --patient ann --at +1y age:60 2011-01-01`;
		const fhir =
			await json`forecast ${run} --input ${file("bundle.json")} --at +1y,age:60 --at 2011-01-01`;
		expect(fhir.patients).toEqual(csv.patients);
		expect(column(csv.patients[0].answers, "place")).toEqual(["after", "after", "inside"]);
	});

	test("--csv writes a table of all predictions", async () => {
		const table = file("answers.csv");
		const { stdout, stderr } = await done`${claims()} --csv ${table} --top 3`;
		expect(stdout).toBe("");
		expect(stderr).toContain(`written: ${table}\n`);
		const rows = (await readFile(table, "utf8")).trim().split("\n");
		expect(rows[0]).toBe("patient,at,date,day,age_years,place,rank,code,system,name,probability");
		expect(rows).toHaveLength(1 + 2 * 3 * 3);
		expect(rows[1]).toMatch(/^ann,'\+1m,2012-06-05,15496\.4375,52\.\d+,after,1,\d{3},PheCode,/);
		expect(await refusal`${claims()} --csv ${table} --top 3`).toContain("already exists");
	});
});

describe("a cohort with bad rows, people without records and unknown codes", () => {
	const [cohort, born] = ["cohort.csv", "cohort-people.csv"];
	const asked = () => ["forecast", run, "--input", file(cohort), "--people", file(born)];
	beforeAll(async () => {
		await writeFile(
			file(cohort),
			"patient,date,icd10\nann,2010-03-01,I10\nann,2011-14-01,I10\n,2012-01-01,I10\ncarl,2011-01-01,C61\ncarl,2012-01-01,C61\nann,2012-05-06,E119\nann,2012-05-06,C61\n",
		);
		const silent = Array.from({ length: 12 }, (_, at) => `s${10 + at},1960-01-01,F\n`);
		const known = "patient,birth,sex\nann,1960-02-03,F\ncarl,19600203x,M\n";
		await writeFile(file(born), known + silent.join(""));
	});
	const problems = () => [
		`  ${file(cohort)}: line 3: date is "2011-14-01"; expected a date such as 2020-01-31, 2020-01-31 12:30:00 or 20200131, or say how dates are written, as in --date-format %d/%m/%Y`,
		`  ${file(cohort)}: line 4: patient is empty; every record needs a patient: fill it in or remove the row`,
		expect.stringMatching(/^ {2}\S+people\.csv: line 3: birth is "19600203x"; expected a date/),
		...Array.from(
			{ length: 10 },
			(_, at) => `  patient s${10 + at}: no record; a prediction needs at least one`,
		),
		"  and 2 more",
		expect.stringMatching(
			/^ {2}patient carl: 2 records, none with a code that the model knows; check/,
		),
	];

	test("is refused, with one message that names the first ten of each", async () => {
		const message = await refusal`${asked()} --at 2014-01-01`;
		expect(message.trimEnd().split("\n")).toEqual([
			`error: ${file(cohort)}: 3 rows cannot be read, 12 people have no record, 1 patient has no code that the model knows; correct them, or leave them out with --skip-bad; or read patient ann alone`,
			...problems(),
		]);
	});

	test("is predicted for without them with --skip-bad, and notes say who is left out", async () => {
		const { patients, notes, unknown, stderr } = await json`${asked()} --at 2014-01-01 --skip-bad`;
		expect(column(patients, "id")).toEqual(["ann"]);
		const skipped = notes.filter((note: string) => note.includes(": left out\n"));
		expect(skipped.map((note: string) => note.split("\n")[0])).toEqual([
			"3 rows cannot be read: left out",
			"12 people have no record: left out",
			"1 patient has no code that the model knows: left out",
		]);
		expect(skipped[1].split("\n").slice(1)).toEqual(problems().slice(3, 14));
		expect(stderr).toContain(`note: ${skipped[2]}\n`);
		expect(stderr).toContain(`\n${problems()[0]}\n`);
		expect(unknown.records).toBe(3);
		const clean = ["--input", file("clean.csv"), ...people(), "--patient", "ann"];
		expect((await json`forecast ${run} ${clean} --at 2014-01-01`).patients).toEqual(patients);
		expect(
			await refusal`forecast ${run} --input ${file("carl.csv")} --skip-bad --at +1y`,
		).toContain("model knows; nobody is left\n");
	});
});

test("patients of the run's dataset are found by their id", async () => {
	const { stdout, stderr } = await done`forecast ${run} --patient p00003`;
	expect(stderr).toMatch(/^note: p00003 is in the run's dataset, (among the patients|split )/);
	expect(stdout).toMatch(
		/\np00003: \w+, \d+ events from \S+ to \S+ \(age \S+\)\n\n\+1m: .* \+1y: .* \+5y: /,
	);
});

describe("warns about", () => {
	test("times beyond the training data and after death, and unknown codes", async () => {
		const { warnings, unknown, stderr } = await json`${claims()} --at +60y`;
		expect(unknown).toEqual({
			codes: 1,
			records: 1,
			top: [{ code: "185", system: "PheCode", records: 1 }],
		});
		expect(warnings).toEqual([
			"1 record of 1 code that the model does not know: skipped; --json names them",
			expect.stringMatching(
				/^the latest query time is 60 years after the last event \(ann\), longer than any history the model was trained on; the longest spans \d+ years$/,
			),
			expect.stringMatching(
				/^the latest query time is at the age of 112 years \(ann\); the oldest .* was \d+ years$/,
			),
			"1 query time is after the patient's death (ben first)",
		]);
		expect(stderr).toContain(`warning: ${warnings[1]}\n`);
		expect(stderr).not.toMatch(/I10|E11|C61|185/);
	});

	test("a time before the first event, which the heading marks too", async () => {
		const { stdout, stderr } =
			await done`forecast ${run} --input ${file("bob.csv")} --at 1850-01-01,-2y +1m --top 1`;
		expect(stderr).toContain(
			"warning: 2 query times are before the first event (bob first): predicted from the start of a history alone",
		);
		expect(stdout).toMatch(
			/\n1850-01-01 \(no event yet\) +-2y: 2008-02-29 \(no event yet\) +\+1m: 2010-03-31\n/,
		);
	});
});

describe("a patient without a record whose code the model knows", () => {
	const accepted =
		"check the codes and their system; accepted are ICD-9-CM and ICD-10-CM diagnoses (mapped to PheCodes), and those of PheCode";
	const noCode = "1 patient has no code that the model knows";

	describe.each([
		[
			"no record",
			[],
			"no record; a prediction needs at least one",
			"1 person has no record",
			"; or read patient ben alone",
		],
		[
			"two records",
			["C61", "Z99.99"],
			`2 records, none with a code that the model knows; ${accepted}`,
			noCode,
			"",
		],
	] as const)("%s", (name, codes, problem, count, remedy) => {
		const at = "2013-05-06";
		const born = "1960-02-03";
		const patient = { birth: born, events: codes.map((code) => ({ code, date: "2011-01-01" })) };
		const ben = { birth: born, events: [{ code: "I10", date: "2011-01-01" }] };

		test("on the command line: refused, or left out with --skip-bad", async () => {
			const records = file(`${name.replace(" ", "-")}.csv`);
			const rows = codes.map((code) => `carl,2011-01-01,${code}\n`).join("");
			await writeFile(records, `patient,date,icd10\nben,2011-01-01,I10\n${rows}`);
			await writeFile(file("born.csv"), `patient,birth\nben,${born}\ncarl,${born}\n`);
			const input = ["--input", records, "--people", file("born.csv")];
			const asked = ["forecast", run, ...input, "--at", at];
			const vectors = ["embed", run, "--what", "patients", ...input, "--out", file("v.parquet")];
			for (const argv of [asked, vectors])
				expect(await refusal`${argv}`).toBe(
					`error: ${records}: ${count}; correct them, or leave them out with --skip-bad${remedy}\n  patient carl: ${problem}\n`,
				);
			expect(await refusal`${asked} --patient carl`).toContain(
				`${count}; correct them\n  patient carl: ${problem}\n`,
			);
			expect(await refusal`${asked} --patient carl --skip-bad`).toContain(
				`${count}; nobody is left\n`,
			);
			const { patients, notes } = await json`${asked} --skip-bad`;
			expect(column(patients, "id")).toEqual(["ben"]);
			expect(notes).toContain(`${count}: left out\n  patient carl: ${problem}`);
		});

		test("in the library: refused, and still read", async () => {
			const model = await loadModel(run);
			onTestFinished(() => model.close());
			const message = `\`patient\` has ${problem}`;
			for (const answer of [
				model.forecast(patient, [at]),
				model.risk(patient, ["401"], ["1y"], { at: born }),
				model.futures(patient, "1y"),
			])
				await expect(answer).rejects.toMatchObject({
					name: "InputError",
					message,
					field: "patient",
				});
			await expect(model.embed([ben, patient])).rejects.toMatchObject({
				message: `\`patients.1\` has ${problem}`,
			});
			expect(model.read(patient)).toMatchObject({ records: codes.length });
		});

		test("over HTTP: refused, alone and in a batch; a session may begin with it", async () => {
			const trained = readTrained(run);
			const { post } = await running({ served: { ...trained, map: builtInMap(), versions: {} } });
			const refused = (field: string, message = `${field} has ${problem}`) => ({
				status: 422,
				body: { error: { field, message } },
			});
			const risk = { patient, codes: ["401"], at, from: "2012-05-06", to: at };
			expect(await post("/forecast", { patient, at: [at] })).toMatchObject(refused("patient"));
			expect(await post("/risk", risk)).toMatchObject(refused("patient"));
			expect(await post("/embed", { patient })).toMatchObject(refused("patient"));
			const batch = { patients: [ben, patient], at: [at] };
			expect(await post("/forecast/batch", batch)).toMatchObject(refused("patients.1"));
			const begun = await post("/sessions", { patient });
			expect(begun).toMatchObject({ body: { events: 0 } });
			const session = `/sessions/${begun.body.id}`;
			const asked = () => post(`${session}/forecast`, { at: [at] });
			expect((await asked()).body.error.message).toBe(`the session has ${problem}`);
			const later = { code: "C61", date: "2011-02-01" };
			await post(`${session}/events`, { events: [later] });
			expect((await asked()).body.error.message).toContain(
				`the session has ${codes.length + 1} record`,
			);
			await post(`${session}/events`, { events: [{ ...later, code: "I10" }] });
			expect((await asked()).status).toBe(200);
		});
	});
});

describe("refuses", () => {
	test.each([
		[
			"--at 1950-01-01",
			"--at 1950-01-01 lies before the birth of patient ann (1960-02-03), and of 1",
		],
		["--patient anne", 'claims.csv has no patient "anne"; it has 2, with similar ids ann'],
		["--patient-column x --format fhir", "--patient-column does not apply to --format fhir"],
		["--keep-ignored", "--keep-ignored needs --map FILE"],
	])("%j of a file", async (asked, message) => {
		expect(await refusal`${claims()} ${asked.split(" ")}`).toContain(message);
	});

	test.each([
		["", "error: no patient is named; give records of new patients"],
		["--patient q", 'data has no patient "q"; it has 60, such as p000'],
		[
			"--patient p00003 --time-column x",
			"--time-column is for a file of records; name it with --input",
		],
		[
			"--patient p00003 --skip-bad",
			"--skip-bad is for a file of records; name it with --input FILE",
		],
	])("%j of the dataset", async (asked, message) => {
		expect(await refusal`forecast ${run} ${asked.split(" ")}`).toContain(message);
	});

	test("other files, and what is not a run of this version", async () => {
		expect(await refusal`forecast ${run} --input ${root}`).toContain(
			"is a folder; name its format with --format: csv, parquet",
		);
		expect(await refusal`forecast ${run} --input ${file("people.csv")}`).toContain(
			"name it with --code-column",
		);
		expect(await refusal`forecast ${run} --input ${file("claims.csv")} --format fhir`).toMatch(
			/claims\.csv is a table in text; expected R4 bundles.*read it with --format csv\n/,
		);
		expect(await refusal`forecast ${root}`).toContain("is not a run: it has no run.json");
		const old = file("old");
		await cp(run, old, { recursive: true });
		const settings = JSON.parse(await readFile(join(old, "run.json"), "utf8"));
		await writeFile(join(old, "run.json"), JSON.stringify({ ...settings, version: 1 }));
		expect((await captured(["forecast", old, "--patient", "p00003"])).stderr).toContain(
			"was written by another version: run format 1, expected 9",
		);
	});
});
