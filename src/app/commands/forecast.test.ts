import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { builtInMap } from "../../data/codes/index.js";
import { specialTokens } from "../../data/cohort/vocabulary.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { readTrained } from "../../model/train/index.js";
import { loadModel } from "../../predict/library/load-model.js";
import { running } from "../server/testing/running.js";
import { captured } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
const file = (name: string) => join(root, name);
beforeAll(async () => {
	({ root, run } = await clinicRun({ map: builtInMap() }));
	await writeFile(
		file("claims.csv"),
		"patient,date,icd10\nann,2010-03-01,I10\nann,2012-05-06,E119\nben,2011-01-01,I10\nben,2011-01-01,C61\nann,2011-07-01,I50.9\n",
	);
	await writeFile(file("carl.csv"), "patient,date,icd10\ncarl,2011-01-01,C61\n");
	await writeFile(
		file("people.csv"),
		"patient,birth,sex,death\nann,1960-02-03,F,\nben,1985-01-01,M,2015-01-01\n",
	);
});
afterAll(() => rm(root, { recursive: true }));

const claims = () => [
	"forecast",
	run,
	"--input",
	file("claims.csv"),
	"--people",
	file("people.csv"),
];
const json = async (...args: string[]) => {
	const { code, stdout, stderr } = await captured([...args, "--json"]);
	expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
	return { ...JSON.parse(stdout), stderr };
};
const day = (date: string) => Date.parse(date) / 86_400_000;

describe("new patients", () => {
	test("get the model's predictions, with the names of its codes", async () => {
		const { patients } = await json(
			...claims(),
			"--patient",
			"ann",
			"--at",
			"2013-05-06",
			"--top",
			"30",
		);
		const { model, config, weights, vocabulary } = readTrained(run);
		const codes = ["401", "428", "250"].map((code) => vocabulary.find(code) as number);
		const dates = ["1960-02-03", "2010-03-01", "2011-07-01", "2012-05-06"];
		const predictor = model.predictor(
			nodeRuntime({ threads: 1, purpose: "inference" }),
			config,
			weights,
		);
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
				...{ resourceType: "Condition", id: `c${at}`, subject: { reference: "Patient/ann" } },
				...{
					onsetDateTime,
					code: { coding: [{ system: "http://hl7.org/fhir/sid/icd-10-cm", code }] },
				},
			})),
		];
		const bundle = {
			resourceType: "Bundle",
			type: "collection",
			entry: resources.map((resource) => ({ resource })),
		};
		await writeFile(file("bundle.json"), JSON.stringify(bundle));
		const [csv, fhir] = [
			await json(...claims(), "--patient", "ann", "--at", "+1y", "age:60", "2011-01-01"),
			await json(
				"forecast",
				run,
				"--input",
				file("bundle.json"),
				"--at",
				"+1y,age:60",
				"--at",
				"2011-01-01",
			),
		];
		expect(fhir.patients).toEqual(csv.patients);
		expect(csv.patients[0].answers.map((answer: { place: string }) => answer.place)).toEqual([
			"after",
			"after",
			"inside",
		]);
	});

	test("are all listed under their ids", async () => {
		const { code, stdout } = await captured([...claims(), "--top", "2", "--at", "2014-01-01"]);
		expect(code).toBe(0);
		const lines = stdout.split("\n");
		expect(lines[0]).toBe("If something is recorded then, what is it?");
		expect(lines[2]).toBe("ann: female, 3 events from 2010-03-01 to 2012-05-06 (age 52.3)");
		expect(lines[4]).toBe("2014-01-01, age 53.9");
		expect(lines[5]).toMatch(/^\d{3} .+ {2}\d+\.\d %$/);
		expect(lines.slice(7, 9)).toEqual(["", ""]);
		expect(lines[9]).toMatch(/^ben: male, 1 event/);
	});

	test("have headings above their own column", async () => {
		const times = ["--at", "2014-01-01", "age:70", "+1m", "+1y"];
		const { stdout } = await captured([...claims(), "--patient", "ann", "--top", "1", ...times]);
		const [, , , , heading = "", row = "", , fourth] = stdout.split("\n");
		expect(heading).toMatch(
			/^2014-01-01, age 53\.9 +2030-02-02, age 70\.0 +\+1m: 2012-06-05, age 52\.3$/,
		);
		const second = heading.indexOf("2030");
		expect(row.slice(second - 2, second)).toBe("  ");
		expect(row.slice(second)).toMatch(/^\d{3} /);
		expect(fourth).toBe("+1y: 2013-05-06, age 53.3");
	});

	test("--csv writes a table of all predictions", async () => {
		const table = file("answers.csv");
		const args = [...claims(), "--csv", table, "--top", "3"];
		const { code, stdout, stderr } = await captured(args);
		expect([code, stdout]).toEqual([0, ""]);
		expect(stderr).toContain(`written: ${table}\n`);
		const rows = (await readFile(table, "utf8")).trim().split("\n");
		expect(rows[0]).toBe("patient,at,date,day,age_years,place,rank,code,system,name,probability");
		expect(rows).toHaveLength(1 + 2 * 3 * 3);
		expect(rows[1]).toMatch(/^ann,'\+1m,2012-06-05,15496\.4375,52\.\d+,after,1,\d{3},PheCode,/);
		expect((await captured(args)).stderr).toContain("already exists");
	});
});

