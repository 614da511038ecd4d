import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { captured, column, done, json, refusal } from "./testing/captured.js";

const shared = (path: string) =>
	new URL(`../../../../shared/data/${path}`, import.meta.url).pathname;
const few = ["--min-records", "1", "--min-count", "1"];
const claims = "patient,date,icd9\n1,2020-01-01,4019\n1,2020-02-01,25000\n";

/** A folder with files, and the dataset that is prepared there. */
async function folderOf(files: Readonly<Record<string, string | Buffer>>) {
	const folder = await temporaryFolder();
	for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
	return { folder, at: (name: string) => join(folder, name), out: join(folder, "dataset") };
}

async function simulated(...more: string[]) {
	const folder = await temporaryFolder();
	const sim = join(folder, "sim");
	const argv = ["simulate", "--patients", "40", "--out", sim, "--seed", "5", ...more];
	return { folder, sim, out: join(folder, "dataset"), argv, written: await json`${argv}` };
}

const dayOf = (date = "") => Date.parse(`${date}Z`) / 86_400_000;

describe("people and rows", () => {
	const good = Array.from(
		{ length: 30 },
		(_, at) => `p${at % 10},2010-0${1 + (at % 9)}-01,401.9\n`,
	);
	const files = {
		"c.csv": `patient,date,icd9\n${good.join("")}`,
		"bad.csv": `patient,date,icd9\n${good.join("")}p3,,250.00\np4,soon,250.00`,
		"p.csv": "patient,sex\np1,w\np2,d\n",
	};

	test("that cannot be read are refused by default, and counted and named with --skip-bad", async () => {
		const { at, out } = await folderOf(files);
		const argv = ["prepare", at("bad.csv"), "--from", "csv", "--min-count", "1", "--out", out];
		expect(await refusal`${argv}`).toContain("date is empty");
		expect(existsSync(out)).toBe(false);
		const { source, stderr } = await json`${argv} --skip-bad`;
		expect(source.records).toBe(30);
		expect(stderr).toContain("note: 2 rows that cannot be read: left out\n");
		for (const reason of [/date is empty/, /soon/])
			expect(stderr).toMatch(new RegExp(`note: left out: .*${reason.source}`));
	});

	test("may have other values of the sex, each with one meaning", async () => {
		const { at, out } = await folderOf(files);
		const argv = ["prepare", at("c.csv"), "--from", "csv", "--people", at("p.csv"), "--out", out];
		for (const [values, message] of [
			[[], "0=female,1=male,d=unknown"],
			[["--sex-values", "d=divers"], "expected a value and female, male or unknown"],
			[["--sex-values", "0=male,1=female,0=female"], "gives 0 two meanings; expected one"],
		] as const)
			expect((await captured([...argv, ...values])).stderr).toContain(message);
		const { stderr } = await done`${argv} --sex-values d=Unknown --force`;
		expect(stderr).not.toContain("error");
	});
});

