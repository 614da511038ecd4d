import { cp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInMap } from "../../data/codes/index.js";
import { writeAnn } from "./testing/ann.js";
import { captured } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";
import { simulatedRun } from "./testing/simulated-run.js";

let root: string;
let run: string;
let dataset: string;
let input: readonly string[];
const file = (name: string) => join(root, name);
beforeAll(async () => {
	({ root, run, dataset } = await clinicRun({ map: builtInMap() }));
	input = await writeAnn(root);
});
afterAll(() => rm(root, { recursive: true }));

const ann = (...more: string[]) => ["risk", run, ...input, ...more];
const json = async (...args: string[]) => {
	const { code, stdout, stderr } = await captured([...args, "--json"]);
	expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
	return { ...JSON.parse(stdout), stderr };
};
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

describe("after the index day", () => {
	test("risks grow with the horizon, and a first record is told from another one", async () => {
		const { index, risks, horizonDays } = await json(...ann("--code", "411", "428"));
		expect(index).toMatchObject({ date: "2012-05-06", ageYears: expect.closeTo(52.25, 2) });
		expect(horizonDays).toBeCloseTo(1826.25, 9);
		const [onset, recurrence] = risks;
		expect(onset.recorded).toBeNull();
		expect(recurrence.recorded).toMatchObject({ date: "2011-07-01" });
		expect(recurrence.sameAgeAndSex).toBeUndefined();
		for (const { incidence } of risks as { incidence: Horizon[] }[]) {
			expect(incidence.map(({ years }) => years)).toEqual([1, 5, 10]);
			expect(incidence.at(-1)?.days).toBe(3652);
			const [one, five, ten] = incidence.map(({ probability }) => probability);
			expect(one).toBeGreaterThan(0);
			expect(five).toBeGreaterThan(one as number);
			expect(ten).toBeGreaterThan(five as number);
			expect(ten).toBeLessThan(1);
		}
	});

	test("are printed first, beside people of the same age and sex", async () => {
		const { code, stdout } = await captured(ann("--code", "411", "428"));
		expect(code).toBe(0);
		const lines = stdout.split("\n");
		expect(lines[0]).toBe("ann: female, 3 events from 2010-03-01 to 2012-05-06 (age 52.3)");
		expect(lines.slice(2, 4)).toEqual([
			"Probability of a first record after age 52.3 (2012-05-06), from the records up to that day; death competes:",
			"",
		]);
		expect(lines[4]).toMatch(/^ +within 1 year +within 5 years +within 10 years$/);
		expect(lines[5]).toMatch(/^411 .* % +\d+\.\d+ % +\d+\.\d+ %$/);
		expect(lines[6]).toMatch(/^ {2}people of the same age and sex +\d+\.\d+ % .* %$/);
		expect(lines[7]).toMatch(/^428 Congestive heart failure; nonhypertensive$/);
		expect(lines[8]).toMatch(
			/^ {2}already recorded at age 51\.4 \(2011-07-01\): probability of another record +\d+\.\d+ %/,
		);
		expect(stdout).not.toMatch(/onset/);
	});

	test("can be asked of an earlier day, and of other horizons", async () => {
		const { index, risks } = await json(
			...ann("--code", "428", "--at", "2011-06-30", "--years", "0.5,2"),
		);
		expect(index.date).toBe("2011-06-30");
		expect(risks[0].recorded).toBeNull();
		expect(risks[0].incidence.map(({ years }: Horizon) => years)).toEqual([0.5, 2]);
		const onDay = await json(...ann("--code", "428", "--at", "2011-07-01"));
		expect(onDay.risks[0].recorded.date).toBe("2011-07-01");
	});

	test("are answered to the limit beyond what was learned, with a warning", async () => {
		const { risks, stderr } = await json(
			...ann("--code", "411", "--years", "10,30", "--horizon", "20y"),
		);
		expect(stderr).toContain(
			"warning: the model has learned risks up to 10 years ahead; 30 years are answered as 10 years",
		);
		expect(stderr).toContain("20 years are answered as 10 years");
		const [ten, thirty] = risks[0].incidence;
		expect(thirty.probability).toBe(ten.probability);
	});

	test("of groups come from futures, with their standard error", async () => {
		const group = ["--group", "vascular=411,585", "--samples", "60", "--years", "1,5"];
		const { groups, futures, risks } = await json(...ann(...group));
		expect([futures, risks]).toEqual([60, []]);
		expect(groups).toMatchObject([{ name: "vascular", codes: ["411", "585"], recorded: null }]);
		const [one, five] = groups[0].incidence;
		expect(five.probability).toBeGreaterThanOrEqual(one.probability);
		const { probability: p, standardError } = five;
		const smoothed = (60 * p + 1) / 62;
		expect(standardError).toBeCloseTo(Math.sqrt((smoothed * (1 - smoothed)) / 60), 9);
		const { stdout } = await captured(ann(...group, "--group", "heart=428,411"));
		expect(stdout).toMatch(/vascular +\d+\.\d+ % ± \d+\.\d/);
		expect(stdout).toMatch(/heart, already recorded at age 51\.4 .*: another record +\d/);
		expect(stdout).toContain("the share of 60 sampled futures with a record of any member");
		const other = file("other-run");
		await cp(run, other, { recursive: true });
		const edited = await captured(["risk", run, other, ...ann(...group, "--remove", "1").slice(2)]);
		expect(edited.stderr).toContain(`risks of groups from futures are of ${run} alone`);
		expect(edited.stderr).toContain("are of the history without edits");
	});

	test("of a group that is named by its beginning say which it is", async () => {
		const { notes, risks } = await json(...ann("--code", "circul"));
		expect(risks[0].code).toBe("circulatory system");
		expect(notes.at(-1)).toMatch(
			/^circul: taken as the group circulatory system, the first record of any of its codes: 401 /,
		);
	});

	test("of a group that the run has hazards for are in closed form", async () => {
		const { groups, risks } = await json(...ann("--group", "alone=411", "--code", "411"));
		expect(groups).toBeUndefined();
		expect(risks[1]).toMatchObject({ code: "alone", incidence: risks[0].incidence });
	});

	test("of people of the same age and sex need a birth, a sex, and rates", async () => {
		const only = ["risk", run, "--input", file("ann.csv"), "--code", "411"];
		expect((await json(...only)).risks[0].sameAgeAndSex).toBeUndefined();
		expect((await json(...ann("--code", "411"))).risks[0].sameAgeAndSex).toHaveLength(3);
		const without = file("no-rates");
		await cp(run, without, { recursive: true });
		await rm(join(without, "rates.json"));
		const [, , ...rest] = ann("--code", "411");
		expect((await json("risk", without, ...rest)).risks[0].sameAgeAndSex).toBeUndefined();
		await writeFile(join(without, "rates.json"), "{}");
		const { code, stderr } = await captured(["risk", without, ...rest]);
		expect([code, stderr]).toEqual([2, expect.stringContaining("rates.json is damaged")]);
	});

	test("of several runs are a mean and a spread; the trajectory is of the first", async () => {
		const other = file("seed-2");
		const { code } = await captured([
			...["pretrain", dataset, "--out", other, "--epochs", "1", "--threads", "1", "--seed", "2"],
			...["--preset", "tiny", "--set", "layers=1", "--set", "dim=8"],
		]);
		expect(code).toBe(0);
		const [, , ...rest] = ann("--code", "411");
		const alone = await json("risk", run, ...rest);
		const second = await json("risk", other, ...rest);
		const both = await json("risk", run, other, ...rest);
		expect([both.runs, both.otherRuns]).toEqual([2, [other]]);
		for (const [i, own] of (both.risks[0].incidence as Horizon[]).entries()) {
			const values = [alone, second].map(({ risks }) => risks[0].incidence[i].probability);
			expect(own.probability).toBeCloseTo((values[0] + values[1]) / 2, 12);
			expect([own.lowest, own.highest]).toEqual([Math.min(...values), Math.max(...values)]);
		}
		expect(both.risks[0].points).toEqual(alone.risks[0].points);
		const { stdout } = await captured(["risk", run, other, ...rest]);
		expect(stdout).toMatch(/\n411 .* % \(\d+\.\d+ % to \d+\.\d+ %\)/);
		expect(stdout).toContain("Mean of 2 runs, and lowest to highest.");
	});

	test("of the same run given twice are refused", async () => {
		const [, , ...rest] = ann("--code", "411");
		const again = file("same-run");
		await symlink(run, again);
		for (const other of [run, `${run}/`, again]) {
			const { code, stdout, stderr } = await captured(["risk", run, other, ...rest]);
			expect([code, stdout]).toEqual([2, ""]);
			expect(stderr).toContain(`error: ${other} is named twice; name runs that differ`);
		}
	});

	test("of a named group are found by its name", async () => {
		const { risks, stderr } = await json(...ann("--code", "circulatory", "--at", "2009-01-01"));
		expect(stderr).toContain("note: circulatory: taken as the group circulatory system");
		const [{ code, tokens, recorded, incidence }] = risks;
		expect([code, recorded]).toEqual(["circulatory system", null]);
		expect(tokens.length).toBeGreaterThan(1);
		const members = await json(
			...ann("--at", "2009-01-01", "--code", ...tokens.map((own: { code: string }) => own.code)),
		);
		expect(incidence[1].probability).toBeGreaterThan(0);
		expect(members.risks).toHaveLength(tokens.length);
		expect(stderr).not.toContain("independent");
	});
});

