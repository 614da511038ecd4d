import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { yearDays } from "../../base/time.js";
import { nodeRuntime } from "../../engine/runtime/node.js";
import { weightCount } from "../../model/index.js";
import { readTrained } from "../../model/train/index.js";
import { hazardModel, incidences } from "../../predict/index.js";
import { explainRisk } from "../../predict/reasons.js";
import { writeAnn } from "./testing/ann.js";
import { done, json, refusal } from "./testing/captured.js";
import { clinicRun } from "./testing/clinic-run.js";

let root: string;
let run: string;
let dataset: string;
let input: readonly string[];
const file = (name: string) => join(root, name);
beforeAll(async () => {
	({ root, run, dataset } = await clinicRun());
	input = await writeAnn(root, "2013-01-09,I10");
	await writeFile(file("two.csv"), "patient,date,icd10\na,2010-03-01,I10\nb,2010-03-01,I10\n");
});

const ann = (...more: string[]) => ["risk", run, ...input, "--why", ...more];
interface Effect {
	readonly code: string;
	readonly edit: string;
	readonly records: number;
	readonly effect: number;
}
async function why(...args: string[]) {
	const { patient, risks, warnings } = await json`${ann(...args)}`;
	const { codes = [], ...reasons } = risks[0].reasons;
	return { patient, warnings, risk: risks[0], reasons, codes: codes as readonly Effect[] };
}
const total = (effects: readonly Effect[]) => effects.reduce((sum, { effect }) => sum + effect, 0);

test("the effects are those of explainRisk, and add up to the risk", async () => {
	const { patient, reasons, risk, codes } = await why("--code", "411");
	const trained = readTrained(run);
	const tokenOf = (name: string) =>
		trained.vocabulary.tokens.findIndex(({ code }) => code === name);
	const events = patient.events as { code: string; day: number }[];
	const history = {
		tokens: [tokenOf("[FEMALE]"), ...events.map(({ code }) => tokenOf(code))],
		times: [patient.birth.day, ...events.map(({ day }) => day)],
	};
	expect(history.tokens).not.toContain(-1);
	const of = [tokenOf("411")];
	const day = history.times.at(-1) as number;
	const model = hazardModel(nodeRuntime({ threads: 1, purpose: "inference" }), trained);
	const expected = await explainRisk(
		async (histories) => {
			const days = histories.map(() => [day]);
			const found = await incidences(model, histories, [of], days, [5 * yearDays]);
			return found.map(([own]) => own?.probabilities[0] as number);
		},
		history,
		{ of, day, parameters: weightCount(trained.weights) },
	);
	await model.dispose();
	expect(reasons.horizonDays).toBe(5 * yearDays);
	expect(reasons.risk).toBeCloseTo(expected.risk, 9);
	expect(reasons.withoutRecords).toBeCloseTo(expected.start, 9);
	expect(expected.listed).toHaveLength(3);
	expect(codes.map(({ code, records }) => [tokenOf(code), records])).toEqual(
		expected.listed.map(({ parts: [token], records }) => [token, records]),
	);
	for (const [at, { effect }] of expected.listed.entries()) {
		expect(effect).not.toBe(0);
		expect(codes[at]?.effect).toBeCloseTo(effect, 9);
	}
	expect(reasons.others).toBeNull();
	expect(total(codes)).toBeCloseTo(reasons.change, 12);
	expect(reasons.change).toBe(reasons.risk - reasons.withoutRecords);
	// Another quantity: it comes from the rates of the training patients.
	expect(reasons.withoutRecords).not.toBeCloseTo(risk.sameAgeAndSex[1], 4);
	expect(reasons.risk).toBeCloseTo(risk.incidence[1].probability, 6);
});

test("text and JSON have the dates of the records up to the index day", async () => {
	const { reasons, codes } = await why("--code", "411");
	expect(codes.find(({ code }) => code === "401")).toMatchObject({
		records: 2,
		first: { date: "2010-03-01" },
		last: { date: "2013-01-09" },
	});
	const earlier = await why("--code", "411", "--at", "2012-01-01");
	expect(earlier.codes.map(({ code, records }) => [code, records]).sort()).toEqual([
		["401", 1],
		["428", 1],
	]);

	const { stdout } = await done`${ann()} --code 411`;
	const [, listed = ""] = stdout.split("\nWhy: what the records of each code add to the risk of ");
	const lines = listed.split("\n");
	expect(lines[0]).toMatch(
		/^a first record of 411 .* within 5 years after 2013-01-09, in percentage points$/,
	);
	expect(lines[2]).toMatch(/^first +last +recorded +points$/);
	expect(lines[3]).toMatch(/^ +the model without records, age and sex known +\d+\.\d+ %$/);
	expect(lines.slice(4, 7).find((line) => line.includes("401"))).toMatch(
		/^2010-03-01 {2}2013-01-09 {2}401 Hypertension ×2 +[+-]?\d+\.\d+$/,
	);
	expect(lines.slice(4, 7).find((line) => line.includes("428"))).toMatch(
		/^2011-07-01 {14}428 .* +[+-]?\d+\.\d+$/,
	);
	const value = (line = "") => Number(/([+-]?\d+\.\d+)(?: %)?$/.exec(line)?.[1]);
	expect(lines[7]).toMatch(/^ +change from all records +/);
	expect(lines[8]).toMatch(/^ +risk within 5 years +/);
	expect(value(lines[8])).toBeCloseTo(100 * reasons.risk, 1);
	const sum = lines.slice(4, 7).reduce((total, line) => total + value(line), 0);
	expect(sum).toBeCloseTo(value(lines[7]), 9);
	expect(value(lines[3]) + sum).toBeCloseTo(value(lines[8]), 9);
	expect(lines[10]).toBe(
		"Averaged over all orders of adding them. The rows show what moves the model's prediction, not what causes a disease.",
	);
});

