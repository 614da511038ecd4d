// The built command line as a process that can be killed, what counts as misbehaving, and what it leaves in folders.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const main = join(root, "dist", "bin", "trajgpt.js");

const running = new Set();
process.on("exit", () => {
	for (const child of running) endGroup(child);
});

/** Starts Node in its own process group, so that its children can be ended with it. */
export function startNode(argv) {
	const child = spawn(process.execPath, argv, {
		cwd: root,
		detached: true,
		stdio: ["ignore", "pipe", "pipe"],
	});
	running.add(child);
	child.on("exit", () => running.delete(child));
	return child;
}

export const start = (argv) => startNode([main, ...argv]);

export function endGroup(child) {
	try {
		process.kill(-child.pid, "SIGKILL");
	} catch {
		// It has ended already.
	}
}

/** Runs a child to its end, or kills it. */
export async function finish(child, options = {}) {
	const { killAfterMs, childrenToo = true, patienceMs = 240_000 } = options;
	const started = performance.now();
	const written = { stdout: "", stderr: "" };
	for (const stream of ["stdout", "stderr"])
		child[stream].on("data", (chunk) => {
			written[stream] += chunk;
		});
	let [killed, hung] = [false, false];
	const killing =
		killAfterMs === undefined
			? undefined
			: setTimeout(() => {
					killed = true;
					if (childrenToo) endGroup(child);
					else child.kill("SIGKILL");
				}, killAfterMs);
	const waiting = setTimeout(() => {
		hung = true;
		endGroup(child);
	}, patienceMs);
	// "exit", not "close": children that outlive a killed parent keep its pipes open.
	const [code, signal] = await new Promise((resolve, reject) => {
		child.on("error", reject);
		child.on(killAfterMs === undefined ? "close" : "exit", (...how) => resolve(how));
	});
	clearTimeout(killing);
	clearTimeout(waiting);
	const seconds = (performance.now() - started) / 1000;
	return { code, signal, ...written, seconds, killed: killed && signal === "SIGKILL", hung };
}

export const run = (argv, options) => finish(start(argv), options);

/** Why a process misbehaved. A refusal is exit 2 with a message, and no stack trace. */
export function faultOf({ code, signal, stderr, seconds, hung }) {
	const last = stderr.trim().split("\n").slice(-3).join(" | ").slice(0, 400);
	if (hung) return `hung: ended after ${seconds.toFixed(0)} s`;
	if (signal) return `died of ${signal}: ${last}`;
	if (/\n\s+at \S.*:\d+:\d+/.test(stderr)) return `printed a stack trace: ${last}`;
	if (code === 0) return undefined;
	// `compare` continues after a failed cell, names the reason, and exits with 1.
	if (code === 1 && /: failed: cannot write /.test(stderr)) return undefined;
	if (code !== 2) return `exit ${code}: ${last}`;
	return /^error: ./m.test(stderr) ? undefined : `exit 2 without a message: ${last}`;
}

export const filesIn = (folder) =>
	readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile())
		.sort();

const hashOf = (file) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** SHA-256 by relative path. */
export const hashesIn = (folder) =>
	new Map(filesIn(folder).map((name) => [name, hashOf(join(folder, name))]));