describe("simulate, prepare, describe", () => {
	test("work in sequence", async () => {
		const { folder, sim, out, argv, written } = await simulated();
		expect(written).toMatchObject({ folder: sim, patients: 40, seed: 5, format: "csv" });
		expect(await refusal`${argv}`).toContain("already exists; choose another folder");
		await done`${argv} --force`;

		const prepare = ["prepare", sim, "--from", "csv", "--out", out];
		const { stderr, ...manifest } = await json`${prepare}`;
		const { counts, dropped, codes, source } = manifest;
		expect(source.records).toBe(written.records + written.prescriptions);
		expect(codes).toMatchObject({ mapped: written.records, unmapped: { events: 0 } });
		expect(counts.patients + dropped.patients.patients).toBeGreaterThan(35);
		expect(
			counts.events +
				dropped.drugs +
				dropped.patients.events +
				dropped.rareCodes.events +
				dropped.unknownCodes.events,
		).toBe(source.records);
		expect(await refusal`${prepare}`).toContain(
			"already exists; choose another folder, or pass --force",
		);
		const { stdout } = await done`${prepare} --force`;
		expect(stdout).toContain(" diagnoses (100.0 %) mapped with built in");
		expect((await readdir(folder)).sort()).toEqual(["dataset", "sim"]);

		const summary = await json`describe ${out}`;
		expect(summary.manifest).toEqual(manifest);
		expect(summary.codes[0].kind).toBe("diagnosis");
		expect(summary.splits.train.patients).toBe(counts.splits.train.patients);
		expect(summary.splits.train.withBirth).toBe(counts.splits.train.patients);
	});

	test("know when people were insured, and who died", async () => {
		const { sim, out } = await simulated();
		const { stdout } = await done`prepare ${sim} --from csv --out ${out}`;
		const rule = "patients are observed while their simulated insurance covers them";
		expect(stdout).toContain(`\n${rule}\n`);
		const dataset = await openDataset(out);
		const rowsOf = async (name: string) => {
			const [, ...rows] = (await readFile(join(sim, name), "utf8")).trim().split("\n");
			return rows.map((row) => row.split(","));
		};
		const [coverage, people] = [await rowsOf("coverage.csv"), await rowsOf("people.csv")];
		const kept = new Set<string>();
		for (const split of ["train", "valid", "test"] as const)
			for (const patient of dataset.patients(split)) {
				const id = dataset.idOf(patient);
				kept.add(id);
				expect(dataset.observedOf(patient)).toEqual(
					coverage
						.filter(([of]) => of === id)
						.map(([, from, to]) => ({ start: dayOf(from), end: dayOf(to) })),
				);
			}
		const died = people.filter((row) => kept.has(row[0] ?? "") && row.at(-1) !== "");
		expect(dataset.manifest).toMatchObject({
			deaths: died.length,
			observation: { from: "simulation", patients: kept.size, recordsOutside: 0 },
		});
		expect(died.length).toBeGreaterThan(0);
		expect(stdout).toContain(`\ndeaths: ${died.length}\n`);
		const described = await done`describe ${out}`;
		expect(described.stdout).toContain(
			`in total, ${dataset.manifest.observation.periods} periods; ${rule}\ndeaths: ${died.length}\nrecords outside observation: 0\n`,
		);
	});

	test("give the same dataset from Parquet, except for the source", async () => {
		const [csv, parquet] = await Promise.all(
			["csv", "parquet"].map(async (format) => {
				const { sim, out } = await simulated("--format", format);
				return json`prepare ${sim} --from ${format} --out ${out}`;
			}),
		);
		expect(csv.contentHash).toBe(parquet.contentHash);
		expect(csv.labels).toEqual(parquet.labels);
	});
});

