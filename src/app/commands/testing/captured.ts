import { type LazyCommand, trajgpt } from "../commands.js";
import { run } from "../run.js";

export interface Captured {
	readonly code: number;
	readonly stdout: string;
	readonly stderr: string;
}

/** Runs a command line in this process and keeps what it writes. */
export async function captured(
	argv: readonly string[],
	options: { env?: Record<string, string>; table?: readonly LazyCommand[] } = {},
): Promise<Captured> {
	const written = { stdout: "", stderr: "" };
	const into = (stream: "stdout" | "stderr") => ({
		write: (text: string) => {
			written[stream] += text;
		},
	});
	const io = { stdout: into("stdout"), stderr: into("stderr"), env: options.env ?? {} };
	const program = options.table ? { ...trajgpt, commands: options.table } : trajgpt;
	return { code: await run(argv, io, program), ...written };
}