test("the horizon is --horizon, the only one of --years, or 5 years", async () => {
	const daysWith = async (...args: string[]) => {
		const { reasons } = await why("--code", "411", ...args);
		return reasons.horizonDays / yearDays;
	};
	expect(await daysWith("--years", "1,3")).toBe(5);
	expect(await daysWith("--years", "1", "--horizon", "2y")).toBeCloseTo(2, 9);
	const { reasons, risk } = await why("--code", "411", "--years", "3");
	expect(reasons.horizonDays).toBe(3 * yearDays);
	expect(reasons.risk).toBeCloseTo(risk.incidence[0].probability, 6);
	const cut = await why("--code", "411", "--years", "30");
	expect(cut.reasons.horizonDays).toBe(3652);
	expect(cut.warnings).toEqual([expect.stringContaining("30 years are answered as 10 years")]);
});

test("a code's own records stay, and are named in the baseline", async () => {
	const { codes } = await why("--code", "428");
	expect(codes.map(({ code }) => code).sort()).toEqual(["250", "401"]);
	const { stdout } = await done`${ann()} --code 428`;
	expect(stdout).toContain("add to the risk of another record of 428 ");
	expect(stdout).toMatch(
		/\n +the model without records of other codes, age and sex known +\d+\.\d+ %\n/,
	);
	const unborn = await done`risk ${run} --input ${file("ann.csv")} --why --code 411`;
	expect(unborn.stdout).toMatch(/\n +the model without records, age and sex unknown +\d+\.\d+ %\n/);
});

test.each([
	["one edit", ["--add", "585@-1y"]],
	["edits", ["--remove", "2", "--add", "585@-1y", "--move", "1@2010-06-01"]],
])("%s: Why leads from the risk before to the risk of what-if", async (_, edits) => {
	const { reasons, risk } = await why("--code", "411", ...edits);
	const [before, after] = [risk.incidence[1].probability, risk.whatIfIncidence[1].probability];
	expect(Math.abs(after - before)).toBeGreaterThan(5e-5);
	expect(reasons.beforeEdits).toBeCloseTo(before, 6);
	expect(reasons.risk).toBeCloseTo(after, 6);
	expect(reasons.change).toBeCloseTo(after - before, 6);
	const names = (reasons.edits as Effect[]).map(({ edit }) => edit);
	expect(names).toHaveLength(edits.length / 2);
	expect(names).toContainEqual(expect.stringMatching(/^with .* at 2012-01-09$/));
	expect(total(reasons.edits)).toBeCloseTo(reasons.change, 12);
	const { stdout } = await done`${ann()} --code 411 ${edits}`;
	const [, listed = ""] = stdout.split("\nWhy: ");
	const lines = listed.split("\n");
	expect(lines[0]).toMatch(/^what each edit adds to the risk of a first record of 411 /);
	expect(lines[2]).toMatch(/^edit +points$/);
	expect(lines[3]).toMatch(/^before the edits +\d+\.\d+ %$/);
	expect(lines[4 + names.length]).toMatch(/^change from all edits +[+-]?\d+\.\d+$/);
	expect(lines[5 + names.length]).toMatch(/^risk within 5 years after the edits +\d+\.\d+ %$/);
});

test("of several runs, the first is explained", async () => {
	const other = file("other-run");
	await cp(run, other, { recursive: true });
	const { stderr, risks } = await json`risk ${run} ${other} ${ann().slice(2)} --code 411`;
	expect(stderr).toContain(`warning: reasons are of ${run} alone`);
	expect(risks[0].reasons).toMatchObject((await why("--code", "411")).reasons);
});

test.each([
	["", "give codes with --code"],
	["--code 411 428", "explains the risk of one code, and was given 2 codes; name one with --code"],
	[
		"--code 411 --add 411@-1y",
		"--why explains how edits change the risk of 411, and these edits make that of a first record one of another record; leave out --why, or the edits of 411",
	],
	[
		"--code 411 --group vascular=411,585",
		"--why explains the risk of one code, and was given --group; leave it out",
	],
])("refuses %j of one patient", async (asked, message) => {
	expect(await refusal`${ann()} ${asked.split(" ")}`).toContain(message);
});

test("refuses several patients", async () => {
	expect(await refusal`risk ${run} --input ${file("two.csv")} --code 428 --why`).toContain(
		"the input has 2 patients; name one with --patient, such as a, b",
	);
	const output = ["--output", file("no.csv"), "--why"];
	expect(await refusal`risk ${run} --input ${file("two.csv")} ${output}`).toContain(
		"--why has no effect on all patients of a file",
	);
	expect(await refusal`risk ${run} --data ${dataset} ${output}`).toContain(
		"--why has no effect on a whole dataset",
	);
});
