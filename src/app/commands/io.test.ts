import { Command } from "commander";
import { expect, test } from "vitest";
import { InputError } from "../../base/errors.js";
import { progress } from "../../base/progress.js";
import { type LazyCommand, trajgpt } from "./commands.js";
import { type Io, printJson } from "./io.js";
import { run } from "./run.js";
import { captured } from "./testing/captured.js";

const hostile = "a\u001b]0;title\u0007b\u001b[2J\u009b31mc\rd\u202ee\u2066f\u2028g\u007fh\u0000i";
const plain = "a�]0;title�b�[2J�31mc�d�e�f�g�h�i";

const table: LazyCommand[] = [
	{
		name: "say",
		summary: "for these tests",
		load: async () => ({
			command: (io: Io) =>
				new Command("say").argument("<how>").action((how: string) => {
					if (how === "text") io.stdout.write(`${hostile}\n\tend\n`);
					if (how === "json") printJson(io, { code: hostile });
					if (how === "note") io.stderr.write(`note: ${hostile}\n`);
					if (how === "refuse") throw new InputError(hostile);
					if (how === "fail") throw new Error(hostile);
				}),
		}),
	},
];
const say = (how: string) => captured(["say", how], { table });

test("no control characters are written in results, notes and errors", async () => {
	expect((await say("text")).stdout).toBe(`${plain}\n\tend\n`);
	expect((await say("note")).stderr).toBe(`note: ${plain}\n`);
	expect((await say("refuse")).stderr).toBe(`error: ${plain}\n`);
	expect((await say("fail")).stderr).toContain(`error: ${plain}\n`);
	expect((await say(hostile)).stderr).not.toMatch(/[^\P{Cc}\n\t]/u);
	expect((await captured([hostile], { table })).stderr).not.toMatch(/[^\P{Cc}\n\t]/u);
});

test("JSON preserves the original text", async () => {
	const { stdout } = await say("json");
	expect(stdout).not.toMatch(/[^\P{Cc}\n\t]|[\u202e\u2066\u2028]/u);
	expect(JSON.parse(stdout)).toEqual({ code: hostile });
});

test("a progress line is still rewritten in place", async () => {
	let written = "";
	const stderr = { write: (text: string) => (written += text), isTTY: true, columns: 80 };
	const commands: LazyCommand[] = [
		{
			name: "work",
			summary: "",
			load: async () => ({
				command: (io: Io) =>
					new Command("work").action(() => {
						const line = progress(io.stderr, { clock: () => 0 });
						line.update({ label: "step", done: 1, total: 2 });
						line.note(`note ${hostile}`);
						line.finish();
					}),
			}),
		},
	];
	await run(["work"], { stdout: { write() {} }, stderr, env: {} }, { ...trajgpt, commands });
	expect(written).toBe(`\rstep 1/2\u001b[K\r\u001b[Knote ${plain}\n\rstep 1/2\u001b[K\n`);
});