describe("prepare refuses", () => {
	test.each<[what: string, files: Record<string, string | Buffer>, says: RegExp, argv?: string[]]>([
		[
			"a missing column",
			{ "c.csv": "patient,when,icd9\n1,2020-01-01,4019\n" },
			/c\.csv: no column.*the time; name it with --time.*there are patient, when, icd9/,
		],
		[
			"an unknown code system",
			{ "c.csv": "patient,date,code,system\n1,2020-01-01,x,FOO\n" },
			/c\.csv.*FOO.*--allow-system/,
		],
		[
			"a field of very many characters",
			{ "c.csv.gz": gzipSync(`${claims}2,2020-01-01,${"x".repeat(50_000_000)}\n`) },
			/line 4 is longer than \d+ bytes/,
		],
		[
			"a vocabulary that ends up empty",
			{ "c.csv": claims },
			/no code of 2 records is left/,
			["--min-count", "50"],
		],
		[
			"a map that is none",
			{ "c.csv": claims, "m.csv": "a,b\n1,2\n" },
			/m\.csv/,
			["--phecode-map", "DIR/m.csv"],
		],
	])("%s", async (_, files, says, given = []) => {
		const { folder, at, out } = await folderOf(files);
		const argv = given.map((text) => text.replace("DIR", folder));
		const usual = { "--from": "csv", "--min-records": "1", "--min-count": "1" };
		const others = Object.entries(usual).filter(([flag]) => !argv.includes(flag));
		const source = at(Object.keys(files)[0] as string);
		const message = await refusal`prepare ${source} ${others.flat()} ${argv} --out ${out}`;
		expect(message).toMatch(says);
		expect(message).not.toMatch(/duckdb|Invalid Input Error|at Object/i);
		expect((await readdir(folder)).sort()).toEqual(Object.keys(files).sort());
	});

	test.each([
		["--from csv", "SOURCE is missing"],
		["x --from tea", "Allowed choices are csv, parquet, meds, omop"],
		["x --from events --min-count 0", "from 1 to 1000000000"],
		["x --from events --unit-days 1", "unknown option '--unit-days'"],
		["x --from csv --db postgres://z", "--db does not apply to --from csv"],
		["x --from csv --memory lots", "Expected 64MB to "],
		["x --from csv --level full", "needs the official map"],
		["x --from csv --label stroke", "expected a task and a file"],
		["x --from csv --label chf=f", "a second time"],
		["x --from csv --label onset=f", '--label names "onset"'],
		["x --from csv --label chf-paper=f", '--label names "chf-paper"'],
		["x --from meds --kinds labs", "expected some of diagnosis,drug"],
		["x --from events --train z", "choose one"],
		["x z --from events", "expected one to read as events"],
	])("%s", async (argv, message) => {
		expect(await refusal`prepare ${argv.split(" ")} --out y`).toContain(message);
	});
});

describe("prepare accepts", () => {
	test("byte order marks, Windows line ends, quotes, newlines, unordered times and repetitions", async () => {
		const rows = [
			"patient,date,icd9,remark",
			'1,2020-02-01,"401.9","two\r\nlines, and a ""quote"""',
			"1,2020-01-01,25000,",
			"1,2020-02-01,401.9,",
		];
		// One patient alone falls to some split; training is forced by a people file.
		const { at, out } = await folderOf({
			"c.csv": `\ufeff${rows.join("\r\n")}\r\n`,
			"p.csv": "patient,split\n1,train\n",
		});
		const { counts, source, splits, stderr } =
			await json`prepare ${at("c.csv")} --from csv ${few} --people ${at("p.csv")} --out ${out}`;
		expect(counts).toMatchObject({ patients: 1, events: 3, tokens: 7 });
		expect(splits.given).toBe(1);
		expect(source.notes.join("\n")).toContain("1 events come before an earlier one");
		expect(stderr).toContain("note: 1 events repeat another of the same patient, time and code");
	});

	test("observation periods of a file, and says what it lacks without one", async () => {
		const { at, out } = await folderOf({
			"c.csv": `${claims}2,2020-01-01,4019\n`,
			"p.csv": "patient,split\n1,train\n2,train\n",
			"o.csv": "patient,start,end\n1,2020-01-15,2020-12-31\n",
		});
		const argv = ["prepare", at("c.csv"), "--from", "csv", "--people", at("p.csv"), ...few];
		const without = await done`${argv} --out ${out}`;
		expect(without.stdout).toContain(
			"\nthe source does not say when patients were observed: taken as from the first to the last record of each\nno deaths are recorded: death is not a competing event in results\n",
		);
		const { stdout } = await done`describe ${out}`;
		expect(stdout).toContain(
			"\nobserved: 32 days per patient (median), 33 days in total, 2 periods; the source does not say",
		);
		expect(stdout).toContain(
			"\nno deaths are recorded: death is not a competing event in results\n",
		);
		const given = await json`${argv} --out ${out} --force --observation ${at("o.csv")}`;
		expect(given).toMatchObject({
			schemaVersion: 6,
			deaths: 0,
			observation: { from: "file", periods: 1, patients: 1, recordsOutside: 2 },
		});
		for (const note of [
			"o.csv: 1 observation period of 1 patient\n",
			"note: 1 patients have no observation period: never at risk\n",
			"note: 2 records lie outside the observation of their patient: kept\n",
		])
			expect(given.stderr).toContain(note);
	});
});