describe("a trajectory", () => {
	test("has the risks of each index day, and their growth", async () => {
		const { risks, patient, quantity } = await json(
			...ann("--code", "411", "--from", "2011-01-01", "--to", "2013-01-01", "--step", "1y"),
		);
		expect(quantity).toMatch(/^probability of a first record within 5 years, /);
		const points: Point[] = risks[0].points;
		expect(points.map(({ date, place }) => [date, place])).toEqual([
			["2011-01-01", "inside"],
			["2012-01-01", "inside"],
			["2012-12-31", "after"],
		]);
		for (const { date, risk } of points) {
			const { risks: own } = await json(...ann("--code", "411", "--at", date, "--years", "5"));
			expect(own[0].incidence[0].probability).toBeCloseTo(risk, 6);
		}
		expect(points[0]?.growth).toBe(0);
		for (const at of [1, 2])
			expect(points[at]?.growth).toBeCloseTo(points[at]!.risk - points[at - 1]!.risk, 12);
		expect(patient.events.map((e: { number: number; code: string }) => [e.number, e.code])).toEqual(
			[
				[1, "401"],
				[2, "428"],
				[3, "250"],
			],
		);
	});

	test("ends at the last record, and turns to another record at the first", async () => {
		const { risks } = await json(...ann("--code", "428"));
		const points: Point[] = risks[0].points;
		expect([points[0]?.date, points.at(-1)?.date]).toEqual(["2010-03-01", "2012-05-06"]);
		for (const { date, recorded } of points) expect(recorded).toBe(date >= "2011-07-01");
		const turn = points.findIndex(({ recorded }) => recorded);
		expect(points[turn]?.growth).toBe(0);
	});

	test("accepts ICD codes and prints their mapping", async () => {
		const { risks, stderr } = await json(...ann("--code", "I50.9", "icd9:401.9", "--to", "+1m"));
		expect(risks.map((risk: { code: string }) => risk.code)).toEqual(["428", "401"]);
		expect(stderr).toContain("note: I50.9: an ICD-10-CM code, so 428 Congestive heart failure");
	});

	test("prints at most 25 rows and writes all to a file", async () => {
		const table = file("risk.csv");
		const { code, stdout, stderr } = await captured(
			ann("--code", "428", "--to", "+2y", "--csv", table),
		);
		expect(code).toBe(0);
		const lines = stdout.split("\n");
		const start = lines.findIndex((line) => line.startsWith("Risk of 428"));
		expect(lines[start]).toBe(
			"Risk of 428 Congestive heart failure; nonhypertensive over time: probability of a first record, then of another one within 5 years, from the records up to each time",
		);
		expect(lines[start + 2]).toMatch(/^date +age +risk +change$/);
		const rows = lines.slice(start + 3, lines.indexOf("", start + 3));
		expect(rows.length).toBeGreaterThan(10);
		expect(rows.length).toBeLessThanOrEqual(25);
		expect(rows[0]).toMatch(/^2010-03-01 {2}50\.1 +\d+\.\d+ % {2,}[█▏▎▍▌▋▊▉]+$/);
		expect(rows.at(-1)).toMatch(/ no new records another record$/);
		const written = (await readFile(table, "utf8")).trim().split("\n");
		expect(written[0]).toBe(
			"patient,code,name,date,day,age_years,place,horizon_days,recorded,risk,growth",
		);
		expect(stdout).toContain(
			`${rows.length} of ${written.length - 1} times; --json and --csv have all.`,
		);
		expect(stderr).toContain(`written: ${table}\n`);
	});

	test("marks times before the first event", async () => {
		await writeFile(file("bob.csv"), "patient,date,icd10\nbob,2010-03-01,I10\n");
		const times = ["--from", "2009-03-01", "--to", "+1y", "--step", "1y"];
		const { code, stdout, stderr } = await captured([
			...["risk", run, "--input", file("bob.csv"), "--code", "428", ...times],
		]);
		expect(code).toBe(0);
		expect(stderr).toContain(
			"warning: 1 query time is before the first event (bob first): no record is known then, at most age and sex",
		);
		const [, rows = ""] = stdout.split("change\n");
		const [first, second] = rows.split("\n");
		expect(first).toMatch(/^2009-03-01 .* no event yet$/);
		expect(second).toMatch(/^2010-03-01 .* no new records$/);
	});

	test("has a figure", async () => {
		const drawing = file("risk.svg");
		const { code, stderr } = await captured(ann("--code", "428", "--figure", drawing));
		expect([code, stderr]).toEqual([0, expect.stringContaining(`drawn: ${drawing}\n`)]);
		const svg = await readFile(drawing, "utf8");
		expect(svg).toMatch(/^<svg[\s\S]*Risk within 5 years of ann/);
		expect(svg).toContain("probability of a first record within 5 years; dashed");
		expect(svg).toContain("probability of another record within 5 years; dashed");
	});

	test("works for a patient of the run's dataset without further options", async () => {
		const { code, stdout } = await captured([
			"risk",
			run,
			"--patient",
			"p00003",
			"--code",
			"428",
			"--events",
		]);
		expect(code).toBe(0);
		expect(stdout).toMatch(/^p00003: /);
		expect(stdout).toMatch(
			/\nEvents, by the numbers that --remove and --move take:\n\nevent {2}date /,
		);
	});
});

