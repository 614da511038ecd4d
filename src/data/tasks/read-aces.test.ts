import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../records/testing/temporary-folder.js";
import { checkOverlap, microsecondsOf } from "./definition.js";
import { parseAces, readAces } from "./read-aces.js";

const parse = (text: string, predicates?: string) =>
	parseAces(
		"task",
		{ file: "task.yaml", text },
		predicates === undefined ? undefined : { file: "predicates.yaml", text: predicates },
	);

test.each([
	["24h", 24 * 3600],
	["2 hours", 2 * 3600],
	["30 minutes", 1800],
	["365 days", 365 * 86_400],
	["1825d", 1825 * 86_400],
	["1 days 2 hours 3 minutes 4 seconds", 86_400 + 7384],
	["1 day, 14:20:16", 86_400 + 51_616],
	["1w3d", 10 * 86_400],
	["1.5h", 5400],
	["60", 60],
])("%s is %d seconds", (text, seconds) => {
	expect(microsecondsOf(text)).toBe(seconds * 1e6);
});

test.each(["", "1 year", "2 months", "-24h", "soon", "1h later"])("%j is no duration", (text) => {
	expect(microsecondsOf(text)).toBeUndefined();
});

const task = `
description: Readmission
metadata: {version: 1}
predicates:
  admission: {code: {regex: "ADMISSION//.*"}}
  discharge: {code: {any: [DISCHARGE//HOME, DISCHARGE//SNF]}}
  unused: {code: ???}
patient_demographics:
  male: {code: GENDER//M}
trigger: admission
windows:
  target:
    start: input.end
    end: start + 30 days
    start_inclusive: False
    end_inclusive: True
    label: admission
  input:
    start: trigger
    end: start -> discharge
    start_inclusive: False
    end_inclusive: True
    has:
      _ANY_EVENT: (1,)
    index_timestamp: end
`;

test("refuses a folder, and aliases that grow without bound", async () => {
	const folder = await temporaryFolder();
	await expect(readAces(folder)).rejects.toThrow("is a folder; expected a task file (YAML)");
	const file = join(folder, "bomb.yaml");
	const lines = Array.from({ length: 9 }, (_, at) => {
		const before = Array.from({ length: 10 }, () => `*a${at}`).join(", ");
		return `a${at + 1}: &a${at + 1} [${before}]\n`;
	});
	await writeFile(file, `a0: &a0 [x]\n${lines.join("")}`);
	await expect(readAces(file)).rejects.toThrow("its aliases (*name) cannot be resolved");
});

