import type { ChildProcessByStdio } from "node:child_process";
import type { Readable } from "node:stream";

/** How a process ended, and what it wrote. */
export interface Finished {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** Waits for the end of a process. */
export function finished(child: ChildProcessByStdio<null, Readable, Readable>): Promise<Finished> {
	const written = { stdout: "", stderr: "" };
	for (const stream of ["stdout", "stderr"] as const)
		child[stream].on("data", (chunk) => {
			written[stream] += chunk;
		});
	return new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on("close", (code, signal) => resolve({ code, signal, ...written }));
	});
}
