import { availableParallelism } from "node:os";
import type { Command, Option } from "commander";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { Provider } from "../../engine/runtime/index.js";
import { machineMemory } from "../../engine/runtime/machine-limits.js";
import { openRuntime } from "../../engine/runtime/open-runtime.js";
import { models } from "../../model/index.js";
import { trainOptions } from "../../model/train/index.js";
import { finetuneOptions } from "../../model/train/options.js";
import { commands } from "./commands.js";
import { captured } from "./testing/captured.js";

const io = { stdout: { write() {} }, stderr: { write() {} }, env: {} };
const withChildren = (command: Command): Command[] => [
	command,
	...command.commands.flatMap((child) => withChildren(child as Command)),
];
const all = (await Promise.all(commands.map(({ load }) => load()))).flatMap(({ command }) =>
	withChildren(command(io)),
);

const huge = ["1000000000000000000", "1e18"];

/** What a parser says of a text: its value, or the message it refuses it with. */
function said(parse: (text: string, before: undefined) => unknown, text: string): unknown {
	try {
		return parse(text, undefined);
	} catch (error) {
		return (error as Error).message;
	}
}

const isNumber = ({ flags, parseArg }: Option) =>
	/<(n|days|size|port)>/.test(flags) ||
	["7", "7GB"].some((text) => parseArg && typeof said(parseArg, text) === "number");

describe("every number that a command takes has an upper bound", () => {
	const options = all.flatMap((command) =>
		command.options
			.filter(isNumber)
			.map(
				(option) =>
					[`${command.parent?.name() ?? ""} ${command.name()} ${option.long}`, option] as const,
			),
	);

	test("the check finds at least the known number of options", () => {
		expect(options.length).toBeGreaterThan(80);
	});

	test.each(options)("%s", (_, { parseArg }) => {
		expect(parseArg).toBeDefined();
		for (const text of huge)
			expect(said(parseArg as NonNullable<typeof parseArg>, text)).toMatch(
				/^Expected .* to [\d.e+]+(MB)?\b/,
			);
	});

	test.each(
		all.flatMap((command) =>
			command.registeredArguments.map((one) => [command.name(), one] as const),
		),
	)("argument of %s", (_, { parseArg }) => {
		if (!parseArg) return;
		for (const text of huge) expect(said(parseArg, text)).toMatch(/^Expected .* to \d+/);
	});
});

test.each<readonly [string, z.ZodType]>([
	["training", trainOptions],
	["fine-tuning", finetuneOptions],
	...models.map(({ id, config }) => [id, config] as const),
])("every number among the settings of %s has an upper bound", (_, schema) => {
	const { properties = {} } = z.toJSONSchema(schema, { io: "input" });
	const fields = Object.entries(properties) as [string, { type?: string; maximum?: number }][];
	for (const [name, { type, maximum }] of fields)
		if (type === "number" || type === "integer")
			expect(maximum, name).toBeLessThanOrEqual(Number.MAX_SAFE_INTEGER);
});

/** The parser of an option of a command. */
const parserOf = (name: string, flag: string) =>
	all.find((command) => command.name() === name)?.options.find(({ long }) => long === flag)
		?.parseArg as (text: string, before: undefined) => unknown;

describe("threads", () => {
	const threadCount = parserOf("evaluate", "--threads");
	const most = Math.max(16, 4 * availableParallelism());
	test("are bounded by the cores", () => {
		expect(said(threadCount, String(most))).toBe(most);
		for (const text of [String(most + 1), "100000", "0", "-1", "1.5", ""])
			expect(said(threadCount, text)).toBe(
				`Expected a whole number from 1 to ${most}: this machine has ${availableParallelism()} cores.`,
			);
	});
	test("beyond that are a usage error", async () => {
		const { code, stderr } = await captured(["evaluate", "run", "--threads", "100000"]);
		expect(code).toBe(2);
		expect(stderr).toContain(`Expected a whole number from 1 to ${most}`);
	});
});

test("memory is bounded by the machine's", () => {
	const byteSize = parserOf("prepare", "--memory");
	expect(said(byteSize, "64MB")).toBe(2 ** 26);
	const most = Math.floor(machineMemory() / 2 ** 20);
	for (const text of ["1TB", "9999999GB", "63MB", "-1GB"])
		expect(said(byteSize, text)).toBe(
			`Expected 64MB to ${most}MB, the memory of this machine, as in 512MB or 4GB.`,
		);
});

test("an unknown provider is bad usage that names the known ones, whatever the command", async () => {
	for (const [argv, names] of [
		[["pretrain", "no-such-dataset", "--out", "no-such-run"], "cpu, xla, auto"],
		[["compare", "no-such-dataset"], "cpu, xla, auto"],
	] as const) {
		const { code, stdout, stderr } = await captured([...argv, "--provider", "webgpu"]);
		expect(stderr).toContain(
			`'--provider <name>' argument 'webgpu' is invalid. Allowed choices are ${names}; xla computes on a GPU.`,
		);
		expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
	}
	await expect(openRuntime({ provider: "webgpu" as Provider }, "training")).rejects.toThrow(
		"`provider` webgpu: expected cpu or xla; xla computes on a GPU",
	);
});