describe("a task file", () => {
	test("is read", () => {
		const read = parse(task);
		expect(read.windows.map(({ name }) => name)).toEqual(["input", "target"]);
		expect(read.moments).toEqual([
			{ name: "trigger", from: -1, step: { by: 0 } },
			{ name: "input.start", from: 0, step: { by: 0 } },
			{
				name: "input.end",
				from: 1,
				step: { to: "next", predicate: "discharge", inclusive: true },
			},
			{ name: "target.start", from: 2, step: { by: 0 } },
			{ name: "target.end", from: 3, step: { by: 30 * 86_400e6 } },
		]);
		expect([...read.predicates.keys()]).toEqual(["male", "admission", "discharge"]);
		expect(read.demographics).toEqual(["male"]);
		expect(read.windows[0]).toMatchObject({
			has: [{ predicate: "_ANY_EVENT", min: 1, max: null }],
			bounds: "(trigger, start -> discharge]",
		});
		expect([read.label?.window.name, read.index?.moment]).toEqual(["target", 2]);
	});

	test("takes predicates from another file", () => {
		const other = parse(
			task.replace("{any: [DISCHARGE//HOME, DISCHARGE//SNF]}", "???"),
			"predicates: {discharge: {code: OUT}}",
		);
		expect(other.predicates.get("discharge")).toMatchObject({ code: { equals: "OUT" } });
	});

	test("is named after its file", async () => {
		const file = join(await temporaryFolder(), "readmission.yaml");
		await writeFile(file, task);
		expect((await readAces(file)).name).toBe("readmission");
		await expect(readAces(`${file}.gone`)).rejects.toThrow(/cannot read .*gone: .*task file/);
	});

	/** A task with these predicates, whose trigger is the last of them. */
	const many = (predicates: readonly string[]) =>
		parse(
			`predicates:\n${predicates.map((given, i) => `  p${i}: {${given}}\n`).join("")}trigger: p${predicates.length - 1}`,
		);

	// With each key compared to all before it, this takes minutes.
	test("with 60,000 predicates is read", () => {
		const { trigger, predicates } = many(Array.from({ length: 60_000 }, (_, i) => `code: C${i}`));
		expect([trigger, [...predicates.keys()]]).toEqual(["p59999", ["p59999"]]);
	});

	test("may combine predicates 100 deep", () => {
		const chain = (depth: number) =>
			Array.from({ length: depth }, (_, i) =>
				i === 0 ? "code: C" : `expr: 'or(p${i - 1}, p${i - 1})'`,
			);
		expect(many(chain(101)).predicates.size).toBe(101);
		expect(() => many(chain(300))).toThrow(
			/predicates.p\d+ combines predicates that combine others, more than 100 deep$/,
		);
	});

	const trigger = "trigger: admission";
	const admission = '{code: {regex: "ADMISSION//.*"}}';
	const start = "start: trigger\n    end: start -> discharge";
	test.each([
		["windows:", "windows: [", /task.yaml: line \d+ is not YAML: /],
		[
			trigger,
			"trigger: admission\ntrigger: discharge",
			/task.yaml: line \d+ has the key "trigger" a second time in the same mapping; leave one out/,
		],
		[admission, "{code: A, code: B}", /task.yaml: line 5 has the key "code" a second time/],
		[trigger, "tigger: admission", /trigger: must name a predicate/],
		[
			trigger,
			"trigger: stay",
			/trigger names the predicate "stay", which is not defined; it defines admission, discharge, unused: add it/,
		],
		[
			trigger,
			"trigger: unused",
			/predicates.unused is a placeholder \(\?\?\?\): the code depends on the dataset/,
		],
		[admission, "{code: 12}", /predicates.admission.code: /],
		[
			admission,
			"{expr: not(discharge)}",
			/predicates.admission is "not\(discharge\)"; expected and\(…\) or or\(…\)/,
		],
		[admission, "{expr: 'or(admission, discharge)'}", /predicate "admission" is defined by itself/],
		[admission, "{expr: 'or(discharge, _ANY_EVENT)'}", /combines _ANY_EVENT/],
		[
			"start: input.end",
			"start: gap.end",
			/window target refers to "gap.end"; expected trigger, or the start or end of another window: target, input/,
		],
		[
			start,
			"start: target.end\n    end: start + 1h",
			/windows target, input refer to each other in a circle/,
		],
		[
			start,
			"start: trigger\n    end: trigger + 24h",
			/goes \(trigger, trigger \+ 24h\]; expected one bound that refers to the other/,
		],
		[start, "start: null\n    end: null", /window input has neither start nor end/],
		[start, "start: trigger\n    end: start - 2d", /expected a start that is not after the end/],
		[
			start,
			"start: end -> discharge\n    end: trigger",
			/expected a start that is not after the end/,
		],
		[start, "start: trigger\n    end: start + 1 month", /expected a time such as 24h/],
		[
			start,
			"start: trigger\n    end: now",
			/window input has end "now"; expected a moment and a step/,
		],
		["(1,)", "(1)", /has _ANY_EVENT: \(1\); expected how often it may occur/],
		["(1,)", "(3, 2)", /has _ANY_EVENT: \(3, 2\); expected how often it may occur/],
		["index_timestamp: end", "index_timestamp: middle", /windows.input.index_timestamp: /],
		[
			"index_timestamp: end",
			"label: discharge",
			/windows input and target have a label; expected at most one/,
		],
		[
			"start_inclusive: False",
			"start_inclusive: maybe",
			/windows.target.start_inclusive: must be true or false/,
		],
	])("with %j replaced by %j is refused", (from, to, message) => {
		expect(() => parse(task.replace(from, to))).toThrow(message);
	});
});

describe("input and target", () => {
	const windows = (input: string, target: string) =>
		parse(`
predicates: {A: {code: A}, B: {code: B}}
trigger: A
windows:
  input: {${input}, index_timestamp: end}
  target: {${target}, label: B}`);
	const included = "start_inclusive: true, end_inclusive: true";
	const open = "start_inclusive: false, end_inclusive: true";

	test.each([
		["trigger + 48h", `start: trigger + 24h, end: start + 7 days, ${open}`],
		["trigger", `start: trigger, end: start -> B, ${included}`],
		["trigger", `start: end - 7 days, end: trigger, ${open}`],
		["trigger", `start: null, end: trigger, ${open}`],
		["trigger", `start: trigger <- B, end: start + 1h, ${included}`],
	])("input to %s and target {%s} overlap", (end, target) => {
		const read = windows(`start: null, end: ${end}, ${included}`, target);
		expect(() => checkOverlap(read)).toThrow(
			/^task task: the prediction time, input.end of input \[start of record, trigger.*\], is not before the target target [([].*[\])]: events at the prediction time are part of the input; let the target start after the input/,
		);
	});

	test.each([
		["trigger + 24h", `start: trigger + 48h, end: start -> B, ${open}`],
		["trigger", `start: trigger, end: start -> B, ${open}`],
		["trigger", `start: trigger -> B, end: start + 1h, ${included}`],
		["trigger + 24h", `start: trigger -> B, end: start + 1h, ${included}`],
	])("input to %s and target {%s} need not overlap", (end, target) => {
		expect(() =>
			checkOverlap(windows(`start: null, end: ${end}, ${included}`, target)),
		).not.toThrow();
	});

	test("a window called input must end before the target, wherever the prediction is made", () => {
		const read = parse(`
predicates: {A: {code: A}, B: {code: B}}
trigger: A
windows:
  input: {start: trigger, end: start + 48h, ${included}}
  target: {start: trigger + 24h, end: start + 24h, ${open}, label: B}
  day: {start: trigger, end: start + 24h, ${included}, index_timestamp: end}`);
		expect(() => checkOverlap(read)).toThrow(
			"task task: the input input [trigger, start + 48h] overlaps the target target (trigger + 24h, start + 24h]; let the target start after the input",
		);
	});
});
