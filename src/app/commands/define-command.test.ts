import { expect, test } from "vitest";
import { defineCommand, withFlags } from "./define-command.js";
import { offFlag, option, whole } from "./fields.js";
import type { Io } from "./io.js";

const count = whole(1, 9).optional();
const command = defineCommand({
	name: "evaluate",
	description: "",
	options: {
		patients: option("n|all", "", count),
		regressionPatients: count,
		lookBack: option("days", "", count),
		explorer: offFlag("off"),
	},
	flags: { lookBackDays: "--look-back" },
	run() {},
})({} as Io);

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
