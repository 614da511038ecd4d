import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { openDataset } from "../../data/cohort/index.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { captured } from "./testing/captured.js";

const shared = (path: string) =>
	new URL(`../../../../shared/data/${path}`, import.meta.url).pathname;

async function simulated(...more: string[]) {
	const folder = await temporaryFolder();
	const sim = join(folder, "sim");
	const argv = ["simulate", "--patients", "40", "--out", sim, "--seed", "5", ...more];
	const simulation = await captured([...argv, "--json"]);
	return { folder, sim, out: join(folder, "dataset"), argv, simulation };
}

const dayOf = (date = "") => Date.parse(`${date}Z`) / 86_400_000;

describe("bad rows", () => {
	const table = async () => {
		const folder = await temporaryFolder();
		const file = join(folder, "claims.csv");
		const good = Array.from(
			{ length: 30 },
			(_, at) => `p${at % 10},2010-0${1 + (at % 9)}-01,401.9`,
		);
		await writeFile(
			file,
			["patient,date,icd9", ...good, "p3,,250.00", "p4,soon,250.00"].join("\n"),
		);
		return { file, out: join(folder, "data") };
	};

	test("are refused by default, and counted and named with --skip-bad", async () => {
		const { file, out } = await table();
		const argv = ["prepare", file, "--from", "csv", "--min-count", "1", "--out", out];
		const refused = await captured(argv);
		expect(refused.code).toBe(2);
		expect(refused.stderr).toContain("date is empty");
		expect(existsSync(out)).toBe(false);
		const { code, stderr, stdout } = await captured([...argv, "--skip-bad", "--json"]);
		expect(code).toBe(0);
		expect(stderr).toContain("note: 2 rows that cannot be read: left out\n");
		expect(stderr).toMatch(/note: left out: .*date is empty/);
		expect(stderr).toMatch(/note: left out: .*soon/);
		expect(JSON.parse(stdout).source.records).toBe(30);
	});

	test("a value of the sex can mean that it is unknown", async () => {
		const { file, out } = await table();
		const people = join(dirname(file), "people.csv");
		await writeFile(people, "patient,sex\np1,w\np2,d\n");
		await writeFile(file, (await readFile(file, "utf8")).split("\n").slice(0, 31).join("\n"));
		const argv = ["prepare", file, "--from", "csv", "--people", people, "--out", out];
		expect((await captured(argv)).stderr).toContain("0=female,1=male,d=unknown");
		expect((await captured([...argv, "--sex-values", "d=divers"])).stderr).toContain(
			"expected a value and female, male or unknown",
		);
		const given = await captured([...argv, "--sex-values", "d=Unknown"]);
		expect(given.stderr).not.toContain("error");
		expect(given.code).toBe(0);
	});

	test("a value of the sex has one meaning", async () => {
		const { file, out } = await table();
		const people = ["--people", file, "--sex-values", "0=male,1=female,0=female"];
		const { code, stderr } = await captured([
			"prepare",
			file,
			"--from",
			"csv",
			...people,
			"--out",
			out,
		]);
		expect(code).toBe(2);
		expect(stderr).toContain("--sex-values gives 0 two meanings; expected one");
	});
});