test("a simulated population is named in text, JSON and figure", async () => {
	const simulated = await simulatedRun();
	try {
		const id = JSON.parse(
			(await captured([...["forecast", join(simulated, "run"), "--patient", "p000003", "--json"]]))
				.stdout,
		).patients[0].id;
		const asked = ["risk", join(simulated, "run"), "--patient", id, "--code", "401"];
		const words = "simulated population, not real people";
		const drawing = join(simulated, "risk.svg");
		const { code, stdout } = await captured([...asked, "--figure", drawing]);
		expect(code).toBe(0);
		expect(stdout.split("\n")[1]).toBe(words);
		expect(await readFile(drawing, "utf8")).toContain("Simulated population, not real people.");
		expect((await json(...asked)).population).toBe(words);
		expect((await json(...ann("--code", "411"))).population).toBeUndefined();
	} finally {
		await rm(simulated, { recursive: true });
	}
});

describe("attribution", () => {
	const at = ["--from", "2013-01-01", "--to", "2013-01-01"];

	test("is the change when an event is left out", async () => {
		const { risks } = await json(...ann("--code", "411", "--attribute", "2013-01-01", ...at));
		const [{ risk, events }] = risks[0].attribution;
		expect(risk).toBeCloseTo(risks[0].points[0].risk, 6);
		for (const number of [1, 2, 3]) {
			const { risks: edited } = await json(
				...ann("--code", "411", "--remove", String(number), ...at),
			);
			const { risk: base, whatIfRisk } = edited[0].points[0];
			expect(events[number - 1].effect).toBeCloseTo(base - whatIfRisk, 6);
		}
	});

	test("keeps the code's own records: without them it would be another risk", async () => {
		const { risks } = await json(...ann("--code", "428", "--attribute", "2013-01-01", ...at));
		const [{ events }] = risks[0].attribution;
		expect(events.map(({ effect }: { effect: number }) => effect !== 0)).toEqual([
			...[true, false, true],
		]);
	});

	test("is listed by size of effect", async () => {
		const { stdout } = await captured(
			ann("--code", "411", "--attribute", "2013-01-01", "2009-01-01", ...at),
		);
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
		const { whatIf, risks } = await json(...ann(...asked, ...edits));
		expect(whatIf).toBe(
			"with Hypertension at 2012-06-01, without Congestive heart failure; nonhypertensive of 2011-07-01, Diabetes mellitus of 2012-05-06 moved to 2011-05-06",
		);
		const points: Point[] = risks[0].points;
		for (const { date, risk, whatIfRisk } of points)
			if (date < "2011-05-06") expect(whatIfRisk).toBeCloseTo(risk, 6);
		expect(points.at(-1)?.whatIfRisk).not.toBeCloseTo(points.at(-1)!.risk, 6);
		expect(risks[0].whatIfIncidence).toHaveLength(3);
		const { stdout } = await captured(ann(...asked, ...edits));
		expect(stdout).toMatch(/\nwhat if: with Hypertension/);
		expect(stdout).toMatch(/\ndate +age +risk +change +what if +difference\n/);
		expect(stdout).toMatch(/\n411 .*\n {2}what if +\d+\.\d+ %/);
	});

	test("tells a first record from another one where the edit changes that", async () => {
		const none = await captured(ann("--code", "428", "--remove", "1", "2", "3"));
		expect(none).toMatchObject({
			code: 2,
			stdout: "",
			stderr: expect.stringContaining(
				"error: --remove leaves patient ann no record; a prediction needs at least one\n",
			),
		});
		const { warnings } = await json(...ann("--code", "428", "--add", "250@2012-06-01"));
		expect(warnings).toEqual([
			expect.stringContaining("1 event is added after the index day: the risk from that day"),
		]);
		const { risks } = await json(...ann("--code", "428", "--remove", "2"));
		expect([risks[0].recorded.date, risks[0].whatIfRecorded]).toEqual(["2011-07-01", null]);
		const { stdout } = await captured(ann("--code", "428", "--remove", "2"));
		expect(stdout).toMatch(/\n {2}what if, of a first record +\d+\.\d+ %/);
	});
});

