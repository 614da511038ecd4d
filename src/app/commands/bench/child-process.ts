import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Format } from "../../../data/simulate/index.js";
import type { Io } from "../io.js";

/** Runs a program, and returns what it prints. Its messages are shown if `io` is given. */
export function output(
	program: string,
	args: readonly string[],
	io?: Io,
	env: Readonly<Record<string, string>> = {},
): Promise<string> {
	return new Promise((resolve, reject) => {
		const child = spawn(program, args, {
			stdio: ["ignore", "pipe", "pipe"],
			env: { ...process.env, ...env },
		});
		let [printed, lastErrors] = ["", ""];
		child.stdout.on("data", (text) => {
			printed += text;
		});
		child.stderr.on("data", (text) => {
			io?.stderr.write(String(text));
			lastErrors = (lastErrors + text).slice(-2000);
		});
		child.on("error", reject);
		child.on("close", (code) =>
			code === 0
				? resolve(printed)
				: reject(new Error(`${program} failed: ${lastErrors.trim().split("\n").at(-1)}`)),
		);
	});
}

/** Runs a command of trajgpt in another process, so that its memory does not count here. */
export function outputOfCommand(io: Io, argv: readonly string[]): Promise<string> {
	const main = fileURLToPath(new URL("../main.js", import.meta.url));
	return output(process.execPath, [main, ...argv], io);
}

export async function simulatePeople(
	io: Io,
	patients: number,
	format: Format,
	out: string,
): Promise<void> {
	io.stderr.write(`simulating ${patients} people\n`);
	const people = ["--patients", String(patients), "--format", format];
	await outputOfCommand(io, ["simulate", ...people, "--out", out]);
}