describe("simulate, prepare, describe", () => {
	test("work in sequence", async () => {
		const { folder, sim, out, argv, simulation } = await simulated();
		expect(simulation.code).toBe(0);
		const written = JSON.parse(simulation.stdout);
		expect(written).toMatchObject({ folder: sim, patients: 40, seed: 5, format: "csv" });
		expect((await captured(argv)).stderr).toContain("already exists; choose another folder");
		expect((await captured([...argv, "--force"])).code).toBe(0);

		const prepareArgv = ["prepare", sim, "--from", "csv", "--out", out];
		const prepared = await captured([...prepareArgv, "--json"]);
		expect(prepared.code).toBe(0);
		const manifest = JSON.parse(prepared.stdout);
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

		const again = await captured(prepareArgv);
		expect(again.code).toBe(2);
		expect(again.stderr).toContain("already exists; choose another folder, or pass --force");
		const forced = await captured([...prepareArgv, "--force"]);
		expect(forced.code).toBe(0);
		expect(forced.stdout).toContain(" diagnoses (100.0 %) mapped with built in");
		expect((await readdir(folder)).sort()).toEqual(["dataset", "sim"]);

		const described = await captured(["describe", out, "--json"]);
		expect(described.code).toBe(0);
		const summary = JSON.parse(described.stdout);
		expect(summary.manifest).toEqual(manifest);
		expect(summary.codes[0].kind).toBe("diagnosis");
		expect(summary.splits.train.patients).toBe(counts.splits.train.patients);
		expect(summary.splits.train.withBirth).toBe(counts.splits.train.patients);
	});

	test("know when people were insured, and who died", async () => {
		const { sim, out } = await simulated();
		const { stdout } = await captured(["prepare", sim, "--from", "csv", "--out", out]);
		expect(stdout).toContain(
			"\npatients are observed while their simulated insurance covers them\n",
		);
		const dataset = await openDataset(out);
		const coverage = (await readFile(join(sim, "coverage.csv"), "utf8"))
			.trim()
			.split("\n")
			.slice(1);
		const people = (await readFile(join(sim, "people.csv"), "utf8")).trim().split("\n").slice(1);
		const kept = new Set<string>();
		for (const split of ["train", "valid", "test"] as const)
			for (const patient of dataset.patients(split)) {
				const id = dataset.idOf(patient);
				kept.add(id);
				const own = coverage.map((row) => row.split(",")).filter(([of]) => of === id);
				expect(dataset.observedOf(patient)).toEqual(
					own.map(([, from, to]) => ({ start: dayOf(from), end: dayOf(to) })),
				);
			}
		const died = people.filter((row) => kept.has(row.split(",")[0] ?? "") && !row.endsWith(","));
		expect(dataset.manifest).toMatchObject({
			deaths: died.length,
			observation: { from: "simulation", patients: kept.size, recordsOutside: 0 },
		});
		expect(died.length).toBeGreaterThan(0);
		expect(stdout).toContain(`\ndeaths: ${died.length}\n`);
		const described = await captured(["describe", out]);
		expect(described.stdout).toMatch(
			new RegExp(
				`^observed: [\\d.]+ years per patient \\(median\\), [\\d,]+ years in total, ${dataset.manifest.observation.periods} periods; patients are observed while`,
				"m",
			),
		);
		expect(described.stdout).toContain(
			`\ndeaths: ${died.length}\nrecords outside observation: 0\n`,
		);
	});

	test("give the same dataset from Parquet, except for the source", async () => {
		const contents = await Promise.all(
			["csv", "parquet"].map(async (format) => {
				const { sim, out } = await simulated("--format", format);
				const { stdout } = await captured([
					"prepare",
					sim,
					"--from",
					format,
					"--out",
					out,
					"--json",
				]);
				return JSON.parse(stdout);
			}),
		);
		expect(contents[0].contentHash).toBe(contents[1].contentHash);
		expect(contents[0].labels).toEqual(contents[1].labels);
	});
});

/** Files that something is wrong with, and what is said about them. `DIR` stands for their folder. */
const claims = "patient,date,icd9\n1,2020-01-01,4019\n1,2020-02-01,25000\n";
const wrong: Record<
	string,
	{ files: Record<string, string | Buffer>; argv?: string[]; says: RegExp }
> = {
	"an empty file": { files: { "c.csv": "" }, says: /c\.csv is empty; expected/ },
	"a header alone": { files: { "c.csv": "patient,date,icd9\n" }, says: /c\.csv.*no (row|record)/ },
	"a missing column": {
		files: { "c.csv": "patient,when,icd9\n1,2020-01-01,4019\n" },
		says: /c\.csv: no column.*the time; name it with --time.*there are patient, when, icd9/,
	},
	"an unparsable date": {
		files: { "c.csv": `${claims}2,2020-13-01,4019\n` },
		says: /c\.csv.*line 4.*2020-13-01.*expected/,
	},
	"an unknown code system": {
		files: { "c.csv": "patient,date,code,system\n1,2020-01-01,x,FOO\n" },
		says: /c\.csv.*FOO.*--allow-system/,
	},
	"two birth dates": {
		files: { "c.csv": claims, "p.csv": "patient,sex,birth\n1,F,1950-01-01\n1,F,1951-01-01\n" },
		argv: ["--people", "DIR/p.csv"],
		says: /patient 1 has two birth dates, at .*p\.csv: (row|line) \d and at .*p\.csv: (row|line) \d; expected one/,
	},
	"a patient in two splits": {
		files: { "c.csv": claims, "p.csv": "patient,split\n1,train\n1,test\n" },
		argv: ["--people", "DIR/p.csv"],
		says: /patient 1 has two splits, at .*p\.csv/,
	},
	"a quote that is never closed": {
		files: { "c.csv": `${claims}2,"2020-01-01,4019\n` },
		says: /c\.csv: line 4: a quote is opened and never closed/,
	},
	"a field of very many characters": {
		files: { "c.csv.gz": gzipSync(`${claims}2,2020-01-01,${"x".repeat(50_000_000)}\n`) },
		says: /line 4 is longer than \d+ bytes/,
	},
	"corrupt gzip": {
		files: { "c.csv.gz": gzipSync(claims.repeat(99)).fill(0x55, 30, 40) },
		says: /c\.csv\.gz.*gzip/,
	},
	"gzip cut short": {
		files: { "c.csv.gz": gzipSync(claims.repeat(99)).subarray(0, 40) },
		says: /c\.csv\.gz.*gzip/,
	},
	"corrupt Parquet": {
		files: { "c.parquet": "PAR1 this is no Parquet file PAR1" },
		argv: ["--from", "parquet"],
		says: /c\.parquet.*Parquet/,
	},
	"a vocabulary that ends up empty": {
		files: { "c.csv": claims },
		argv: ["--min-count", "50"],
		says: /no code of 2 records is left/,
	},
	"an observation period that ends before it starts": {
		files: { "c.csv": claims, "o.csv": "patient,start,end\n1,2020-01-01,2019-12-31\n" },
		argv: ["--observation", "DIR/o.csv"],
		says: /o\.csv: line 2: end is "2019-12-31", before start "2020-01-01"; expected .*: correct it/,
	},
	"observation periods that overlap": {
		files: {
			"c.csv": claims,
			"o.csv": "patient,start,end\n1,2019-01-01,2020-12-31\n1,2020-06-01,2021-12-31\n",
		},
		argv: ["--observation", "DIR/o.csv"],
		says: /o\.csv: line 3: the period .* overlaps that of the same patient at .*o\.csv: line 2; expected/,
	},
	"an observation file that does not exist": {
		files: { "c.csv": claims },
		argv: ["--observation", "DIR/none.csv"],
		says: /none\.csv.*no such file/,
	},
	"a map that is none": {
		files: { "c.csv": claims, "m.csv": "a,b\n1,2\n" },
		argv: ["--phecode-map", "DIR/m.csv"],
		says: /m\.csv/,
	},
};

