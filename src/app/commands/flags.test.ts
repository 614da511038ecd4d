import { Command } from "commander";
import { expect, test } from "vitest";
import { nameFlags, withFlags } from "./flags.js";

const command = new Command("evaluate")
	.option("--patients <n|all>", "")
	.option("--regression-patients <n>", "")
	.option("--look-back <days>", "")
	.option("--no-explorer", "");
nameFlags(command, { lookBackDays: "--look-back" });

test("options become flags, with their values", () => {
	expect(
		withFlags(
			'`patients: "all"` evaluates all; set `regressionPatients`, `lookBackDays`, `explorer: false`',
			command,
		),
	).toBe("--patients all evaluates all; set --regression-patients, --look-back, --no-explorer");
});

test("leaves names alone that are not options of the command", () => {
	const text = 'run `trajgpt describe`, with `shots: "5"` or `top`';
	expect(withFlags(text, command)).toBe(text);
	expect(withFlags("`patients`", undefined)).toBe("`patients`");
});
