import { expect, test } from "vitest";
import { z } from "zod";
import { InputError } from "../../base/errors.js";
import { ownPackage } from "../../base/files/versions.js";
import { commands, type LazyCommand } from "./commands.js";
import { defineCommand } from "./define-command.js";
import { flag, option, texts, whole } from "./fields.js";
import { Exit, printJson } from "./io.js";
import { captured } from "./testing/captured.js";

let loads = 0;
const failures: Record<string, Error> = {
	input: new InputError("times must not decrease: patient 17; sort by time"),
	bug: new Error("unforeseen"),
	interrupted: new Exit(130),
};

const table: LazyCommand[] = [
	{
		name: "sample",
		summary: "for these tests",
		load: async () => {
			loads++;
			return {
				command: defineCommand({
					name: "sample",
					description: "",
					arguments: { failure: z.string().optional() },
					options: {
						force: flag("force"),
						count: option("n", "a number", whole(0, 9).optional()),
						item: option("name...", "items", texts.optional()),
						label: option("name", "labels", texts.optional()),
					},
					run(io, { failure, ...options }) {
						const error = failure && failures[failure];
						if (error) throw error;
						printJson(io, options);
					},
				}),
			};
		},
	},
];

test("results go to stdout and the exit code is 0", async () => {
	const result = await captured(["sample", "--count", "3"], { table });
	expect(result).toEqual({ code: 0, stdout: '{\n  "count": 3\n}\n', stderr: "" });
});

test("options that take several values may be repeated", async () => {
	const argv = ["sample", "--label", "a", "--item", "b", "c", "--label", "d", "--item", "e"];
	expect(JSON.parse((await captured([...argv, "--force", "--force"], { table })).stdout)).toEqual({
		force: true,
		label: ["a", "d"],
		item: ["b", "c", "e"],
	});
});

test("bad input prints the message alone and exits with 2", async () => {
	const result = await captured(["sample", "input"], { table, env: { TRAJGPT_DEBUG: "1" } });
	expect(result).toEqual({
		code: 2,
		stdout: "",
		stderr: "error: times must not decrease: patient 17; sort by time\n",
	});
});

test("an unexpected error exits with 1 and prints the stack on request only", async () => {
	const plain = await captured(["sample", "bug"], { table });
	expect(plain.code).toBe(1);
	expect(plain.stderr).toMatch(/^error: unforeseen\nset TRAJGPT_DEBUG=1/);
	expect(plain.stderr).not.toContain("    at ");
	const debug = await captured(["sample", "bug"], { table, env: { TRAJGPT_DEBUG: "1" } });
	expect(debug.code).toBe(1);
	expect(debug.stderr).toContain("    at ");
});

test("a command may choose its exit code", async () => {
	expect(await captured(["sample", "interrupted"], { table })).toEqual({
		code: 130,
		stdout: "",
		stderr: "",
	});
});

test.each([
	[["sample", "--cuont", "3"], "(Did you mean --count?)"],
	[["sample", "--count", "many"], "Expected a whole number from 0 to 9."],
	[["sample", "a", "b"], "too many arguments"],
	[
		["sample", "--count", "3", "--count=4"],
		'error: --count is given twice, with "3" and "4"; expected one value: leave one out',
	],
	[["smaple"], "(Did you mean sample?)"],
	[[], "Usage: trajgpt"],
])("bad usage %j: said on stderr, code 2", async (argv, message) => {
	const result = await captured(argv, { table });
	expect(result.code).toBe(2);
	expect(result.stdout).toBe("");
	expect(result.stderr).toContain(message);
});

test("--help and --version go to stdout and load no command", async () => {
	loads = 0;
	const help = await captured(["--help"], { table });
	expect(help.code).toBe(0);
	expect(help.stdout).toMatch(/sample .*for these tests/);
	expect(help.stderr).toBe("");
	expect(await captured(["--version"], { table })).toEqual({
		code: 0,
		stdout: `${ownPackage.version}\n`,
		stderr: "",
	});
	expect(loads).toBe(0);
});

const shown = commands.filter(({ hidden }) => !hidden).map(({ name }) => name);

test("descriptions are wrapped to the terminal, whatever their lines in the source", async () => {
	const description = `${"one ".repeat(30).trim()}\nand two.\n\nTIME is late.\nCODE is short.`;
	const command = defineCommand({ name: "sample", description, run() {} });
	const lazy = { name: "sample", summary: "for these tests", load: async () => ({ command }) };
	const { stdout } = await captured(["sample", "--help"], { table: [lazy] });
	expect(stdout).toContain("one and two.\n\nTIME is late.\nCODE is short.\n");
});

test.each(shown)("%s --help ends in examples", async (name) => {
	const entry = commands.find((each) => each.name === name);
	const command = (await entry?.load())?.command({
		stdout: process.stdout,
		stderr: process.stderr,
		env: {},
	});
	expect(command?.name()).toBe(name);
	const leaves = command?.commands.length
		? command.commands.map((leaf) => leaf.name())
		: [undefined];
	for (const leaf of leaves) {
		const help = await captured([name, ...(leaf ? [leaf] : []), "--help"]);
		expect(help.code).toBe(0);
		expect(help.stdout).toMatch(new RegExp(`\nExamples:\n  trajgpt ${name}`));
	}
});

test("library options in messages are printed as flags", async () => {
	failures.library = new InputError("`count` is 0; pass `replace` or another `unknownOption`");
	expect((await captured(["sample", "library"], { table })).stderr).toBe(
		"error: --count is 0; pass --force or another `unknownOption`\n",
	);
});
