import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInMap } from "../codes/index.js";
import { captured } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
const file = (name: string) => join(root, name);
beforeAll(async () => {
	({ root, run } = await clinicRun({ map: builtInMap() }));
	await writeFile(
		file("ann.csv"),
		"patient,date,icd10\nann,2010-03-01,I10\nann,2011-07-01,I50.9\nann,2012-05-06,E119\n",
	);
	await writeFile(file("people.csv"), "patient,birth\nann,1960-02-03\n");
});
afterAll(() => rm(root, { recursive: true }));

const input = () => ["--input", file("ann.csv"), "--people", file("people.csv")];
const ann = (...more: string[]) => ["risk", run, ...input(), ...more];
const json = async (...args: string[]) => {
	const { code, stdout, stderr } = await captured([...args, "--json"]);
	expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" });
	return { ...JSON.parse(stdout), stderr };
};
interface Point {
	readonly date: string;
	readonly place: string;
	readonly risk: number;
	readonly growth: number;
	readonly whatIfRisk: number;
}

describe("a trajectory", () => {
	test("has the probabilities of forecast, and their growth", async () => {
		const { risks, patient } = await json(
			...ann("--code", "428", "--from", "2011-01-01", "--to", "2013-01-01", "--step", "1y"),
		);
		const points: Point[] = risks[0].points;
		expect(points.map(({ date, place }) => [date, place])).toEqual([
			["2011-01-01", "inside"],
			["2012-01-01", "inside"],
			["2012-12-31", "after"],
		]);
		const asked = ["forecast", run, ...input(), "--top", "40", "--json"];
		const { stdout } = await captured([...asked, "--at", "2011-01-01"]);
		const { top } = JSON.parse(stdout).patients[0].answers[0];
		const chance = top.find(({ code }: { code: string }) => code === "428").probability;
		expect(points[0]?.risk).toBeCloseTo(chance, 9);
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

	test("accepts ICD codes and prints their mapping", async () => {
		const { risks, stderr } = await json(...ann("--code", "I50.9", "icd9:401.9", "--to", "+1m"));
		expect(risks.map((risk: { code: string }) => risk.code)).toEqual(["428", "401"]);
		expect(stderr).toContain("note: I50.9: an ICD-10-CM code, so 428 Congestive heart failure");
	});

	test("prints at most 25 rows and writes all to a file", async () => {
		const table = file("risk.csv");
		const { code, stdout, stderr } = await captured(ann("--code", "428", "--csv", table));
		expect(code).toBe(0);
		const lines = stdout.split("\n");
		expect(lines[0]).toBe("ann: 3 events from 2010-03-01 to 2012-05-06 (age 52.3)");
		expect(lines[2]).toMatch(/^Risk of 428 Congestive heart failure; nonhypertensive: its chance/);
		expect(lines[4]).toMatch(/^date +age +risk +change$/);
		const rows = lines.slice(5, lines.indexOf("", 5));
		expect(rows.length).toBeGreaterThan(10);
		expect(rows.length).toBeLessThanOrEqual(25);
		expect(rows[0]).toMatch(/^2010-03-01 {2}50\.1 +\d+\.\d+ % {2,}[█▏▎▍▌▋▊▉]+$/);
		expect(rows.at(-1)).toMatch(/ forecast$/);
		const written = (await readFile(table, "utf8")).trim().split("\n");
		expect(written[0]).toBe("patient,code,name,date,day,age_years,place,risk,growth");
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
		expect(stderr).toContain("warning: 1 query time is before the first event (bob");
		const [first, second] = stdout.split("\n").slice(5);
		expect(first).toMatch(/^2009-03-01 .* no event yet$/);
		expect(second).toMatch(/^2010-03-01 .* forecast$/);
	});

	test("has a figure", async () => {
		const drawing = file("risk.svg");
		const { code, stderr } = await captured(ann("--code", "428", "--figure", drawing));
		expect([code, stderr]).toEqual([0, expect.stringContaining(`drawn: ${drawing}\n`)]);
		expect(await readFile(drawing, "utf8")).toMatch(/^<svg[\s\S]*Risk trajectory of ann/);
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

describe("attribution", () => {
	const at = ["--from", "2013-01-01", "--to", "2013-01-01"];

	test("is the change when an event is left out", async () => {
		const { risks } = await json(...ann("--code", "428", "--attribute", "2013-01-01", ...at));
		const [{ risk, events }] = risks[0].attribution;
		expect(risk).toBeCloseTo(risks[0].points[0].risk, 6);
		for (const number of [1, 2, 3]) {
			const { risks: edited } = await json(
				...ann("--code", "428", "--remove", String(number), ...at),
			);
			const { risk: base, whatIfRisk } = edited[0].points[0];
			expect(events[number - 1].effect).toBeCloseTo(base - whatIfRisk, 6);
		}
	});

	test("is listed by size of effect", async () => {
		const { stdout } = await captured(
			ann("--code", "428", "--attribute", "2013-01-01", "2009-01-01", ...at),
		);
		const [, listed = ""] = stdout.split("What drove the risk at 2013-01-01 (428");
		const rows = listed.split("\n").slice(3, 6);
		expect(rows.map((row) => Number(row.trim()[0])).sort()).toEqual([1, 2, 3]);
		const points = rows.map((row) =>
			Math.abs(Number(/([+-]?\d+\.\d+) +\d+\.\d+ %$/.exec(row)?.[1])),
		);
		expect(points).toEqual([...points].sort((a, b) => b - a));
		expect(stdout).toMatch(/What drove the risk at 2009-01-01 .*: no event lies before it\.\n/);
	});
});

describe("what if", () => {
	test("an event is added, removed or moved", async () => {
		const edits = ["--add", "401@2012-06-01", "--move", "3@-1y", "--remove", "2"];
		const asked = ["--code", "428", "--from", "2009-01-01", "--to", "+1y", "--step", "6m"];
		const { whatIf, risks } = await json(...ann(...asked, ...edits));
		expect(whatIf).toBe(
			"with Hypertension at 2012-06-01, without Congestive heart failure; nonhypertensive of 2011-07-01, Diabetes mellitus of 2012-05-06 moved to 2011-05-06",
		);
		const points: Point[] = risks[0].points;
		for (const { date, risk, whatIfRisk } of points)
			if (date < "2011-05-06") expect(whatIfRisk).toBeCloseTo(risk, 6);
		expect(points.at(-1)?.whatIfRisk).not.toBeCloseTo(points.at(-1)!.risk, 6);
		const { stdout } = await captured(ann(...asked, ...edits));
		expect(stdout).toMatch(/\nwhat if: with Hypertension/);
		expect(stdout).toMatch(/\ndate +age +risk +change +what if +difference\n/);
	});
});

describe("rejects, with exit code 2", () => {
	const cases: Record<string, readonly [args: () => string[], message: RegExp]> = {
		"no code": [() => ann(), /required option '--code <code...>' not specified/],
		"an unknown code, with near ones": [
			() => ann("--code", "heart"),
			/no code "heart"; near it are (411|428) .*(411|428) /,
		],
		"a time before birth": [
			() => ann("--code", "428", "--from", "1950-01-01"),
			/--from 1950-01-01 lies before the birth of patient ann/,
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
});