describe("prepare rejects", () => {
	test.each(Object.entries(wrong))("%s", async (_, { files, argv = [], says }) => {
		const folder = await temporaryFolder();
		for (const [name, content] of Object.entries(files))
			await writeFile(join(folder, name), content);
		const source = join(folder, Object.keys(files)[0] as string);
		const own = argv.map((text) => text.replace("DIR", folder));
		const usual = { "--from": "csv", "--min-records": "1", "--min-count": "1" };
		const others = Object.entries(usual).filter(([flag]) => !own.includes(flag));
		const { code, stdout, stderr } = await captured([
			...["prepare", source, ...others.flat(), ...own, "--out", join(folder, "dataset")],
		]);
		expect(stderr).toMatch(says);
		expect(stderr).not.toMatch(/duckdb|Invalid Input Error|at Object/i);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
		expect((await readdir(folder)).sort()).toEqual(Object.keys(files).sort());
	});
});

describe("prepare accepts", () => {
	test("byte order marks, Windows line ends, quotes, newlines, unordered times and repetitions", async () => {
		const folder = await temporaryFolder();
		const file = join(folder, "c.csv");
		const rows = [
			"patient,date,icd9,remark",
			'1,2020-02-01,"401.9","two\r\nlines, and a ""quote"""',
			"1,2020-01-01,25000,",
			"1,2020-02-01,401.9,",
		];
		await writeFile(file, `\ufeff${rows.join("\r\n")}\r\n`);
		const argv = ["--from", "csv", "--min-records", "1", "--min-count", "1"];
		const out = join(folder, "dataset");
		// One patient alone falls to some split; training is forced by a people file.
		await writeFile(join(folder, "p.csv"), "patient,split\n1,train\n");
		const people = ["--people", join(folder, "p.csv")];
		const { code, stdout, stderr } = await captured([
			...["prepare", file, ...argv, ...people, "--out", out, "--json"],
		]);
		expect(code).toBe(0);
		const { counts, source, splits } = JSON.parse(stdout);
		expect(counts).toMatchObject({ patients: 1, events: 3, tokens: 7 });
		expect(splits.given).toBe(1);
		expect(source.notes.join("\n")).toContain("1 events come before an earlier one");
		expect(stderr).toContain("note: 1 events repeat another of the same patient, time and code");
	});

	test("observation periods of a file, and says what it lacks without one", async () => {
		const folder = await temporaryFolder();
		const file = join(folder, "c.csv");
		await writeFile(file, `${claims}2,2020-01-01,4019\n`);
		await writeFile(join(folder, "p.csv"), "patient,split\n1,train\n2,train\n");
		await writeFile(join(folder, "o.csv"), "patient,start,end\n1,2020-01-15,2020-12-31\n");
		const prepare = (...argv: string[]) =>
			captured([
				...["prepare", file, "--from", "csv", "--people", join(folder, "p.csv")],
				...["--min-records", "1", "--min-count", "1", "--out", join(folder, "dataset"), ...argv],
			]);
		const without = await prepare();
		expect(without.stdout).toContain(
			"\nthe source does not say when patients were observed: taken as from the first to the last record of each\nno deaths are recorded: death is not a competing event in results\n",
		);
		const described = await captured(["describe", join(folder, "dataset")]);
		expect(described.stdout).toContain(
			"\nobserved: 32 days per patient (median), 33 days in total, 2 periods; the source does not say",
		);
		expect(described.stdout).toContain(
			"\nno deaths are recorded: death is not a competing event in results\n",
		);
		const given = await prepare("--force", "--observation", join(folder, "o.csv"), "--json");
		expect(JSON.parse(given.stdout)).toMatchObject({
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

	test.each([
		[["--from", "csv"], "SOURCE is missing"],
		[["x", "--from", "tea", "--out", "y"], "Allowed choices are csv, parquet, meds, omop"],
		[["x", "--from", "events", "--out", "y", "--min-count", "0"], "from 1 to 1000000000"],
		[["x", "--from", "events", "--out", "y", "--unit-days", "1"], "unknown option '--unit-days'"],
		[
			["x", "--from", "csv", "--out", "y", "--db", "postgres://z"],
			"--db does not apply to --from csv",
		],
		[["x", "--from", "csv", "--out", "y", "--memory", "lots"], "Expected 64MB to "],
		[["x", "--from", "csv", "--out", "y", "--level", "full"], "needs the official map"],
		[["x", "--from", "csv", "--out", "y", "--label", "stroke"], "expected a task and a file"],
		[["x", "--from", "csv", "--out", "y", "--label", "chf=f"], "a second time"],
		...["onset", "next", "forecast", "futures", "chf-paper"].map(
			(task) =>
				[
					["x", "--from", "csv", "--out", "y", "--label", `${task}=f`],
					`--label names "${task}"`,
				] as [string[], string],
		),
		[["x", "--from", "meds", "--out", "y", "--kinds", "labs"], "expected some of diagnosis,drug"],
		[["x", "--from", "events", "--out", "y", "--train", "z"], "choose one"],
		[["x", "y", "--from", "events", "--out", "z"], "expected one to read as events"],
	])("no bad usage: %j", async (argv, message) => {
		const out = argv.includes("--out") ? [] : ["--out", "y"];
		const { code, stderr } = await captured(["prepare", ...argv, ...out]);
		expect(stderr).toContain(message);
		expect(code).toBe(2);
	});

	test.each(["simulate", "prepare", "describe", "oracle"])(
		"%s --help has an example",
		async (name) => {
			const { code, stdout } = await captured([name, "--help"]);
			expect(code).toBe(0);
			expect(stdout).toContain(`Examples:\n  trajgpt ${name} `);
		},
	);
});

describe("prepare on real files", () => {
	const run = async (source: string | null, ...argv: string[]) => {
		const out = join(await temporaryFolder(), "dataset");
		const paths = source === null ? [] : [source];
		const result = await captured(["prepare", ...paths, ...argv, "--out", out, "--json"]);
		expect(result.stderr).not.toContain("error");
		expect(result.code).toBe(0);
		return { manifest: JSON.parse(result.stdout), out };
	};
	const all = ["--min-records", "1", "--min-count", "1"];

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
			...[mimic, "--from", "csv", "--system", "icd9", ...all],
			...["--join", shared("mimic3_demo/ADMISSIONS.csv.gz"), "--on", "hadm_id"],
			...["--people", shared("mimic3_demo/PATIENTS.csv.gz")],
			...["--drugs-file", shared("mimic3_demo/PRESCRIPTIONS.csv.gz")],
			...["--phecode-map", shared("phecode/phecode_map.csv")],
		);
		const { mapped, unmapped } = manifest.codes;
		expect([mapped, mapped + unmapped.events]).toEqual([1673, 1761]);
		expect(manifest.labels.map(({ task }: { task: string }) => task)).toEqual(["insulin", "chf"]);
		expect(manifest.labels[0]).toMatchObject({ labels: 26, positive: 26 });
	});

	const meds = shared("mimic4_demo_meds/mimic_iv_demo_meds_events.parquet");
	test.skipIf(!existsSync(meds))("MIMIC-IV as MEDS", async () => {
		const { manifest } = await run(meds, "--from", "meds", ...all);
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
		const { manifest } = await run(fhir, "--from", "fhir", ...all, "--drugs", "tokens");
		expect(manifest.source.records).toBe(40);
	});
});