describe("a cohort with bad rows, people without records and unknown codes", () => {
	const cohort = (...more: string[]) => [
		...["forecast", run, "--input", file("cohort.csv"), "--people", file("cohort-people.csv")],
		...["--at", "2014-01-01", ...more],
	];
	beforeAll(async () => {
		const rows = [
			...["ann,2010-03-01,I10", "ann,2011-14-01,I10", ",2012-01-01,I10", "carl,2011-01-01,C61"],
			...["carl,2012-01-01,C61", "ann,2012-05-06,E119", "ann,2012-05-06,C61"],
		];
		await writeFile(file("cohort.csv"), `patient,date,icd10\n${rows.join("\n")}\n`);
		const silent = Array.from({ length: 12 }, (_, at) => `s${10 + at},1960-01-01,F`);
		await writeFile(
			file("cohort-people.csv"),
			`patient,birth,sex\nann,1960-02-03,F\ncarl,19600203x,M\n${silent.join("\n")}\n`,
		);
	});
	const lines = () => [
		`  ${file("cohort.csv")}: line 3: date is "2011-14-01"; expected a date such as 2020-01-31, 2020-01-31 12:30:00 or 20200131, or say how dates are written, as in --date-format %d/%m/%Y`,
		`  ${file("cohort.csv")}: line 4: patient is empty; every record needs a patient: fill it in or remove the row`,
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
		const { code, stdout, stderr } = await captured(cohort());
		expect([code, stdout]).toEqual([2, ""]);
		expect(stderr.trimEnd().split("\n")).toEqual([
			`error: ${file("cohort.csv")}: 3 rows cannot be read, 12 people have no record, 1 patient has no code that the model knows; correct them, or leave them out with --skip-bad; or read patient ann alone`,
			...lines(),
		]);
	});

	test("is predicted for without them with --skip-bad, and notes say who is left out", async () => {
		const { code, stdout, stderr } = await captured(cohort("--skip-bad", "--json"));
		expect(code).toBe(0);
		const { patients, notes, unknown } = JSON.parse(stdout);
		expect(patients.map(({ id }: { id: string }) => id)).toEqual(["ann"]);
		const told = lines();
		const skipped = notes.filter((note: string) => note.includes(": left out\n"));
		expect(skipped.map((note: string) => note.split("\n")[0])).toEqual([
			"3 rows cannot be read: left out",
			"12 people have no record: left out",
			"1 patient has no code that the model knows: left out",
		]);
		expect(skipped[1].split("\n").slice(1)).toEqual(told.slice(3, 14));
		expect(stderr).toContain(`note: ${skipped[2]}\n`);
		expect(stderr).toContain(`\n${told[0]}\n`);
		expect(unknown.records).toBe(3);
		await writeFile(
			file("clean.csv"),
			"patient,date,icd10\nann,2010-03-01,I10\nann,2012-05-06,E119\n",
		);
		const clean = [
			"--input",
			file("clean.csv"),
			"--people",
			file("people.csv"),
			"--patient",
			"ann",
		];
		const alone = await json("forecast", run, ...clean, "--at", "2014-01-01");
		expect(patients).toEqual(alone.patients);
	});

	test("is refused if nobody is left", async () => {
		const { code, stderr } = await captured([
			...["forecast", run, "--input", file("carl.csv"), "--skip-bad", "--at", "+1y"],
		]);
		expect([code, stderr]).toEqual([2, expect.stringContaining("model knows; nobody is left\n")]);
	});
});

describe("methods", () => {
	const sampled = (...more: string[]) =>
		json(...claims(), "--method", "sampled", "--samples", "20", ...more);

	test("sampled futures depend on their seed, not on other patients", async () => {
		const all = await sampled("--at", "+3y", "+1y");
		expect(all).toMatchObject({ method: "sampled", samples: 20, seed: 0 });
		expect((await sampled("--at", "+3y", "+1y", "--patient", "ben")).patients).toEqual([
			all.patients[1],
		]);
		expect((await sampled("--at", "+3y", "+1y", "--seed", "1")).patients).not.toEqual(all.patients);
		for (const { answers } of all.patients)
			for (const { top } of answers)
				for (const { probability } of top) expect((20 * probability) % 1).toBeCloseTo(0, 9);
	});

	test("equal steps feed predictions back, starting at the last event", async () => {
		const ask = (method: string) =>
			json(...claims(), "--method", method, "--at", "+60d", "--top", "40");
		const [steps, direct] = [await ask("auto-regressive"), await ask("time-specific")];
		expect(steps.patients[0].answers[0].top).toHaveLength(30);
		expect(steps.patients[0].answers).not.toEqual(direct.patients[0].answers);
		const { code, stderr } = await captured([
			...claims(),
			"--method",
			"auto-regressive",
			"--at",
			"2011-06-01",
		]);
		expect(code).toBe(2);
		expect(stderr).toContain(
			"starts at the last event, and a time of --at is not after that of patient ann",
		);
	});
});

