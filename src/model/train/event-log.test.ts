import { spawnSync } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { temporaryFolder } from "../../data/records/testing/temporary-folder.js";
import { type LogEvent, openEventLog, readEventLog } from "./event-log.js";

let folder = "";
let file = "";
beforeEach(async () => {
	folder = await temporaryFolder();
	file = join(folder, "log.jsonl");
});

const text = () => readFileSync(file, "utf8");

function writeSteps(...steps: number[]) {
	const log = openEventLog(file);
	for (const step of steps) log.append({ step, loss: step / 2 });
	log.close();
}

const upTo =
	(last: number) =>
	({ step }: LogEvent) =>
		step <= last;

test("a line is in the file as soon as append returns", () => {
	const log = openEventLog(file);
	log.append({ step: 1, event: "train", loss: 2.5 });
	expect(text()).toBe('{"step":1,"event":"train","loss":2.5}\n');
	log.append({ step: 2, note: "two\nlines" });
	expect(readEventLog(file)).toEqual([
		{ step: 1, event: "train", loss: 2.5 },
		{ step: 2, note: "two\nlines" },
	]);
	log.close();
});

test("a loss that is not finite is spelled out", () => {
	const log = openEventLog(file);
	log.append({ step: 3, loss: Number.NaN, norm: [Number.POSITIVE_INFINITY] });
	log.close();
	expect(text()).toBe('{"step":3,"loss":"NaN","norm":["Infinity"]}\n');
});

test("resuming drops later steps and goes on from there", () => {
	writeSteps(1, 2, 3, 4);
	const log = openEventLog(file, { keep: upTo(2) });
	log.append({ step: 3, again: true });
	log.close();
	expect(text()).toBe('{"step":1,"loss":0.5}\n{"step":2,"loss":1}\n{"step":3,"again":true}\n');
	expect(readdirSync(folder)).toEqual(["log.jsonl"]);
});

test.each([
	["torn", '{"step":2,"lo', [1]],
	["torn inside a letter", Buffer.from('{"step":2,"name":"é').subarray(0, -1), [1]],
	["whole but for its end", '{"step":2,"loss":1}', [1, 2]],
])("a last line that is %s is read and mended", (_, tail, steps) => {
	writeSteps(1);
	appendFileSync(file, tail);
	expect(readEventLog(file).map(({ step }) => step)).toEqual(steps);
	const log = openEventLog(file, { keep: upTo(9) });
	log.append({ step: 10 });
	log.close();
	expect(readEventLog(file).map(({ step }) => step)).toEqual([...steps, 10]);
});

test("resuming removes what writers that are gone left beside it, and nothing else", () => {
	writeSteps(1);
	const gone = spawnSync(process.execPath, ["--version"]).pid;
	for (const name of [gone, process.ppid, "mine"].map((writer) => `log.jsonl.tmp-${writer}`))
		writeFileSync(join(folder, name), "half");
	openEventLog(file, { keep: upTo(1) }).close();
	const left = ["log.jsonl", `log.jsonl.tmp-${process.ppid}`, "log.jsonl.tmp-mine"];
	expect(readdirSync(folder).sort()).toEqual(left.sort());
});

test("resuming without a log starts one", () => {
	openEventLog(file, { keep: upTo(5) }).close();
	expect(readEventLog(file)).toEqual([]);
});

test("a new run does not write into the log of another", () => {
	writeSteps(1);
	expect(() => openEventLog(file)).toThrow(
		`will not write to ${file}: it holds the log of another`,
	);
	expect(text()).toBe('{"step":1,"loss":0.5}\n');
});

test("a damaged line is named and nothing is changed", () => {
	const damaged = '{"step":1}\nnot json\n{"step":2}\n';
	writeFileSync(file, damaged);
	expect(() => readEventLog(file)).toThrow(`cannot read ${file}: line 2 is not a JSON object`);
	expect(() => openEventLog(file, { keep: upTo(1) })).toThrow(InputError);
	expect(text()).toBe(damaged);
});

test("a missing folder is said", () => {
	const missing = join(folder, "no", "log.jsonl");
	expect(() => openEventLog(missing)).toThrow(/cannot write the log .*no such file or folder/);
	expect(() => readEventLog(missing)).toThrow(/cannot read the log .*no such file or folder/);
});