describe("rejects, with exit code 2", () => {
	const cases: Record<string, readonly [args: () => string[], message: RegExp]> = {
		"a group without codes": [() => ann("--group", "empty="), /as in stroke=433,434/],
		"two groups of the same name": [
			() => ann("--group", "twice=411,585", "--group", "twice=428,411"),
			/two groups are called twice; give each --group a name of its own/,
		],
		"a group of an unknown code": [() => ann("--group", "odd=411,zzz"), /zzz/],
		"no code": [
			() => ann(),
			/give codes with --code, groups with --group, or a dataset to score with --data/,
		],
		"an unknown code, with near ones": [
			() => ann("--code", "heart"),
			/no code "heart"; near it are (411|428) .*(411|428) /,
		],
		"a time before birth": [
			() => ann("--code", "428", "--from", "1950-01-01"),
			/--from 1950-01-01 lies before the birth of patient ann/,
		],
		"an index day before birth": [
			() => ann("--code", "428", "--at", "1950-01-01"),
			/--at 1950-01-01 lies before the birth of patient ann/,
		],
		"years that are none": [
			() => ann("--code", "428", "--years", "1,0"),
			/Expected up to 12 numbers of years, for example 1,5,10/,
		],
		"a horizon that is none": [
			() => ann("--code", "428", "--horizon", "5"),
			/Expected a length of time/,
		],
		"an event added before birth": [
			() => ann("--code", "428", "--add", "250@1950-01-01"),
			/--add 1950-01-01 lies before the birth/,
		],
		"an event that is not there": [
			() => ann("--code", "428", "--remove", "4"),
			/--remove 4: patient ann has 3 events; --events lists them/,
		],
		"an event edited twice": [
			() => ann("--code", "428", "--remove", "1", "--move", "1@+1m"),
			/event 1 is edited twice/,
		],
		"an edit that says no time": [
			() => ann("--code", "428", "--add", "250"),
			/Expected a code and a time/,
		],
		"a number that is none": [
			() => ann("--code", "428", "--remove", "0"),
			/Expected the number of an event/,
		],
		"a move without a time": [
			() => ann("--code", "428", "--move", "1"),
			/number of an event and a time/,
		],
		"an end before the start": [
			() => ann("--code", "428", "--from", "2012-01-01", "--to", "2011-01-01"),
			/--from 2012-01-01 lies after --to 2011-01-01/,
		],
		"a start after the last record, without an end": [
			() => ann("--code", "428", "--from", "2020-01-01"),
			/--from 2020-01-01 lies after --to \(the last record\)/,
		],
		"a figure of no known kind": [
			() => ann("--code", "428", "--figure", "x.gif"),
			/x\.gif: cannot tell/,
		],
	};
	for (const [name, [args, message]] of Object.entries(cases))
		test(name, async () => {
			const { code, stdout, stderr } = await captured(args());
			expect(stderr).toMatch(message);
			expect([code, stdout]).toEqual([2, ""]);
		});

	test("a date as index where times are days", async () => {
		await writeFile(file("days.csv"), "patient,day,icd10\na,10,I10\na,400,I10\n");
		const { code, stderr } = await captured([
			...["risk", run, "--input", file("days.csv"), "--time-is", "days", "--code", "428"],
			...["--output", file("none.csv"), "--index", "2015-01-01"],
		]);
		expect(code).toBe(2);
		expect(stderr).toContain(
			"has no dates, so the index cannot be 2015-01-01; choose random, visit or age:N as --index",
		);
		await expect(readFile(file("none.csv"))).rejects.toThrow("ENOENT");
	});

	test("several patients where one is expected", async () => {
		await writeFile(file("two.csv"), "patient,date,icd10\na,2010-03-01,I10\nb,2010-03-01,I10\n");
		const { code, stderr } = await captured([
			"risk",
			run,
			"--input",
			file("two.csv"),
			"--code",
			"428",
		]);
		expect(code).toBe(2);
		expect(stderr).toContain("the input has 2 patients; name one with --patient, such as a, b");
	});

	test("a run without hazards, with advice", async () => {
		const plain = file("plain");
		const trained = await captured([
			...["pretrain", dataset, "--out", plain, "--epochs", "1", "--threads", "1", "--no-hazards"],
			...["--preset", "tiny", "--set", "layers=1", "--set", "dim=8"],
		]);
		expect(trained.code).toBe(0);
		await expect(readFile(join(plain, "rates.json"))).rejects.toThrow("ENOENT");
		const { code, stdout, stderr } = await captured([
			"risk",
			plain,
			...ann("--code", "428").slice(2),
		]);
		expect([code, stdout]).toEqual([2, ""]);
		expect(stderr).toContain("the model has learned no hazards");
		expect(stderr).toContain("trajgpt pretrain");
	});
});

