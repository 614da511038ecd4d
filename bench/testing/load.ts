import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { Captured } from "../../src/app/commands/testing/captured.js";
import { quick } from "../../src/app/commands/testing/run-built.js";
import { type Finished, finished } from "../../src/base/files/testing/finished.js";

/** A module of `bench/`, whose types are not declared. */
export const load = (name: string) => import(new URL(`../${name}.mjs`, import.meta.url).href);

/** A module that is built. */
export const built = (path: string) =>
	import(new URL(`../../dist/${path}.js`, import.meta.url).href);

/** Runs a benchmark in this process and keeps what it writes. */
export async function measured(argv: readonly string[]): Promise<Captured> {
	const { program } = await load("main");
	const { run } = await built("app/commands/run");
	const written = { stdout: "", stderr: "" };
	const into = (stream: "stdout" | "stderr") => ({
		write: (text: string) => {
			written[stream] += text;
		},
	});
	const io = { stdout: into("stdout"), stderr: into("stderr"), env: {} };
	return { code: await run(argv, io, program), ...written };
}

/** Runs a benchmark in a process of its own. */
export function runBench(argv: readonly string[]): Promise<Finished> {
	const main = fileURLToPath(new URL("../main.mjs", import.meta.url));
	const child = spawn(process.execPath, [...quick, main, ...argv], {
		stdio: ["ignore", "pipe", "pipe"],
	});
	return finished(child);
}
