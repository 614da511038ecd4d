import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Finished, finished } from "../../../base/files/testing/finished.js";

export const main = fileURLToPath(new URL("../../../../dist/bin/trajgpt.js", import.meta.url));
export const imported = (name: string): string[] => [
	"--import",
	new URL(name, import.meta.url).href,
];

/** Options of Node for short processes: little garbage is copied. */
export const quick: readonly string[] = [
	...imported("quick-sessions.mjs"),
	"--max-semi-space-size=64",
];

/** When the process gets a signal: at a change to the disk, from 1, or when it says something. */
export type SignalAt = ({ readonly call: number } | { readonly saying: string }) & {
	readonly signal: "SIGKILL" | "SIGINT" | "SIGTERM";
};

/** Runs the built command line in a process of its own. */
export function runBuilt(argv: readonly string[], at?: SignalAt): Promise<Finished> {
	const hooks = [...quick, ...(at ? imported("signal-at.mjs") : [])];
	const child = spawn(process.execPath, [...hooks, main, ...argv], {
		stdio: ["ignore", "pipe", "pipe"],
		env: { ...process.env, ...(at && { SIGNAL_AT: JSON.stringify(at) }) },
	});
	return finished(child);
}
