import { cp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { beforeAll, describe, expect, test } from "vitest";
import { writeAnn } from "./testing/ann.js";
import { column, done, json, refusal, rowsIn } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";
import { simulatedRun } from "./testing/simulated-run.js";

let root: string;
let run: string;
let dataset: string;
/** A run of other weights, from the same dataset. */
let other: string;
let input: readonly string[];
const file = (name: string) => join(root, name);
const ann = () => [run, ...input];
const small = ["--epochs", "1", "--threads", "1", "--preset", "tiny", "--set", "layers=1"];
beforeAll(async () => {
	({ root, run, dataset } = await clinicRun());
	input = await writeAnn(root);
	other = file("seed-2");
	await done`pretrain ${dataset} --out ${other} --seed 2 --set dim=8 ${small}`;
	await writeFile(file("bob.csv"), "patient,date,icd10\nbob,2010-03-01,I10\n");
	await writeFile(file("two.csv"), "patient,date,icd10\na,2010-03-01,I10\nb,2010-03-01,I10\n");
	await writeFile(file("days.csv"), "patient,day,icd10\na,10,I10\na,400,I10\n");
	await writeFile(
		file("cohort.csv"),
		"patient,date,icd10\nann,2010-03-01,I10\nbob,2011-01-01,I10\nann,2011-07-01,I50.9\nbob,2012-02-30,I10\nann,2012-05-06,E119\nbob,2012-06-01,C61\ncarl,2012-01-01,C61\n",
	);
});

interface Point {
	readonly date: string;
	readonly place: string;
	readonly recorded: boolean;
	readonly risk: number;
	readonly growth: number;
	readonly whatIfRisk: number;
}
interface Horizon {
	readonly years: number;
	readonly days: number;
	readonly probability: number;
	readonly lowest: number;
	readonly highest: number;
}
/** The header and the fields of each line of a CSV file. */
async function rowsOf(path: string) {
	const [header, ...lines] = (await readFile(path, "utf8")).trim().split("\n");
	return { header, rows: lines.map((line) => line.split(",")) };
}

describe("after the index day", () => {
	test("risks grow with the horizon, and a first record is told from another one", async () => {
		const { index, risks, horizonDays } = await json`risk ${ann()} --code 411 428`;
		expect(index).toMatchObject({ date: "2012-05-06", ageYears: expect.closeTo(52.25, 2) });
		expect(horizonDays).toBeCloseTo(1826.25, 9);
		const [onset, recurrence] = risks;
		expect(onset.recorded).toBeNull();
		expect(onset.sameAgeAndSex).toHaveLength(3);
		expect(recurrence.recorded).toMatchObject({ date: "2011-07-01" });
		expect(recurrence.sameAgeAndSex).toBeUndefined();
		for (const { incidence } of risks as { incidence: Horizon[] }[]) {
			expect(column(incidence, "years")).toEqual([1, 5, 10]);
			expect(incidence.at(-1)?.days).toBe(3652);
			const shares = incidence.map(({ probability }) => probability);
			expect(shares).toEqual([...shares].sort((a, b) => a - b));
			expect(shares[0]).toBeGreaterThan(0);
			expect(shares[2]).toBeLessThan(1);
		}
	});

	test("can be asked of an earlier day, and of other horizons", async () => {
		const earlier = await json`risk ${ann()} --code 428 --at 2011-06-30 --years 0.5,2`;
		expect(earlier.index.date).toBe("2011-06-30");
		expect(earlier.risks[0].recorded).toBeNull();
		expect(column(earlier.risks[0].incidence, "years")).toEqual([0.5, 2]);
		const onDay = await json`risk ${ann()} --code 428 --at 2011-07-01`;
		expect(onDay.risks[0].recorded.date).toBe("2011-07-01");
		const far = await json`risk ${ann()} --code 411 --years 10,30 --horizon 20y`;
		for (const years of [20, 30])
			expect(far.stderr).toContain(`${years} years are answered as 10 years`);
		const [ten, thirty] = far.risks[0].incidence;
		expect(thirty.probability).toBe(ten.probability);
	});

	test("of groups come from futures, with their standard error", async () => {
		const group = ["--group", "vascular=411,585", "--samples", "60", "--years", "1,5"];
		const { groups, futures, risks } = await json`risk ${ann()} ${group}`;
		expect([futures, risks]).toEqual([60, []]);
		expect(groups).toMatchObject([{ name: "vascular", codes: ["411", "585"], recorded: null }]);
		const [one, five] = groups[0].incidence;
		expect(five.probability).toBeGreaterThanOrEqual(one.probability);
		const { probability: p, standardError } = five;
		const smoothed = (60 * p + 1) / 62;
		expect(standardError).toBeCloseTo(Math.sqrt((smoothed * (1 - smoothed)) / 60), 9);
		const { stdout } = await done`risk ${ann()} ${group} --group heart=428,411`;
		expect(stdout).toMatch(/vascular +\d+\.\d+ % ± \d+\.\d/);
		expect(stdout).toMatch(/heart, already recorded at age 51\.4 .*: another record +\d/);
		expect(stdout).toContain("the share of 60 sampled futures with a record of any member");
		const { stderr } = await done`risk ${run} ${other} ${input} ${group} --remove 1`;
		expect(stderr).toContain(`risks of groups from futures are of ${run} alone`);
		expect(stderr).toContain("are of the history without edits");
	});

	test("of groups that the run has hazards for are in closed form", async () => {
		const { groups, risks } = await json`risk ${ann()} --group alone=411 --code 411 circul`;
		expect(groups).toBeUndefined();
		const [one, circulatory, alone] = risks;
		expect(alone).toMatchObject({ code: "alone", incidence: one.incidence });
		expect(circulatory.code).toBe("circulatory system");
		expect(circulatory.tokens.length).toBeGreaterThan(1);
	});

	test("of people of the same age and sex need a birth, a sex, and rates", async () => {
		const only = await json`risk ${run} --input ${file("ann.csv")} --code 411`;
		expect(only.risks[0].sameAgeAndSex).toBeUndefined();
		const without = file("no-rates");
		await cp(run, without, { recursive: true });
		await rm(join(without, "rates.json"));
		const unrated = await json`risk ${without} ${input} --code 411`;
		expect(unrated.risks[0].sameAgeAndSex).toBeUndefined();
		await writeFile(join(without, "rates.json"), "{}");
		expect(await refusal`risk ${without} ${input} --code 411`).toContain("rates.json is damaged");
	});

	test("of several runs are a mean and a spread; the trajectory is of the first", async () => {
		const alone = await json`risk ${run} ${input} --code 411`;
		const second = await json`risk ${other} ${input} --code 411`;
		const both = await json`risk ${run} ${other} ${input} --code 411`;
		expect([both.runs, both.otherRuns]).toEqual([2, [other]]);
		for (const [i, mean] of (both.risks[0].incidence as Horizon[]).entries()) {
			const values = [alone, second].map(({ risks }) => risks[0].incidence[i].probability);
			expect(mean.probability).toBeCloseTo((values[0] + values[1]) / 2, 12);
			expect([mean.lowest, mean.highest]).toEqual([Math.min(...values), Math.max(...values)]);
		}
		expect(both.risks[0].points).toEqual(alone.risks[0].points);
		const { stdout } = await done`risk ${run} ${other} ${input} --code 411`;
		expect(stdout).toMatch(/\n411 .* % \(\d+\.\d+ % to \d+\.\d+ %\)/);
		expect(stdout).toContain("Mean of 2 runs, and lowest to highest.");
		const again = file("same-run");
		await symlink(run, again);
		for (const same of [run, `${run}/`, again])
			expect(await refusal`risk ${run} ${same} ${input} --code 411`).toContain(
				`error: ${same} is named twice; name runs that differ`,
			);
	});
});

describe("a trajectory", () => {
	test("has the risks of each index day, and their growth", async () => {
		const times = ["--from", "2011-01-01", "--to", "2013-01-01", "--step", "1y"];
		const { risks, patient, quantity } = await json`risk ${ann()} --code 411 ${times}`;
		expect(quantity).toMatch(/^probability of a first record within 5 years, /);
		const points: Point[] = risks[0].points;
		expect(points.map(({ date, place }) => [date, place])).toEqual([
			["2011-01-01", "inside"],
			["2012-01-01", "inside"],
			["2012-12-31", "after"],
		]);
		for (const { date, risk } of points) {
			const then = await json`risk ${ann()} --code 411 --at ${date} --years 5`;
			expect(then.risks[0].incidence[0].probability).toBeCloseTo(risk, 6);
		}
		expect(points[0]?.growth).toBe(0);
		for (const at of [1, 2])
			expect(points[at]?.growth).toBeCloseTo(points[at]!.risk - points[at - 1]!.risk, 12);
		expect(column(patient.events, "number")).toEqual([1, 2, 3]);
		expect(column(patient.events, "code")).toEqual(["401", "428", "250"]);
	});

	test("ends at the last record, and turns to another record at the first", async () => {
		const points: Point[] = (await json`risk ${ann()} --code 428`).risks[0].points;
		expect([points[0]?.date, points.at(-1)?.date]).toEqual(["2010-03-01", "2012-05-06"]);
		for (const { date, recorded } of points) expect(recorded).toBe(date >= "2011-07-01");
		expect(points.find(({ recorded }) => recorded)?.growth).toBe(0);
	});

	test("is printed in at most 25 rows, and written whole to a file and a figure", async () => {
		const [table, drawing] = [file("risk.csv"), file("risk.svg")];
		const { stdout, stderr } =
			await done`risk ${ann()} --code 428 --to +2y --csv ${table} --figure ${drawing} --events`;
		const lines = stdout.split("\n");
		const start = lines.findIndex((line) => line.startsWith("Risk of 428"));
		expect(lines[start]).toMatch(/: probability of a first record, then of another one within 5/);
		expect(lines[start + 2]).toMatch(/^date +age +risk +change$/);
		const rows = lines.slice(start + 3, lines.indexOf("", start + 3));
		expect(rows.length).toBeGreaterThan(10);
		expect(rows.length).toBeLessThanOrEqual(25);
		expect(rows[0]).toMatch(/^2010-03-01 {2}50\.1 +\d+\.\d+ % {2,}[█▏▎▍▌▋▊▉]+$/);
		expect(rows.at(-1)).toMatch(/ no new records another record$/);
		const written = await rowsOf(table);
		expect(written.header).toBe(
			"patient,code,name,date,day,age_years,place,horizon_days,recorded,risk,growth",
		);
		expect(stdout).toContain(
			`${rows.length} of ${written.rows.length} times; --json and --csv have all.`,
		);
		expect(stdout).toMatch(/\nEvents, by the numbers that --remove and --move take:\n\nevent {2}/);
		expect(stderr).toContain(`written: ${table}\n`);
		expect(stderr).toContain(`drawn: ${drawing}\n`);
		const svg = await readFile(drawing, "utf8");
		expect(svg).toMatch(/^<svg[\s\S]*Risk within 5 years of ann/);
		for (const record of ["a first", "another"])
			expect(svg).toContain(`probability of ${record} record within 5 years; dashed`);
	});

	test("marks times before the first event", async () => {
		const times = ["--from", "2009-03-01", "--to", "+1y", "--step", "1y"];
		const { stdout, stderr } =
			await done`risk ${run} --input ${file("bob.csv")} --code 428 ${times}`;
		expect(stderr).toContain("warning: 1 query time is before the first event (bob first)");
		expect(stdout).toMatch(/\n2009-03-01 .* no event yet\n2010-03-01 .* no new records\n/);
	});
});

test("a simulated population is named in text, JSON and figure", async () => {
	const simulated = await simulatedRun();
	const asked = ["risk", join(simulated, "run"), "--patient", "p000003", "--code", "401"];
	const words = "simulated population, not real people";
	const drawing = join(simulated, "risk.svg");
	expect((await done`${asked} --figure ${drawing}`).stdout.split("\n")[1]).toBe(words);
	expect(await readFile(drawing, "utf8")).toContain("Simulated population, not real people.");
	expect((await json`${asked}`).population).toBe(words);
	expect((await json`risk ${ann()} --code 411`).population).toBeUndefined();
});

describe("attribution", () => {
	const on = ["--from", "2013-01-01", "--to", "2013-01-01"];
	const attributed = (code: string) =>
		json`risk ${ann()} --code ${code} --attribute 2013-01-01 ${on}`;

	test("is the change when an event is left out", async () => {
		const { risks } = await attributed("411");
		const [{ risk, events }] = risks[0].attribution;
		expect(risk).toBeCloseTo(risks[0].points[0].risk, 6);
		for (const number of [1, 2, 3]) {
			const edited = await json`risk ${ann()} --code 411 --remove ${number} ${on}`;
			const { risk: base, whatIfRisk } = edited.risks[0].points[0];
			expect(events[number - 1].effect).toBeCloseTo(base - whatIfRisk, 6);
		}
	});

	test("keeps the code's own records: without them it would be another risk", async () => {
		const [{ events }] = (await attributed("428")).risks[0].attribution;
		expect(column(events, "effect").map((effect) => effect !== 0)).toEqual([true, false, true]);
	});

	test("is listed by size of effect", async () => {
		const { stdout } = await done`risk ${ann()} --code 411 --attribute 2013-01-01 2009-01-01 ${on}`;
		const [, listed = ""] = stdout.split("What drove the risk at 2013-01-01 (411");
		const rows = listed.split("\n").slice(3, 6);
		expect(rows.map((row) => Number(row.trim()[0])).sort()).toEqual([1, 2, 3]);
		const points = rows.map((row) =>
			Math.abs(Number(/([+-]?\d+\.\d+) +\d+\.\d+ %$/.exec(row)?.[1])),
		);
		expect(points).toEqual([...points].sort((a, b) => b - a));
		expect(stdout).toMatch(
			/What drove the risk at 2009-01-01 .*: no other event is known then\.\n/,
		);
	});
});

describe("what if", () => {
	test("an event is added, removed or moved", async () => {
		const edits = ["--add", "401@2012-06-01", "--move", "3@-1y", "--remove", "2"];
		const asked = ["--code", "411", "--from", "2009-01-01", "--to", "+1y", "--step", "6m"];
		const { whatIf, risks } = await json`risk ${ann()} ${asked} ${edits}`;
		expect(whatIf).toBe(
			"with Hypertension at 2012-06-01, without Congestive heart failure; nonhypertensive of 2011-07-01, Diabetes mellitus of 2012-05-06 moved to 2011-05-06",
		);
		const points: Point[] = risks[0].points;
		for (const { date, risk, whatIfRisk } of points)
			if (date < "2011-05-06") expect(whatIfRisk).toBeCloseTo(risk, 6);
		expect(points.at(-1)?.whatIfRisk).not.toBeCloseTo(points.at(-1)!.risk, 6);
		expect(risks[0].whatIfIncidence).toHaveLength(3);
		const { stdout } = await done`risk ${ann()} ${asked} ${edits}`;
		expect(stdout).toMatch(/\nwhat if: with Hypertension/);
		expect(stdout).toMatch(/\ndate +age +risk +change +what if +difference\n/);
		expect(stdout).toMatch(/\n411 .*\n {2}what if +\d+\.\d+ %/);
	});

	test("tells a first record from another one where the edit changes that", async () => {
		const { warnings } = await json`risk ${ann()} --code 428 --add 250@2012-06-01`;
		expect(warnings).toEqual([
			expect.stringContaining("1 event is added after the index day: the risk from that day"),
		]);
		const { risks } = await json`risk ${ann()} --code 428 --remove 2`;
		expect([risks[0].recorded.date, risks[0].whatIfRecorded]).toEqual(["2011-07-01", null]);
		const { stdout } = await done`risk ${ann()} --code 428 --remove 2`;
		expect(stdout).toMatch(/\n {2}what if, of a first record +\d+\.\d+ %/);
	});
});

test.each(
	rowsIn(`
		2010-06-01 | warning: the patient was observed for less than 1 year before the index day
		+1y | warning: the index day lies outside
		2009-06-01 | warning: 1 query time is before the first record (ann first): no record is known`),
)(
	"an index day that training would not have used, %s, has a warning",
	async (day = "", warning = "") => {
		expect((await done`risk ${ann()} --code 411 --at ${day}`).stderr).toContain(warning);
		expect((await done`risk ${ann()} --code 411`).stderr).not.toMatch(/index day|query time/);
	},
);

describe("a whole dataset", () => {
	const scored = () => ["risk", run, "--data", dataset];

	test("is written as a row per patient and code, with the numbers of single patients", async () => {
		const output = file("risks.csv");
		const { stdout } = await done`${scored()} --output ${output} --code 428 411`;
		expect(stdout).toMatch(/patients, 2 codes in .*: \d+\.\d patients per second\n/);
		const { header, rows } = await rowsOf(output);
		expect(header).toBe("patient,date,at_risk,code,name,recorded,risk_1y,risk_5y,risk_10y");
		const [id, date] = rows[0] as [string, string];
		expect(rows.filter(([patient]) => patient === id)).toHaveLength(2);
		const { index, risks } = await json`risk ${run} --patient ${id} --code 428 411`;
		expect(index.date).toBe(date);
		expectRows(rows.slice(0, 2), risks);
	});

	test("is written as Parquet, every code on a random day", async () => {
		const output = file("risks.parquet");
		const asked = [...scored(), "--output", output, "--index", "random", "--years", "1"];
		const { patients, codes } = await json`${asked}`;
		const rows = await parquetReadObjects({ file: await asyncBufferFromFile(output) });
		expect(rows).toHaveLength(patients * codes);
		for (const row of rows) expect(row.risk_1y).toBeGreaterThanOrEqual(0);
		expect(await refusal`${asked}`).toContain("already exists");
	});

	test.each(["csv", "parquet"])("keeps an earlier .%s if nobody has an index day", async (kind) => {
		const output = file(`earlier.${kind}`);
		await writeFile(output, "earlier");
		expect(await refusal`${scored()} --output ${output} --index 1900-01-01 --force`).toContain(
			"no patient has an index day by",
		);
		expect(await readFile(output, "utf8")).toBe("earlier");
	});

	test("leaves out patients who are not born yet", async () => {
		const output = file("unborn.csv");
		const { patients, excluded } =
			await json`${scored()} --output ${output} --code 428 --index 1950-01-01`;
		expect(excluded["not born yet"]).toBeGreaterThan(0);
		expect(patients + excluded["not born yet"]).toBe(60);
		const { rows } = await rowsOf(output);
		expect(rows).toHaveLength(patients);
		for (const row of rows) expect(Number(row.at(-1))).toBeLessThan(0.5);
	});

	test("has columns by the horizons that are answered, each once", async () => {
		const output = file("far.csv");
		const { stderr } = await done`${scored()} --output ${output} --code 428 --years 1,10,20,30`;
		expect(stderr).toContain("20 years are answered as 10 years");
		const { header } = await rowsOf(output);
		expect(header).toBe("patient,date,at_risk,code,name,recorded,risk_1y,risk_10y");
	});
});

/** Two codes per patient, beside the answers to the same questions about single patients. */
function expectRows(rows: readonly (readonly string[])[], risks: readonly unknown[]): void {
	expect(rows).toHaveLength(risks.length);
	for (const [at, risk] of risks.entries()) {
		const { incidence, recorded } = risk as { incidence: Horizon[]; recorded: unknown };
		expect(rows[at]?.[5]).toBe(String(recorded !== null));
		for (const [i, { probability }] of incidence.entries())
			expect(Number(rows[at]?.[6 + i])).toBeCloseTo(probability, 6);
	}
}

describe("all patients of a file", () => {
	const cohort = () => ["risk", run, "--input", file("cohort.csv"), ...input.slice(2)];

	test("are written as a row per patient and code, with the numbers of single patients", async () => {
		const output = file("cohort-risks.csv");
		const asked = [...cohort(), "--skip-bad", "--code", "I50.9", "411", "--years", "1,5"];
		const { stdout, stderr } = await done`${asked} --output ${output}`;
		expect(stdout).toMatch(/^2 patients, 2 codes in /);
		expect(stderr).toContain("note: 1 row cannot be read: left out\n");
		expect(stderr).toContain("note: 1 patient has no code that the model knows: left out\n");
		expect(stderr).toMatch(/warning: 2 records of 1 code that the model does not know: skipped/);
		const { header, rows } = await rowsOf(output);
		expect(header).toBe("patient,date,at_risk,code,name,recorded,risk_1y,risk_5y");
		expect(rows.map(([patient, date, , code]) => `${patient} ${date} ${code}`)).toEqual([
			"ann 2012-05-06 428",
			"ann 2012-05-06 411",
			// The last record, whether or not its code is known.
			"bob 2012-06-01 428",
			"bob 2012-06-01 411",
		]);
		for (const [at, patient] of ["ann", "bob"].entries())
			expectRows(rows.slice(2 * at, 2 * at + 2), (await json`${asked} --patient ${patient}`).risks);
	});

	test("are written for every code, on a day by rule, as Parquet and JSON", async () => {
		const output = file("cohort-risks.parquet");
		const { patients, codes, excluded, notes, unknown } =
			await json`${cohort()} --skip-bad --index age:51 --output ${output}`;
		expect([patients, codes, excluded]).toEqual([1, 30, { "birth unknown": 1 }]);
		expect(notes.join("\n")).toContain("1 row cannot be read: left out");
		expect(unknown.records).toBe(2);
		const rows = await parquetReadObjects({ file: await asyncBufferFromFile(output) });
		expect(rows).toHaveLength(30);
		expect(rows[0]).toMatchObject({ patient: "ann", date: "2011-02-02" });
	});
});

describe("refuses", () => {
	test.each(
		rowsIn(`
			--group empty= | as in stroke=433,434
			--group twice=411,585 --group twice=428,411 | two groups are called twice; give each --group
			--group odd=411,zzz | zzz
			| give codes with --code, groups with --group, or a dataset to score with --data
			--code heart | no code "heart"; near it are
			--code 428 --from 1950-01-01 | --from 1950-01-01 lies before the birth of patient ann
			--code 428 --at 1950-01-01 | --at 1950-01-01 lies before the birth of patient ann
			--code 428 --years 1,0 | Expected up to 12 numbers of years, for example 1,5,10
			--code 428 --horizon 5 | Expected a length of time
			--code 428 --add 250@1950-01-01 | --add 1950-01-01 lies before the birth
			--code 428 --remove 4 | --remove 4: patient ann has 3 events; --events lists them
			--code 428 --remove 1 2 3 | --remove leaves patient ann no record; a prediction needs at
			--code 428 --remove 1 --move 1@+1m | event 1 is edited twice
			--code 428 --add 250 | Expected a code and a time
			--code 428 --remove 0 | Expected the number of an event
			--code 428 --move 1 | number of an event and a time
			--code 428 --from 2012-01-01 --to 2011-01-01 | --from 2012-01-01 lies after --to 2011-01-01
			--code 428 --from 2020-01-01 | --from 2020-01-01 lies after --to (the last record)
			--code 428 --figure x.gif | x.gif: cannot tell
			--code 411 --index random | --index belongs to --data
			--code 411 --split test | --split belongs to --data`),
	)("%j of one patient", async (asked = "", message = "") => {
		expect(await refusal`risk ${ann()} ${asked.split(" ")}`).toContain(message);
	});

	test.each([
		["", "--data needs --output"],
		["--output x.csv --at 2010-01-01", "--at has no effect on a whole dataset"],
		["--output x.csv --group a=411,585", "--group has no effect on a whole dataset"],
		["--output x.csv --samples 10", "--samples has no effect on a whole dataset"],
		["--output x.csv --patient p00003", "--patient has no effect on a whole dataset"],
		["--output x.csv --figure risk.svg", "--figure has no effect on a whole dataset"],
		["--output x.csv --add 250@2010-05-01", "--add has no effect on a whole dataset"],
		["--output x.csv --people people.csv", "--people has no effect on a whole dataset"],
		["--output x.csv --years 1,1", "--years has 1 twice"],
	])("%j of a dataset", async (asked, message) => {
		expect(await refusal`risk ${run} --data ${dataset} ${asked.split(" ")}`).toContain(message);
	});

	test("other combinations of inputs and outputs", async () => {
		const output = ["--output", file("none.csv")];
		expect(await refusal`risk ${run} ${run} --data ${dataset} ${output}`).toContain(
			"--data takes one run",
		);
		expect(await refusal`risk ${run} --patient p00003 --code 411 ${output}`).toContain(
			"--output belongs to --data or --input; for one patient use --csv",
		);
		const cohort = ["--input", file("cohort.csv"), ...output];
		expect(await refusal`risk ${run} ${cohort}`).toContain("leave them out with --skip-bad");
		expect(await refusal`risk ${run} ${cohort} --at +1y`).toContain(
			"--at has no effect on all patients of a file",
		);
		expect(await refusal`risk ${run} ${run} ${cohort}`).toContain("--output takes one run");
		expect(await refusal`risk ${run} --input ${file("two.csv")} --code 428`).toContain(
			"the input has 2 patients; name one with --patient, such as a, b",
		);
		const days = ["--input", file("days.csv"), "--time-is", "days", "--index", "2015-01-01"];
		expect(await refusal`risk ${run} ${days} --code 428 ${output}`).toContain(
			"has no dates, so the index cannot be 2015-01-01; choose random, visit or age:N as --index",
		);
		await expect(readFile(file("none.csv"))).rejects.toThrow("ENOENT");
		await writeFile(file("none.csv"), "earlier");
		expect(await refusal`risk ${run} ${cohort} --skip-bad`).toContain("already exists");
	});

	test("a run without hazards, with advice", async () => {
		const plain = file("plain");
		await done`pretrain ${dataset} --out ${plain} --no-hazards --set dim=8 ${small}`;
		await expect(readFile(join(plain, "rates.json"))).rejects.toThrow("ENOENT");
		const message = await refusal`risk ${plain} ${input} --code 428`;
		expect(message).toContain("the model has learned no hazards");
		expect(message).toContain("trajgpt pretrain");
	});
});
