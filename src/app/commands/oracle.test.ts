import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { column, done, json, refusal, words } from "./testing/captured.js";

const folder = mkdtempSync(join(tmpdir(), "trajgpt-oracle-"));
const sim = join(folder, "sim");
afterAll(() => rmSync(folder, { recursive: true }));
beforeAll(async () => {
	await done`simulate --patients 60 --out ${sim}`;
});

const ask = (what: "next" | "risk", patient: string, at: string) => [
	...words`oracle ${what} ${sim} --patient ${patient} --at ${at}`,
	...(what === "risk" ? words`--code 428 --samples 4` : []),
];

describe("the examples of the help work, with simulate's default seed", () => {
	test.each(["simulate", "oracle", "oracle next", "oracle risk"])("%s", async (page) => {
		const { stdout } = await done`${page.split(" ")} --help`;
		const shown = [...stdout.matchAll(/^ {2}trajgpt (oracle (?:next|risk) .*?)(?: {2}|$)/gm)];
		expect(shown.length).toBeGreaterThan(0);
		for (const [, line] of shown) {
			const argv = (line as string).split(" ").map((word) => (word === "sim" ? sim : word));
			const answer = await done(argv);
			expect(answer.stderr).toBe("");
			expect(answer.stdout).toMatch(
				/^p000060(: 59 records before|, code 428, .* after) 2012-06-01/,
			);
		}
	});

	test("help states which records are known", async () => {
		const help = async (what: string) => (await done`oracle ${what} --help`).stdout;
		expect(await help("next")).toContain("records before that day are known");
		expect(await help("risk")).toContain("records up to that day are known");
	});
});

describe("next", () => {
	test("is a distribution over all codes, from the records before the day", async () => {
		const answer = await json(ask("next", "p000060", "2012-06-01"));
		expect(answer).toMatchObject({ patient: "p000060", at: "2012-06-01", known: 59 });
		const probabilities = column<{ probability: number }>(answer.codes, "probability");
		expect(probabilities.reduce((sum, probability) => sum + probability)).toBeCloseTo(1, 9);
	});
});

describe("risk", () => {
	test("grows with time, and is defined on the first and last day of the policies", async () => {
		for (const at of ["2009-06-13", "2012-06-01", "2015-07-10"]) {
			const { points } = await json(ask("risk", "p000060", at));
			const risks = column<{ risk: number }>(points, "risk");
			expect(risks).toHaveLength(4);
			expect(risks.toSorted((a, b) => a - b)).toEqual(risks);
		}
	});

	test("is defined while a policy has lapsed", async () => {
		await done(ask("risk", "p000001", "2013-01-01"));
		expect(await refusal(ask("next", "p000001", "2013-01-01"))).toBe(
			"error: p000001 is not insured on 2013-01-01: the policy had lapsed, so nothing is recorded then; choose another --at\n",
		);
	});
});

describe.each(["next", "risk"] as const)("%s is rejected", (what) => {
	test.each([
		["p000028", "2014-10-09", "p000028 died on 2014-10-09, --at is"],
		["p000028", "2014-10-10", "2014-10-10; choose a day before that"],
		["p000028", "2019-12-31", "2019-12-31; choose a day before that"],
		[
			"p000060",
			"2009-06-12",
			"p000060 is insured from 2009-06-13 to 2015-07-10, --at is 2009-06-12",
		],
		["p000060", "2015-07-11", "--at is 2015-07-11; choose a day in that period"],
		["p000061", "2012-06-01", 'has no patient "p000061"; expected p000001 to p000060'],
	])("of %s on %s", async (patient, at, message) => {
		expect(await refusal(ask(what, patient, at))).toContain(message);
	});

	test("but not on the day before death", async () => {
		await done(ask(what, "p000028", "2014-10-08"));
	});
});

test("check reports that there are too few people", async () => {
	const { stdout } = await done`oracle check ${sim} --patients 10`;
	expect(stdout).toMatch(
		/^40 records of 10 people; .*\n\nforecast +nats\nreference model +\d\.\d{3}\n/,
	);
	expect(stdout).toContain("in 0 cells");
	expect(stdout).toContain("too few people to tell whether the risks are calibrated");
	expect(stdout).not.toContain("NaN");
});