describe("an index day that training would not have used", () => {
	test("within the look-back has a warning", async () => {
		const { stderr } = await captured(ann("--code", "411", "--at", "2010-06-01"));
		expect(stderr).toContain(
			"warning: the patient was observed for less than 1 year before the index day",
		);
	});

	test("outside observation has a warning", async () => {
		const { stderr } = await captured(ann("--code", "411", "--at", "+1y"));
		expect(stderr).toContain("warning: the index day lies outside");
	});

	test("before the first record has a warning, also where the birth is known", async () => {
		const { stderr } = await captured(ann("--code", "411", "--at", "2009-06-01"));
		expect(stderr).toContain(
			"warning: 1 query time is before the first record (ann first): no record is known then",
		);
	});

	test("in observation, after the look-back, has none", async () => {
		const { stderr } = await captured(ann("--code", "411"));
		expect(stderr).not.toMatch(/index day|query time/);
	});
});

describe("a whole dataset", () => {
	const scored = (...more: string[]) => captured(["risk", run, "--data", dataset, ...more]);

	test("is written as a row per patient and code, with the numbers of single patients", async () => {
		const output = file("risks.csv");
		const { code, stdout } = await scored("--output", output, "--code", "428", "411");
		expect(code).toBe(0);
		expect(stdout).toMatch(/patients, 2 codes in .*: \d+\.\d patients per second\n/);
		const [header, ...lines] = (await readFile(output, "utf8")).trim().split("\n");
		expect(header).toBe("patient,date,at_risk,code,name,recorded,risk_1y,risk_5y,risk_10y");
		const rows = lines.map((line) => line.split(","));
		const [id, date] = rows[0] as [string, string];
		expect(rows.filter(([patient]) => patient === id)).toHaveLength(2);
		const { index, risks } = await json("risk", run, "--patient", id, "--code", "428", "411");
		expect(index.date).toBe(date);
		for (const [at, { incidence, recorded }] of risks.entries()) {
			const row = rows[at] as string[];
			expect(row[5]).toBe(String(recorded !== null));
			for (const [i, { probability }] of (incidence as Horizon[]).entries())
				expect(Number(row[6 + i])).toBeCloseTo(probability, 6);
		}
	});

	test("is written as Parquet, every code on a random day", async () => {
		const output = file("risks.parquet");
		const argv = ["--output", output, "--index", "random", "--years", "1", "--json"];
		const { code, stdout, stderr } = await scored(...argv);
		expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
		const { patients, codes } = JSON.parse(stdout);
		const { asyncBufferFromFile, parquetReadObjects } = await import("hyparquet");
		const rows = await parquetReadObjects({ file: await asyncBufferFromFile(output) });
		expect(rows).toHaveLength(patients * codes);
		for (const row of rows) expect(row.risk_1y).toBeGreaterThanOrEqual(0);
		expect((await scored(...argv)).stderr).toContain("already exists");
	});

	test.each(["csv", "parquet"])("keeps an earlier .%s if nobody has an index day", async (kind) => {
		const output = file(`earlier.${kind}`);
		await writeFile(output, "earlier");
		const { code, stderr } = await scored("--output", output, "--index", "1900-01-01", "--force");
		expect([code, stderr]).toEqual([2, expect.stringContaining("no patient has an index day by")]);
		expect(await readFile(output, "utf8")).toBe("earlier");
	});

	test("leaves out patients who are not born yet", async () => {
		const output = file("unborn.csv");
		const asked = ["--output", output, "--code", "428", "--index", "1950-01-01", "--json"];
		const { patients, excluded } = JSON.parse((await scored(...asked)).stdout);
		expect(excluded["not born yet"]).toBeGreaterThan(0);
		expect(patients + excluded["not born yet"]).toBe(60);
		const [, ...lines] = (await readFile(output, "utf8")).trim().split("\n");
		expect(lines).toHaveLength(patients);
		for (const line of lines) expect(Number(line.split(",").at(-1))).toBeLessThan(0.5);
	});

	test("has columns by the horizons that are answered, each once", async () => {
		const output = file("far.csv");
		const asked = ["--output", output, "--code", "428"];
		const { stderr } = await scored(...asked, "--years", "1,10,20,30");
		expect(stderr).toContain("20 years are answered as 10 years");
		const [header] = (await readFile(output, "utf8")).split("\n");
		expect(header).toBe("patient,date,at_risk,code,name,recorded,risk_1y,risk_10y");
		const twice = await scored(...asked, "--years", "1,1", "--force");
		expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("--years has 1 twice")]);
	});

	test.each([
		["--at", "2010-01-01"],
		["--group", "vascular=411,585"],
		["--samples", "10"],
		["--patient", "p00003"],
		["--figure", "risk.svg"],
		["--add", "250@2010-05-01"],
		["--people", "people.csv"],
	])("takes no %s", async (flag, value) => {
		const { code, stderr } = await scored("--output", file("none.csv"), flag, value);
		expect([code, stderr]).toEqual([
			2,
			expect.stringContaining(`${flag} has no effect on a whole dataset`),
		]);
	});

	test.each([
		["--index", "random"],
		["--split", "test"],
	])("is what %s needs", async (flag, value) => {
		const { code, stderr } = await captured(ann("--code", "411", flag, value));
		expect([code, stderr]).toEqual([2, expect.stringContaining(`${flag} belongs to --data`)]);
	});

	test("or a file is what --output needs", async () => {
		const one = ["risk", run, "--patient", "p00003", "--code", "411", "--output", "risks.csv"];
		const { code, stderr } = await captured(one);
		expect([code, stderr]).toEqual([
			2,
			expect.stringContaining("--output belongs to --data or --input; for one patient use --csv"),
		]);
	});

	test("needs a file, one run, and codes only without it", async () => {
		expect((await scored()).stderr).toContain("--data needs --output");
		const two = await captured(["risk", run, run, "--data", dataset, "--output", file("x.csv")]);
		expect(two.stderr).toContain("--data takes one run");
		expect((await captured(["risk", run])).stderr).toContain("give codes with --code");
	});
});