describe("patients of the run's dataset", () => {
	test("are found by their id, without an input file", async () => {
		const { code, stdout, stderr } = await captured(["forecast", run, "--patient", "p00003"]);
		expect(code).toBe(0);
		expect(stderr).toMatch(/^note: p00003 is in the run's dataset, (among the patients|split )/);
		expect(stdout).toMatch(
			/\np00003: \w+, \d+ events from \S+ to \S+ \(age \S+\)\n\n\+1m: .* \+1y: .* \+5y: /,
		);
	});

	test("require --patient", async () => {
		const { code, stderr } = await captured(["forecast", run]);
		expect(code).toBe(2);
		expect(stderr).toMatch(/^error: no patient is named; .* with --patient, such as p\d{5}/);
	});
});

describe("warns about", () => {
	test("times beyond the training data and after death, and unknown codes", async () => {
		const { warnings, unknown, stderr } = await json(...claims(), "--at", "+60y");
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
		await writeFile(file("bob.csv"), "patient,date,icd10\nbob,2010-03-01,I10\n");
		const asked = ["forecast", run, "--input", file("bob.csv"), "--at", "1850-01-01,-2y", "+1m"];
		const { code, stdout, stderr } = await captured([...asked, "--top", "1"]);
		expect(code).toBe(0);
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
	const cases: Record<
		string,
		{ readonly codes: readonly string[]; readonly problem: string; readonly count: string }
	> = {
		"no record": {
			codes: [],
			problem: "no record; a prediction needs at least one",
			count: "1 person has no record",
		},
		"one record": {
			codes: ["C61"],
			problem: `1 record, none with a code that the model knows; ${accepted}`,
			count: "1 patient has no code that the model knows",
		},
		"two records": {
			codes: ["C61", "Z99.99"],
			problem: `2 records, none with a code that the model knows; ${accepted}`,
			count: "1 patient has no code that the model knows",
		},
	};

	describe.each(Object.entries(cases))("%s", (name, { codes, problem, count }) => {
		const at = ["2013-05-06"];
		const born = "1960-02-03";
		const patient = { birth: born, events: codes.map((code) => ({ code, date: "2011-01-01" })) };
		const ben = { birth: born, events: [{ code: "I10", date: "2011-01-01" }] };

		test("on the command line: refused, or left out with --skip-bad", async () => {
			const stem = name.replace(" ", "-");
			const rows = codes.map((code) => `carl,2011-01-01,${code}\n`).join("");
			await writeFile(file(`${stem}.csv`), `patient,date,icd10\nben,2011-01-01,I10\n${rows}`);
			await writeFile(file(`${stem}-born.csv`), `patient,birth\nben,${born}\ncarl,${born}\n`);
			const input = ["--input", file(`${stem}.csv`), "--people", file(`${stem}-born.csv`)];
			const asked = ["forecast", run, ...input, "--at", ...at];
			const refused = `error: ${file(`${stem}.csv`)}: ${count}; correct them, or leave them out with --skip-bad${codes.length === 0 ? "; or read patient ben alone" : ""}\n  patient carl: ${problem}\n`;
			const named = await captured([...asked, "--patient", "carl"]);
			expect(named.stderr).toContain(`${count}; correct them\n  patient carl: ${problem}\n`);
			for (const argv of [
				asked,
				["embed", run, "--what", "patients", ...input, "--out", file("none.parquet")],
			])
				expect(await captured(argv)).toEqual({ code: 2, stdout: "", stderr: refused });
			expect(await captured([...asked, "--patient", "carl", "--skip-bad"])).toMatchObject({
				...{ code: 2, stderr: expect.stringContaining(`${count}; nobody is left\n`) },
			});
			const { patients, notes } = await json(...asked, "--skip-bad");
			expect(patients.map(({ id }: { id: string }) => id)).toEqual(["ben"]);
			expect(notes).toContain(`${count}: left out\n  patient carl: ${problem}`);
		});

		test("in the library: refused, and still read", async () => {
			const model = await loadModel(run);
			onTestFinished(() => model.close());
			const refusal = {
				name: "InputError",
				message: `\`patient\` has ${problem}`,
				field: "patient",
			};
			await expect(model.forecast(patient, at)).rejects.toMatchObject(refusal);
			await expect(model.risk(patient, ["401"], ["1y"], { at: born })).rejects.toMatchObject(
				refusal,
			);
			await expect(model.futures(patient, "1y")).rejects.toMatchObject(refusal);
			await expect(model.embed([ben, patient])).rejects.toMatchObject({
				message: `\`patients.1\` has ${problem}`,
			});
			expect(model.read(patient)).toMatchObject({ records: codes.length });
		});

		test("over HTTP: refused, alone and in a batch; a session may begin with it", async () => {
			const trained = readTrained(run);
			const served = { ...trained, map: builtInMap(), versions: {} };
			const { post } = await running({ served });
			const refusal = { status: 422, field: "patient", message: `patient has ${problem}` };
			for (const [path, body] of [
				["/forecast", { patient, at }],
				["/risk", { patient, codes: ["401"], at: at[0], from: "2012-05-06", to: at[0] }],
				["/embed", { patient }],
			] as const)
				expect(await post(path, body)).toMatchObject({ status: 422, body: { error: refusal } });
			expect(await post("/forecast/batch", { patients: [ben, patient], at })).toMatchObject({
				status: 422,
				body: {
					error: { patient: 1, field: "patients.1", message: `patients.1 has ${problem}` },
				},
			});
			const begun = await post("/sessions", { patient });
			expect(begun).toMatchObject({ body: { events: 0 } });
			const session = `/sessions/${begun.body.id}`;
			expect(await post(`${session}/forecast`, { at })).toMatchObject({
				status: 422,
				body: { error: { message: `the session has ${problem}` } },
			});
			const later = { code: "C61", date: "2011-02-01" };
			await post(`${session}/events`, { events: [later] });
			expect((await post(`${session}/forecast`, { at })).body.error.message).toContain(
				`the session has ${codes.length + 1} record`,
			);
			await post(`${session}/events`, { events: [{ ...later, code: "I10" }] });
			expect((await post(`${session}/forecast`, { at })).status).toBe(200);
		});
	});
});

describe("rejects, with exit code 2", () => {
	const cases: Record<string, readonly [args: () => string[], message: RegExp]> = {
		"a time before birth": [
			() => [...claims(), "--at", "1950-01-01"],
			/--at 1950-01-01 lies before the birth of patient ann \(1960-02-03\), and of 1 others of 2/,
		],
		"an unknown patient": [
			() => [...claims(), "--patient", "anne"],
			/claims\.csv has no patient "anne"; it has 2, with similar ids ann/,
		],
		"an unknown patient of the dataset": [
			() => ["forecast", run, "--patient", "q"],
			/data has no patient "q"; it has 60, such as p000/,
		],
		"a file of another format": [
			() => ["forecast", run, "--input", file("claims.csv"), "--format", "fhir"],
			/claims\.csv is a table in text; expected R4 bundles.*read it with --format csv\n/,
		],
		"a format that cannot be guessed": [
			() => ["forecast", run, "--input", root],
			/is a folder; name its format with --format: csv, parquet/,
		],
		"an option of another format, under the name it has here": [
			() => [...claims(), "--patient-column", "x", "--format", "fhir"],
			/--patient-column does not apply to --format fhir/,
		],
		"an option for files without a file": [
			() => ["forecast", run, "--patient", "p00003", "--time-column", "x"],
			/--time-column is for a file of records; name it with --input FILE/,
		],
		"a column that is missing, by the option that names it here": [
			() => ["forecast", run, "--input", file("people.csv")],
			/name it with --code-column/,
		],
		"--skip-bad without a file": [
			() => ["forecast", run, "--patient", "p00003", "--skip-bad"],
			/--skip-bad is for a file of records; name it with --input FILE/,
		],
		"a map that is not the dataset's": [
			() => [...claims(), "--keep-ignored"],
			/--keep-ignored needs --map FILE/,
		],
		"a folder that is no run": [() => ["forecast", root], /is not a run: it has no run\.json/],
	};
	for (const [name, [args, message]] of Object.entries(cases))
		test(name, async () => {
			const { code, stdout, stderr } = await captured(args());
			expect(stderr).toMatch(message);
			expect([code, stdout]).toEqual([2, ""]);
		});

	test("a run of another version", async () => {
		const old = file("old");
		await cp(run, old, { recursive: true });
		const settings = JSON.parse(await readFile(join(old, "run.json"), "utf8"));
		await writeFile(join(old, "run.json"), JSON.stringify({ ...settings, version: 1 }));
		const { code, stderr } = await captured(["forecast", old, "--patient", "p00003"]);
		expect(code).toBe(2);
		expect(stderr).toContain("was written by another version: run format 1, expected 7");
	});
});
