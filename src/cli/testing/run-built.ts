import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../../../dist/bin/trajgpt.js", import.meta.url));
const hook = new URL("signal-at.mjs", import.meta.url).href;

export interface Finished {
	readonly code: number | null;
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
}

/** When the process gets a signal: at a change to the disk, from 1, or when it says something. */
export type SignalAt = ({ readonly call: number } | { readonly saying: string }) & {
	readonly signal: "SIGKILL" | "SIGINT" | "SIGTERM";
};

/** Runs the built command line in a process of its own. */
export function runBuilt(argv: readonly string[], at?: SignalAt): Promise<Finished> {
	const child = spawn(process.execPath, [...(at ? ["--import", hook] : []), main, ...argv], {
		stdio: ["ignore", "pipe", "pipe"],
		env: { ...process.env, ...(at && { SIGNAL_AT: JSON.stringify(at) }) },
	});
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
