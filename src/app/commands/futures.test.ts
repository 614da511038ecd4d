import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { beforeAll, describe, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { openMeds } from "../../data/records/index.js";
import { load } from "../../data/records/testing/load.js";
import { readTrained } from "../../model/train/index.js";
import { drawFutures } from "../../predict/trained/futures.js";
import { done, json, refusal, words } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";
import { runBuilt } from "./testing/run-built.js";
import { simulatedRun } from "./testing/simulated-run.js";

let root: string;
let run: string;
const file = (name: string) => join(root, name);
beforeAll(async () => {
	({ root, run } = await clinicRun());
	await writeFile(
		file("ann.csv"),
		"patient,date,icd10\nann,2010-03-01,I10\nann,2011-07-01,I50.9\nann,2012-05-06,E119\n",
	);
	await writeFile(file("people.csv"), "patient,birth,sex\nann,1960-02-03,female\n");
});

const ann = (...more: string[]) => [
	...["futures", run, "--input", file("ann.csv"), "--people", file("people.csv")],
	...(more.includes("--samples") ? more : ["--samples", "40", ...more]),
];
interface FutureJson {
	readonly death: { readonly date: string } | null;
	readonly records: readonly { readonly date: string; readonly code: string }[];
}

describe("futures", () => {
	test("are refused beside people without records, and drawn without them with --skip-bad", async () => {
		await writeFile(file("more.csv"), "patient,birth,sex\nann,1960-02-03,female\nzoe,,female\n");
		const both = words`futures ${run} --input ${file("ann.csv")} --people ${file("more.csv")} --samples 40`;
		expect(await refusal`${both} --json`).toContain(
			"1 person has no record; correct them, or leave them out",
		);
		const { futures, stderr } = await json`${both} --skip-bad`;
		expect(stderr).toContain("  patient zoe: no record; a prediction needs at least one\n");
		expect(futures).toEqual((await json(ann())).futures);
	});

	test("are the same with the same seed, and follow the index day", async () => {
		const read = (...more: string[]) => json(ann("--years", "2", ...more));
		const one = await read("--at", "2011-08-01", "--seed", "3");
		expect(await read("--at", "2011-08-01", "--seed", "3")).toEqual(one);
		expect((await read("--at", "2011-08-01")).futures).not.toEqual(one.futures);
		expect(one).toMatchObject({ samples: 40, days: 731, index: { date: "2011-08-01" } });
		const dates = (one.futures as FutureJson[]).flatMap(({ records }) =>
			records.map(({ date }) => date),
		);
		expect(dates.every((date) => date > "2011-08-01" && date <= "2013-08-01")).toBe(true);
		expect(one.newCodes.every(({ code }: { code: string }) => code !== "428")).toBe(true);
	});

	test("are written as a table and as MEDS, one subject per future", async () => {
		const [csv, meds] = [file("futures.csv"), file("meds")];
		const made = await json(ann("--output", csv, "--meds", meds));
		expect(made.stderr).toContain(`written: ${csv}\nwritten: ${meds}\n`);
		const futures = made.futures as FutureJson[];
		const records = futures.flatMap((future) => future.records);
		const deaths = futures.filter(({ death }) => death !== null);
		const [header, ...lines] = (await readFile(csv, "utf8")).trimEnd().split("\n");
		expect(header).toBe("patient,future,date,day,code,system,name");
		expect(lines).toHaveLength(records.length + deaths.length);
		const { records: rows, people } = await load(
			await openMeds(meds, { kinds: ["diagnosis", "drug", "other"] }),
		);
		expect(rows).toHaveLength(records.length);
		expect(new Set(people.map(({ patient }) => patient)).size).toBe(40);
		expect(people.filter(({ death }) => death != null)).toHaveLength(deaths.length);
		const data = await asyncBufferFromFile(join(meds, "data", "0.parquet"));
		const written = await parquetReadObjects({ file: data });
		expect(written.slice(0, 2).map(({ code }) => code)).toEqual(["GENDER//F", "MEDS_BIRTH"]);
		expect(await refusal(ann("--meds", meds))).toContain("already exists");
		await done(ann("--meds", meds, "--force"));
	});

	test("replace no MEDS dataset that they did not write", async () => {
		const meds = file("foreign");
		await mkdir(join(meds, "data"), { recursive: true });
		await writeFile(join(meds, "data", "0.parquet"), "mine");
		expect(await refusal(ann("--meds", meds, "--force"))).toContain("will not replace it");
		expect(await readdir(meds)).toEqual(["data"]);
		expect(await refusal(ann("--output", file("x.csv"), "--meds", file("x.csv")))).toContain(
			"--output and --meds are both",
		);
	});

	test("have a warning before the first record", async () => {
		expect((await done(ann("--at", "2009-03-01"))).stderr).toContain(
			"warning: the index day lies outside",
		);
	});

	test("do not depend on the number of threads", async () => {
		const argv = (threads: string) =>
			ann("--samples", "250", "--years", "1", "--json", "--threads", threads);
		const [two, one] = [await runBuilt(argv("2")), await done`${argv("1")}`];
		expect(JSON.parse(two.stdout)).toEqual(JSON.parse(one.stdout));
	});

	test("of a simulated population say so", async () => {
		const made = join(await simulatedRun(), "run");
		const { stdout } = await done`futures ${made} --patient p000001 --samples 3`;
		expect(stdout).toContain("simulated population, not real people");
	});
});

describe("are refused", () => {
	test.each([
		[["--samples", "0"], "--samples"],
		[["--years", "0"], "--years"],
		[["--samples", "30000", "--years", "100", "--threads", "2"], "lower --samples"],
		[["--output", "futures.txt"], "expected a name that ends in .parquet or .csv"],
		[["--at", "1950-01-01"], "--at 1950-01-01 lies before the birth"],
	])("with %s", async (options, reason) => {
		expect(await refusal(ann(...options))).toContain(reason);
	});

	test("of a model that samples none, before any thread starts", async () => {
		const trained = readTrained(run);
		const { futureSteps: _, ...model } = trained.model;
		const history = { tokens: [], times: [] };
		const options = { days: 10, samples: 250, seed: 0, threads: 2 };
		const drawn = drawFutures({ ...trained, model }, history, 0, options);
		await expect(drawn).rejects.toThrow(InputError);
		await expect(drawn).rejects.toThrow("it samples no futures");
	});

	test("after death", async () => {
		await writeFile(
			file("dead.csv"),
			"patient,birth,sex,death\nann,1960-02-03,female,2012-06-01\n",
		);
		const dead = ["futures", run, "--input", file("ann.csv"), "--people", file("dead.csv")];
		const stderr = await refusal`${dead} --at +1y`;
		expect(stderr).toContain("patient ann died on 2012-06-01");
		expect(stderr).toContain("give an earlier --at");
	});
});