describe("all patients of a file", () => {
	const cohort = (...more: string[]) => [
		...["risk", run, "--input", file("cohort.csv"), "--people", file("people.csv"), ...more],
	];
	beforeAll(() =>
		writeFile(
			file("cohort.csv"),
			"patient,date,icd10\nann,2010-03-01,I10\nbob,2011-01-01,I10\nann,2011-07-01,I50.9\nbob,2012-02-30,I10\nann,2012-05-06,E119\nbob,2012-06-01,C61\ncarl,2012-01-01,C61\n",
		),
	);
	const rowsOf = async (path: string) => {
		const [header, ...lines] = (await readFile(path, "utf8")).trim().split("\n");
		return { header, rows: lines.map((line) => line.split(",")) };
	};

	test("are written as a row per patient and code, with the numbers of single patients", async () => {
		const output = file("cohort-risks.csv");
		const asked = ["--code", "I50.9", "411", "--years", "1,5"];
		const { code, stdout, stderr } = await captured(
			cohort("--skip-bad", ...asked, "--output", output),
		);
		expect([code, stdout]).toEqual([0, expect.stringMatching(/^2 patients, 2 codes in /)]);
		expect(stderr).toContain("note: 1 row cannot be read: left out\n");
		expect(stderr).toContain("note: 1 patient has no code that the model knows: left out\n");
		expect(stderr).toMatch(/warning: 2 records of 1 code that the model does not know: skipped/);
		const { header, rows } = await rowsOf(output);
		expect(header).toBe("patient,date,at_risk,code,name,recorded,risk_1y,risk_5y");
		expect(rows.map(([patient, date, , own]) => [patient, date, own])).toEqual([
			...[["ann", "2012-05-06", "428"]],
			...[["ann", "2012-05-06", "411"]],
			// The last record, whether or not its code is known.
			...[["bob", "2012-06-01", "428"]],
			...[["bob", "2012-06-01", "411"]],
		]);
		for (const [at, patient] of ["ann", "bob"].entries()) {
			const { risks } = await json(...cohort("--skip-bad", "--patient", patient, ...asked));
			for (const [n, { incidence, recorded }] of risks.entries()) {
				const row = rows[2 * at + n] as string[];
				expect(row[5]).toBe(String(recorded !== null));
				for (const [i, { probability }] of (incidence as Horizon[]).entries())
					expect(Number(row[6 + i])).toBeCloseTo(probability, 6);
			}
		}
	});

	test("are written for every code, on a day by rule, as Parquet and JSON", async () => {
		const output = file("cohort-risks.parquet");
		const asked = ["--skip-bad", "--index", "age:51", "--output", output, "--json"];
		const { patients, codes, excluded, notes, unknown } = await json(...cohort(...asked));
		expect([patients, codes, excluded]).toEqual([1, 30, { "birth unknown": 1 }]);
		expect(notes.join("\n")).toContain("1 row cannot be read: left out");
		expect(unknown.records).toBe(2);
		const { asyncBufferFromFile, parquetReadObjects } = await import("hyparquet");
		const rows = await parquetReadObjects({ file: await asyncBufferFromFile(output) });
		expect(rows).toHaveLength(30);
		expect(rows[0]).toMatchObject({ patient: "ann", date: "2011-02-02" });
	});

	test("are refused with bad rows, options on one patient, several runs or an existing file", async () => {
		const output = ["--output", file("refused.csv")];
		const refusal = async (argv: readonly string[]) => {
			const { code, stderr } = await captured(argv);
			expect(code).toBe(2);
			return stderr;
		};
		expect(await refusal(cohort(...output))).toContain("leave them out with --skip-bad");
		expect(await refusal(cohort(...output, "--at", "+1y"))).toContain(
			"--at has no effect on all patients of a file",
		);
		const [, , ...rest] = cohort(...output);
		expect(await refusal(["risk", run, run, ...rest])).toContain("--output takes one run");
		await writeFile(file("refused.csv"), "earlier");
		expect(await refusal(cohort(...output, "--skip-bad"))).toContain("already exists");
	});
});