describe("prepare on real files", () => {
	const run = async (...argv: string[]) => {
		const out = join(await temporaryFolder(), "dataset");
		return { manifest: await json`prepare ${argv} --out ${out}`, out };
	};

	const badges = shared("stackoverflow/all_dedup.jsonl");
	test.skipIf(!existsSync(badges))("StackOverflow, with the names of the badges", async () => {
		const names = shared("stackoverflow/badges.csv");
		const { manifest, out } = await run(badges, "--from", "events", "--names", names);
		expect(manifest.counts).toMatchObject({ patients: 4468, events: 327_487, tokens: 27 });
		const { tokens } = JSON.parse(await readFile(join(out, "vocabulary.json"), "utf8"));
		expect(tokens[5]).toMatchObject({ code: "4", name: "Popular Question", kind: "other" });
	});

	const mimic = shared("mimic3_demo/DIAGNOSES_ICD.csv.gz");
	test.skipIf(!existsSync(mimic))("MIMIC-III, with the official map", async () => {
		const { manifest } = await run(
			...[mimic, "--from", "csv", "--system", "icd9", ...few],
			...["--join", shared("mimic3_demo/ADMISSIONS.csv.gz"), "--on", "hadm_id"],
			...["--people", shared("mimic3_demo/PATIENTS.csv.gz")],
			...["--drugs-file", shared("mimic3_demo/PRESCRIPTIONS.csv.gz")],
			...["--phecode-map", shared("phecode/phecode_map.csv")],
		);
		const { mapped, unmapped } = manifest.codes;
		expect([mapped, mapped + unmapped.events]).toEqual([1673, 1761]);
		expect(column(manifest.labels, "task")).toEqual(["insulin", "chf"]);
		expect(manifest.labels[0]).toMatchObject({ labels: 26, positive: 26 });
	});

	const meds = shared("mimic4_demo_meds/mimic_iv_demo_meds_events.parquet");
	test.skipIf(!existsSync(meds))("MIMIC-IV as MEDS", async () => {
		const { manifest } = await run(meds, "--from", "meds", ...few);
		const { codes, counts, dropped, source } = manifest;
		expect(codes.mapped + codes.unmapped.events).toBe(4506);
		expect(codes.unmapped.top.length).toBe(codes.unmapped.codes);
		expect(codes.extra).toBe(33);
		const left = counts.events + codes.unmapped.events + dropped.drugs;
		expect(left + dropped.unknownCodes.events).toBe(source.records + codes.extra);
		expect(manifest.counts.patients).toBeGreaterThan(90);
	});

	const omop = shared("synpuf1k_omop");
	test.skipIf(!existsSync(omop))("SynPUF as OMOP", async () => {
		const map = join(omop, "DERIVED_concept_to_icd9.csv");
		const { manifest } = await run(omop, "--from", "omop", "--concept-map", map, "--dedup", "day");
		expect(manifest.codes.mapped).toBeGreaterThan(60_000);
		expect(manifest.counts.patients).toBeGreaterThan(900);
		expect(manifest.observation).toMatchObject({
			...{ from: "observation_period", patients: manifest.counts.patients },
			periods: manifest.counts.patients, // the file has one per person
		});
		expect(manifest.deaths).toBeGreaterThan(0);
	});

	const fhir = shared("synthea_fhir/fhir");
	test.skipIf(!existsSync(fhir))("Synthea as FHIR", async () => {
		const { manifest } = await run(fhir, "--from", "fhir", ...few, "--drugs", "tokens");
		expect(manifest.source.records).toBe(40);
	});
});
