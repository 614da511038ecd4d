import { expect } from "vitest";
import { type LazyCommand, trajgpt } from "../commands.js";
import { run } from "../run.js";

export interface Captured {
	readonly code: number;
	readonly stdout: string;
	readonly stderr: string;
}

interface Options {
	readonly env?: Record<string, string>;
	readonly table?: readonly LazyCommand[];
	/** The signal that the process gets when it says something on standard error. */
	readonly signal?: { readonly saying: string; readonly signal: "SIGINT" | "SIGTERM" };
}

/** Runs a command line in this process and keeps what it writes. */
export async function captured(argv: readonly string[], options: Options = {}): Promise<Captured> {
	const written = { stdout: "", stderr: "" };
	const { env = {}, table, signal } = options;
	const into = (stream: "stdout" | "stderr") => ({
		write: (text: string) => {
			written[stream] += text;
			if (signal && stream === "stderr" && text.includes(signal.saying))
				process.emit(signal.signal);
		},
	});
	const program = table ? { ...trajgpt, commands: table } : trajgpt;
	const io = { stdout: into("stdout"), stderr: into("stderr"), env };
	// With few records, a second thread of DuckDB costs more than it saves.
	const isPrepare = argv[0] === "prepare" && !argv.includes("--threads");
	return {
		code: await run(isPrepare ? [...argv, "--threads", "1"] : argv, io, program),
		...written,
	};
}

type CommandLine = readonly [texts: readonly string[], ...values: readonly Word[]];
type Word = string | number | readonly string[];

/**
 * The words of a command line, as in words`risk ${run} --code 428 ${more}`: a value is one word, a list several. A list
 * of words stays as it is.
 */
export function words(...[texts, ...values]: CommandLine): string[] {
	if (!("raw" in texts)) return [...texts];
	const all = [""];
	for (const [i, text] of texts.entries())
		for (const [first = "", ...others] of [text.split(/\s+/), [values[i] ?? ""].flat()])
			all.push(`${all.pop()}${first}`, ...others.map(String));
	return all.filter((word) => word !== "");
}

/** Settings of a model that trains in a moment. */
export const smallModel = words`--preset tiny --set layers=1 --set heads=2 --set dim=8 --set key=8 --set value=8 --set ff=8`;

/** Runs a command line that must succeed. */
export async function done(...line: CommandLine): Promise<Captured> {
	const result = await captured(words(...line));
	expect(result.code, result.stderr).toBe(0);
	return result;
}

/** The same with --json: the document, and what is said on standard error. */
export async function json(...line: CommandLine) {
	const { code, stdout, stderr } = await captured([...words(...line), "--json"]);
	expect(code, stderr).toBe(0);
	return { ...JSON.parse(stdout), stderr };
}

/** Runs a command line that must be refused with exit code 2, and gives the message. */
export async function refusal(...line: CommandLine): Promise<string> {
	const { stderr, ...result } = await captured(words(...line));
	expect(result, stderr).toEqual({ code: 2, stdout: "" });
	return stderr;
}

/** The rows of a table in a text: one per line, its cells between bars. */
export const rowsIn = (table: string): string[][] =>
	table
		.trim()
		.split(/\n\s*/)
		.map((line) => line.split(/(?<=^|\s)\|(?=\s|$)/).map((cell) => cell.trim()));

/** One field of every row. */
export const column = <T>(rows: readonly T[], name: keyof T) => rows.map((row) => row[name]);
